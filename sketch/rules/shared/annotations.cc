#include "sketch/rules/shared/annotations.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/spec/caches.h"
#include "base/memory_units.h"
#include "tilegraph/decision/space.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kMostSteps = 16;

// The option taken. "auto" is the first.
std::string DecideOption(Decider& decider, const char* name,
                         std::vector<std::string> options,
                         int64_t preferred = 0) {
  const int64_t option = decider.DecideNumber(name, Space::OneOf(options),
                                              [=] { return preferred; });
  return options[option];
}

void AnnotatePrefetch(ScheduleWriter& writer, Handle loop,
                      const std::string& prefetch) {
  if (prefetch == "auto") return;
  writer.Annotate(
      loop, absl::StrCat("prefetch=", prefetch == "none" ? "0" : prefetch));
}

}  // namespace

bool IsFar(const Tensor& input, const DeviceSpec& spec) {
  return input.kind == TensorKind::kPlaceholder &&
         input.num_bytes() > PrivateCacheBytes(spec);
}

void DecideReduceAnnotations(Decider& decider, ScheduleWriter& writer,
                             Handle loop, std::optional<Handle> tiles,
                             const std::string& prefetch) {
  DecideUnroll(decider, writer, loop);
  std::vector<std::string> options = {"auto", "none", "1", "2", "4", "8", "16"};
  if (tiles) options.push_back("tile");
  const auto rule = std::find(options.begin(), options.end(), prefetch);
  const std::string taken =
      DecideOption(decider, "prefetch", options,
                   rule == options.end() ? 0 : rule - options.begin());
  if (taken == "tile") {
    writer.Annotate(*tiles, "prefetch=1");
  } else {
    AnnotatePrefetch(writer, loop, taken);
  }
}

std::string PrefetchOfAPage(int64_t step_bytes) {
  int64_t steps = 1;
  while (steps < kMostSteps && steps * step_bytes < kPageBytes) steps *= 2;
  return absl::StrCat(steps);
}

void DecideRunPrefetch(Decider& decider, ScheduleWriter& writer, Handle loop,
                       bool far) {
  const std::vector<std::string> options = {"auto", "none", "16",
                                            "32",   "64",   "128"};
  AnnotatePrefetch(writer, loop,
                   DecideOption(decider, "prefetch", options, far ? 3 : 0));
}

void DecideUnroll(Decider& decider, ScheduleWriter& writer, Handle loop) {
  const std::string unroll =
      DecideOption(decider, "unroll", {"auto", "1", "2", "4", "8"});
  if (unroll != "auto") writer.Annotate(loop, absl::StrCat("unroll=", unroll));
}

bool FillsCaches(const TensorGraph& graph, TensorId output,
                 const DeviceSpec& spec) {
  int64_t all_bytes = graph.tensor(output).num_bytes();
  const int64_t cache_bytes = SharedCacheBytes(spec);
  if (cache_bytes == 0 || 2 * all_bytes < cache_bytes) return false;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kPlaceholder)
      all_bytes += tensor.num_bytes();
  }
  return all_bytes >= cache_bytes;
}

bool DecideStreaming(Decider& decider, ScheduleWriter& writer,
                     const TensorGraph& graph,
                     absl::Span<const TensorId> outputs, const DeviceSpec& spec,
                     bool far) {
  int64_t output_bytes = 0;
  for (const TensorId output : outputs) {
    const Tensor& tensor = graph.tensor(output);
    output_bytes += tensor.num_bytes();
  }
  if (output_bytes <= FirstCacheBytes(spec)) return false;
  const std::string stream =
      DecideOption(decider, "stream", {"auto", "no", "yes"}, far ? 2 : 0);
  if (stream == "auto") return false;
  for (const TensorId output : outputs) {
    writer.Annotate(writer.Block(graph.tensor(output).name),
                    absl::StrCat("stream=", stream));
  }
  return stream == "yes";
}

}  // namespace tilewright::sketch
