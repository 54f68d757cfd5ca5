// A schedule under construction: instructions are tried, those that replay
// stay.
#ifndef TILEWRIGHT_SKETCH_TESTING_GROWING_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_TESTING_GROWING_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sketch/replay/replayer.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

class GrowingSchedule {
 public:
  // No instruction may multiply the evaluations of bodies in one run, as they
  // are now, to more than `work_floor + work_factor` times them.
  GrowingSchedule(Replayer replayer, int64_t work_floor, int64_t work_factor);

  enum class Must {
    kReplay,
    kFinish,  // and what there is then must be a whole schedule
  };
  // Whether the instruction is in; it has `results` results.
  bool Try(Primitive primitive, std::vector<Handle> operands,
           std::vector<Factors> factors, std::string text, size_t results = 0,
           Must must = Must::kReplay);
  // Results of the last instruction that was taken.
  const std::vector<Handle>& last_results() const { return last_results_; }

  BlockTree& tree() { return replayer_.tree(); }
  std::vector<std::string> BlockNames();
  // The blocks that load what block `name` writes.
  std::vector<std::string> ReadersOf(const std::string& name);

  // Returns the handle of a block, and names the block if it has none. None if
  // it is gone.
  std::optional<Handle> HandleOf(const std::string& block);
  const std::string& BlockOf(Handle handle) const {
    return replayer_.handles()[handle].block;
  }
  // Loops around the block that have handles, outermost first; names those of
  // its own axes that have none.
  std::vector<Handle> LoopsOf(const std::string& block);
  std::optional<Handle> LoopHandle(int var) const;
  // Null if the loop is gone.
  const Loop* LoopOf(Handle handle);

  // The schedule, or why the tree that it makes is not whole.
  absl::StatusOr<Schedule> Finish() &&;

 private:
  Replayer replayer_;
  Schedule schedule_;
  const int64_t max_work_;
  std::vector<Handle> last_results_;
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_GROWING_SCHEDULE_H_
