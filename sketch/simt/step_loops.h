// The loops of a sum over its terms: steps of the longest reduce axis, and in a
// step slices, each of which has threads of its own. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_SIMT_STEP_LOOPS_H_
#define TILEWRIGHT_SKETCH_SIMT_STEP_LOOPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sketch/replay/growing_trace.h"
#include "sketch/simt/term_loops.h"
#include "sketch/simt/thread_nest.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

// Whether threads may each sum some of its terms.
bool TermsCanBeShared(const Block& block);

struct StepLoops {
  // Who sums the terms: the block itself, or of several slices a block before
  // it, whose partial sums lie in scratch, a slice after the other.
  std::string block;
  Handle step;                  // the loop over steps
  std::vector<TermLoop> terms;  // of a step or of a slice of it
  // The axis over the slices, of both blocks; empty: one slice.
  std::string slice_axis;
};

// Cuts the reduce loops of the block `name`. `step`: terms of the longest axis;
// 0: all. REQUIRES: of several slices, that these divide the step, the step the
// terms, and that TermsCanBeShared.
StepLoops CutSteps(GrowingTrace& trace, const std::string& name, int64_t step,
                   int64_t slices);

// Threads of partial sums: whole slices beside each other.
ThreadDivision InSlices(ThreadDivision division, const std::string& axis,
                        int64_t slices);

// The sum of all slices, each element by one thread.
void WriteSumOfSlices(ScheduleWriter& writer, const std::string& name,
                      const ThreadDivision& division, const std::string& axis);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_STEP_LOOPS_H_
