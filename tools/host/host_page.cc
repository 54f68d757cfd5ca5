#include "tools/host/host_page.h"

#include "tools/host/page_template.h"
#include "tools/page/fill_page.h"
#include "tools/page/json.h"

namespace tilewright::tools {
namespace {

void AppendLevels(const DeviceSpec& spec, Json& json) {
  json.Open('[');
  for (const MemoryLevel& level : spec.levels()) {
    if (level.kind() != MemoryLevel::CACHE &&
        level.kind() != MemoryLevel::MEMORY) {
      continue;
    }
    json.Open('{').Key("name").Text(level.name());
    json.Key("memory").Bool(level.kind() == MemoryLevel::MEMORY);
    json.Key("capacity_bytes").Int(level.capacity_bytes());
    json.Key("instances").Int(level.instances());
    json.Key("cores_sharing").Int(level.cores_sharing());
    json.Key("read").Number(level.read_bytes_per_s());
    json.Key("write").Number(level.write_bytes_per_s());
    json.Key("aggregate_read").Number(level.aggregate_read_bytes_per_s());
    json.Key("aggregate_write").Number(level.aggregate_write_bytes_per_s());
    json.Key("latency_ns").Number(level.latency_ns()).Close('}');
  }
  json.Close(']');
}

}  // namespace

std::string HostPage(const HostFacts& facts, const DeviceSpec& spec,
                     absl::string_view producer) {
  Json json;
  json.Open('{').Key("producer").Text(producer);
  json.Key("target").Text(spec.target());
  json.Key("cores").Int(spec.unit().cores());
  json.Key("levels");
  AppendLevels(spec, json);
  json.Key("facts");
  AppendHostFacts(facts, json);
  json.Close('}');
  return FillPage(kPage, json.text());
}

}  // namespace tilewright::tools
