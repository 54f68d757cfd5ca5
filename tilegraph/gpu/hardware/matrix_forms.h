// Which matrix instructions fit a tile of a product, and how the warps of a
// block share it (Welder section 4.1, TensorCore: axes are multiples of the
// fragment, threads of the warp).
#ifndef TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_MATRIX_FORMS_H_
#define TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_MATRIX_FORMS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "backends/spec/device_spec.pb.h"

namespace tilewright {

// A product of a tile: rows, columns and terms of one step.
struct ProductTile {
  int64_t m = 1, n = 1, k = 1;
};

// One way to compute it. Warps (or warpgroups) stand in a grid over the tile;
// each has fragments of the instruction's shape side by side.
struct MatrixForm {
  const MatrixUnit* unit = nullptr;
  bool swapped = false;  // the instruction's m lies along the columns
  int64_t groups_m = 1, groups_n = 1;        // along rows and columns
  int64_t fragments_m = 1, fragments_n = 1;  // of each group
  int64_t threads_per_group = 32;
  int64_t registers_per_thread = 0;  // accumulators and one step's operands
  // Products that count over those that are computed: less than 1 where the
  // tile is no multiple.
  double useful = 1;
  // That groups load from the scratchpad for one step of `k` terms.
  int64_t operand_elements = 0;
};

// Rows and columns that one fragment covers, as `swapped` says.
int64_t FragmentRows(const MatrixForm& form);
int64_t FragmentColumns(const MatrixForm& form);

// For each instruction of the unit on such operands that `threads` can issue
// with at least `least_useful`: the best grid of its groups (most useful, then
// fewest operand elements, then rows first). In the order of the spec; empty if
// none fits. Points into `unit`.
std::vector<MatrixForm> MatrixForms(const ComputeUnit& unit,
                                    std::string_view operand_dtype,
                                    const ProductTile& tile, int64_t threads,
                                    double least_useful = 0.75);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_MATRIX_FORMS_H_
