// The computes of a row group (tilegraph/analysis/row_space.h) as its schedule
// sees them: which are written out, and along which axes each runs inside a
// row. Internal to sketch. It decides
//
//   intermediate.N  "kept" or "recomputed": the N-th elementwise compute of the
//                   elements of a row, counted from 1, where several others
//                   would evaluate it
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_ROW_BLOCKS_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_ROW_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sketch/trace/workload.h"
#include "tilegraph/analysis/row_space.h"
#include "tilegraph/decision/decider.h"

namespace tilewright::sketch {

struct RowAxis {
  std::string name;  // of the block's axis
  int64_t extent;
};

// One block of the group that is not inlined.
struct RowBlock {
  std::string name;
  TensorId tensor;
  bool reduces = false;
  bool expensive = false;             // a function of every element
  std::vector<RowAxis> rows;          // by axis of the row space
  std::vector<RowAxis> single;        // axes of extent 1
  std::vector<RowAxis> single_terms;  // those that it reduces, of extent 1
  // The axes that it runs over in a row, in the order of memory; none for one
  // value per row. Those from `fusible` on lie side by side in all it touches.
  std::vector<RowAxis> inner;
  size_t fusible = 0;
  int intermediate = 0;  // its number in decisions, if it is one that is kept

  int64_t row_elements() const;
  std::vector<RowAxis> AllSingle() const;  // `single` and `single_terms`
};

struct RowBlocks {
  std::vector<RowBlock> blocks;  // in order; the last writes the output
  std::vector<std::string> inlined;
  // The row axis along which memory is contiguous, where it is one; else
  // elements of a row are neighbours.
  std::optional<size_t> contiguous_row;
  TensorId output;
};

// `rows`: FindRows of all computes of the graph, which has one output.
RowBlocks FindRowBlocks(const Workload& workload, const RowSpace& rows,
                        Decider& decider);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_ROW_BLOCKS_H_
