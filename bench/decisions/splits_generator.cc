#include "bench/decisions/splits_generator.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/space.h"

namespace tilewright::bench {

sketch::Workload SplitsWorkload() {
  return *sketch::ParseWorkload(R"(X: f32[64] = placeholder
Y: f32[64] = compute (i: 64) { X[i] + 1 }
return Y
)");
}

sketch::Generator SplitsGenerator(int64_t most_parts) {
  const auto write = [most_parts](
                         const sketch::Workload&, const DeviceSpec&,
                         Decider& decider) -> absl::StatusOr<sketch::Schedule> {
    const int64_t parts = decider.DecideNumber(
        "parts", Space::Integers(1, most_parts), [] { return 1; });
    decider.DecideWhether("useless", [] { return false; });
    if (64 % parts != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(parts, " parts leave a tail"));
    }
    sketch::ScheduleWriter writer;
    writer.GroupTile({writer.Block("Y")}, {{parts, 64 / parts}});
    return std::move(writer).Finish();
  };
  return {"splits", write};
}

}  // namespace tilewright::bench
