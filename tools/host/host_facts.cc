#include "tools/host/host_facts.h"

namespace tilewright::tools {

double HostFacts::CostNs(const std::string& name) const {
  for (const Cost& cost : costs) {
    if (cost.name == name) return cost.ns;
  }
  return 0;
}

void AppendHostFacts(const HostFacts& facts, Json& json) {
  json.Open('{').Key("command").Text(facts.command);
  json.Key("date").Text(facts.date);
  json.Key("instructions").Text(facts.instructions);
  json.Key("threads").Int(facts.threads);
  json.Key("peaks").Open('[');
  for (const HostFacts::Peak& peak : facts.peaks) {
    json.Open('{').Key("dtype").Text(peak.dtype);
    json.Key("instructions").Text(peak.instructions);
    json.Key("threads").Int(peak.threads);
    json.Key("ops_per_s").Number(peak.ops_per_s).Close('}');
  }
  json.Close(']').Key("bandwidths").Open('[');
  for (const HostFacts::Bandwidth& point : facts.bandwidths) {
    json.Open('{').Key("loop").Text(point.loop);
    json.Key("threads").Int(point.threads);
    json.Key("bytes").Int(point.bytes);
    json.Key("bytes_per_s").Number(point.bytes_per_s).Close('}');
  }
  json.Close(']').Key("latencies").Open('[');
  for (const HostFacts::Latency& point : facts.latencies) {
    json.Open('{').Key("bytes").Int(point.bytes);
    json.Key("ns").Number(point.ns).Close('}');
  }
  json.Close(']').Key("retentions").Open('[');
  for (const HostFacts::Retention& point : facts.retentions) {
    json.Open('{').Key("wait_ns").Number(point.wait_ns);
    json.Key("kept").Number(point.kept).Close('}');
  }
  json.Close(']').Key("costs").Open('[');
  for (const HostFacts::Cost& cost : facts.costs) {
    json.Open('{').Key("name").Text(cost.name);
    json.Key("what").Text(cost.what);
    json.Key("ns").Number(cost.ns).Close('}');
  }
  json.Close(']').Key("variations").Open('[');
  for (const HostFacts::Variation& curve : facts.variations) {
    json.Open('{').Key("kernel").Text(curve.kernel);
    json.Key("clock").Text(curve.clock).Key("repeats").Open('[');
    for (const int repeats : curve.repeats) json.Int(repeats);
    json.Close(']').Key("cv").Open('[');
    for (const double cv : curve.cv) json.Number(cv);
    json.Close(']').Close('}');
  }
  json.Close(']').Key("interferences").Open('[');
  for (const HostFacts::Interference& point : facts.interferences) {
    json.Open('{').Key("kernel").Text(point.kernel);
    json.Key("degree").Int(point.degree);
    json.Key("cpu_slowdown").Number(point.cpu_slowdown);
    json.Key("wall_slowdown").Number(point.wall_slowdown).Close('}');
  }
  json.Close(']').Close('}');
}

}  // namespace tilewright::tools
