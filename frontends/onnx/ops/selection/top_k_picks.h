// The first elements of rows, picked one after the other: every block of a row
// has its first element, the pick is the first of those, and its block looks
// for the next one behind it. A row of n is read once, and for each pick a
// block and the first elements of all.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_SELECTION_TOP_K_PICKS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_SELECTION_TOP_K_PICKS_H_

#include <cstdint>
#include <string>

#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/ops/selection/top_k_spec.h"

namespace tilewright {

// The block for which picking takes the fewest steps.
int64_t PickBlock(int64_t extent, int64_t count);
// Elements that are looked at in one row.
int64_t PickSteps(int64_t extent, int64_t count);

// Whether picks find the order that `spec` asks for of elements of that type,
// and so few that each may have its computes.
bool CanPick(const TopKSpec& spec, DType dtype);

// The places of the first elements of input 0 along the axis, i64.
TensorId PickFirst(ImportContext& in, const TopKSpec& spec, std::string name);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_SELECTION_TOP_K_PICKS_H_
