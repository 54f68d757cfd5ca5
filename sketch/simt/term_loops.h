// The loops of a sum over the terms of a step. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_SIMT_TERM_LOOPS_H_
#define TILEWRIGHT_SKETCH_SIMT_TERM_LOOPS_H_

#include <cstdint>
#include <vector>

#include "sketch/simt/thread_nest.h"
#include "sketch/trace/schedule.h"

namespace tilewright::sketch {

struct TermLoop {
  Handle loop;
  int64_t extent;
  int axis;  // ordinal in the block: behind the spatial ones
};

struct TermLoops {
  std::vector<Handle> order;  // outermost first
  int innermost = -1;         // axis of several terms; -1: none
  int64_t in_a_row = 1;       // terms along it that are written out
};

// How many terms in a row are preferred: what a thread loads for them fills
// vectors, and their multiply-adds hide what the loop around them takes.
int64_t PreferredTerms(const ThreadDivision& division);

// Writes out the innermost loops, or of one a part that divides it, up to
// `most` terms together.
TermLoops WriteOutTerms(ScheduleWriter& writer,
                        const std::vector<TermLoop>& loops, int64_t most);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_TERM_LOOPS_H_
