// Copies in scratch of what several threads read, a step of their sums at a
// time. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_SIMT_STAGE_OPERANDS_H_
#define TILEWRIGHT_SKETCH_SIMT_STAGE_OPERANDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sketch/replay/growing_trace.h"
#include "sketch/simt/term_loops.h"
#include "sketch/simt/thread_nest.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/block_tile.h"

namespace tilewright::sketch {

// Sums as they are divided: of which compute, the name of the block that sums
// the terms, its own axes, the loops over the terms of a step, and the loop
// over steps.
struct StagedSums {
  std::string compute, block;
  const ThreadDivision& division;
  const TermLoops& terms;
  Handle step;
};

// Asks for the order of each copy, "block.order.COMPUTE.OPERAND", if that is
// the tensor's own for the padding of its rows, and else, where it matters,
// along what neighbouring threads copy.
class OperandStager {
 public:
  // All must outlive it. Swizzle and number of threads are those of `tile`,
  // where it also notes paddings.
  OperandStager(GrowingTrace& trace, Decider& decider,
                const std::optional<BlockTile>& planned, BlockTile& tile)
      : trace_(trace), decider_(decider), planned_(planned), tile_(tile) {}

  // A copy of what a step reads of the operand, unless it is too large or has
  // no dense part.
  void Stage(const StagedSums& sums, const std::string& operand);
  // What a step reads of the map, a block that reads what lies in memory, under
  // the same condition; else it is inlined. It is asked for as its first
  // operand.
  void StageMap(const StagedSums& sums, const std::string& map);

 private:
  void WriteCopy(const StagedSums& sums, const std::string& operand,
                 const std::string& copy);
  bool DecideByThread(const StagedSums& sums, const std::string& operand,
                      bool preferred);
  bool DecideAlongCopy(const StagedSums& sums, const std::string& operand);
  int64_t DecidePadding(const StagedSums& sums, const std::string& operand,
                        int64_t unit, int64_t row);
  size_t CopyAt(const std::string& operand);
  TensorId TensorOf(const std::string& operand);

  GrowingTrace& trace_;
  Decider& decider_;
  const std::optional<BlockTile>& planned_;
  BlockTile& tile_;
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_STAGE_OPERANDS_H_
