// The decisions of a row group, except which of its values are kept
// (row_blocks.h) and how many passes it takes (one_pass_rows.h). Internal to
// sketch.
//
//   row               the row axis along which several rows are done together
//   rows.together     how many
//   task.rows         such steps of a task
//   task.outer_rows   rows of a task along the next row axis outside of it
//   reduce.fuse       whether the axes inside a row become one loop: of
//   elementwise.fuse  reductions, of elementwise blocks, and of those that
//   functions.fuse    evaluate functions
//   reduce.partials   vectors of partial results of one row
//   elementwise.vectors, functions.vectors   vectors of one row unrolled
//   together intermediate.N.level                     where a kept value of a
//   row lives
//
// Blocks of other extents inside a row decide for themselves: reduce2, ...
#ifndef TILEWRIGHT_SKETCH_RULES_ROW_DECISIONS_H_
#define TILEWRIGHT_SKETCH_RULES_ROW_DECISIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/shared/compute_location.h"
#include "sketch/rules/shared/row_blocks.h"
#include "tilegraph/decision/decider.h"

namespace tilewright::sketch {

// Vectors of partial results that hide the latency of an addition, and of an
// elementwise block: what the rule takes.
inline constexpr int64_t kRowVectors = 4;

// Rows that are done together, and those of a task: a multiple of them.
struct RowTile {
  size_t axis = 0;  // of the row axes
  int64_t together = 1;
  int64_t in_task = 1;
  std::optional<size_t> outer_axis;  // absent in stages
  int64_t outer_in_task = 1;
};

// REQUIRES: there are row axes. A stage takes all its rows; as many as divide
// them together, by rule alone where it rolls. `from_memory`: all rows are more
// than the caches hold.
RowTile DecideRowTile(const ComputeLocation& location, const RowBlocks& blocks,
                      int64_t lanes, bool from_memory, const DeviceSpec& spec);

// How one block goes along a row.
struct RowCut {
  bool fused = false;
  int64_t vectors = 1;  // unrolled together; of a reduction partial results
};

class RowCuts {
 public:
  // `together`: rows.
  RowCuts(Decider& decider, int64_t lanes, int64_t together)
      : decider_(decider), lanes_(lanes), together_(together) {}

  // Where elements of a row are neighbours. REQUIRES: block.inner.
  RowCut Of(const RowBlock& block);
  // Partial results per row of a reduction whose rows are neighbours.
  int64_t PartialsAcross(const RowBlock& block);

 private:
  RowCut Decide(const RowBlock& block);
  // The first block that asks with these extents decides.
  template <typename Ask>
  RowCut Once(const RowBlock& block, Ask ask);

  Decider& decider_;
  const int64_t lanes_;
  const int64_t together_;
  using Extents = std::vector<int64_t>;
  std::map<std::string, std::vector<std::pair<Extents, RowCut>>> cuts_;
};

// A sum in blocks: steps of one along block.inner[axis], and all of the axes
// beside it.
struct TermBlocks {
  size_t axis = 0;
  int64_t steps = 1;
};

// How to cut a sum of floats whose rows are neighbours, each with one
// accumulator (shared/like_terms.h); nullopt: not at all. By rule alone.
std::optional<TermBlocks> BlocksOfTerms(const RowBlock& block);
// The same of a row that goes over lanes, as `cuts` say: as few blocks as do.
std::optional<TermBlocks> BlocksOfLanes(const RowBlock& block, RowCuts& cuts,
                                        int64_t lanes);

// "registers" or "scratch" of a kept value of a row; `unrolled`: a row of it
// is.
std::string DecideLevel(Decider& decider, const RowBlock& block, bool unrolled);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_ROW_DECISIONS_H_
