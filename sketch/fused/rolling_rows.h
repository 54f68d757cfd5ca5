// Row groups between two products of a fused group, such as the softmax of
// attention, when the second product takes its steps in blocks: what the rows'
// reductions are so far is kept from block to block, and the sums of the
// product follow them (rolling_update). So no more than a block of a row is
// ever held. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_FUSED_ROLLING_ROWS_H_
#define TILEWRIGHT_SKETCH_FUSED_ROLLING_ROWS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sketch/replay/replayer.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/stage_plan.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/decider.h"

namespace tilewright::sketch {

struct RollingRows {
  // A compute that is written.
  struct Part {
    enum class Kind : uint8_t {
      kReduction,  // of a row
      kRow,        // a value per row
      kElements,   // a value per element of a row
    };
    TensorId tensor;
    Kind kind;
    int row_axis;  // the innermost axis over rows
  };

  size_t stage;          // the row group
  size_t product_stage;  // that of the product
  TensorId product;
  std::vector<TensorId> inlined;  // maps, ascending
  std::vector<Part> parts;        // ascending
  bool factored = false;          // the product has factors per row
};

// From the last stage on, the first product that takes its steps in blocks and
// has a factor which is the output of a row group whose reductions all run over
// the product's steps, and which does not leave the group; nullopt if there is
// none.
std::optional<RollingRows> FindRollingRows(const Workload& workload,
                                           const StagePlan& plan);

// The stage of the product, `part` (stage_workload.h), as it is once what
// `rows` has inlined is inlined, and factors per row are taken out of the sum.
Workload RollingPart(const Workload& workload, const Workload& part,
                     const RollingRows& rows);

// The instructions that make the stage's blocks so; before the product's block
// is named.
void WriteRollingInlines(const Workload& workload, const RollingRows& rows,
                         ScheduleWriter& writer);

// Writes the row group: into `blocks`, the product's loop over `split`, and for
// what is known in the end, into `inside`. `replayer` replays what is written
// when asked to.
//
//   row.vectors      vectors of rows that are computed together, of values that
//                    are one per row
//   element.vectors  the same of elements of a row
//   partial          rows whose blocks are reduced together, and vectors of
//                    partial results of each
struct RollingLocation {
  ScheduleWriter& writer;
  Decider& decider;
  Replayer& replayer;
  std::function<absl::Status()> catch_up;
  Handle inside;
  Handle blocks;
  Factors split;
  int64_t lanes;
};
absl::Status WriteRollingRows(const Workload& workload, const RollingRows& rows,
                              const RollingLocation& location);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_FUSED_ROLLING_ROWS_H_
