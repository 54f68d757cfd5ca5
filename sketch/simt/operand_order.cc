#include "sketch/simt/operand_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ceil_div.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::sketch {
namespace {

// The index of dimension `dim` in each load of the buffer.
std::vector<LinearForm> IndicesOf(const Block& reader, const Buffer& buffer,
                                  int dim) {
  std::vector<LinearForm> indices;
  const RangeOf unknown = [](int) { return std::nullopt; };
  for (const Expr& body : reader.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() == Op::kLoad && e.source() == buffer.id)
        indices.push_back(ToLinear(e.operand(dim), unknown));
    });
  }
  return indices;
}

// By how many elements the axis moves the dimension in all loads alike; 0: it
// does not, or not as a multiple.
int64_t StrideOf(const Block& reader, const Buffer& buffer, int dim, int axis) {
  int64_t stride = 0;
  for (const LinearForm& index : IndicesOf(reader, buffer, dim)) {
    const int64_t here = index.CoefficientOf(axis);
    if (here == 0 || (stride != 0 && here != stride)) return 0;
    stride = here;
  }
  return stride;
}

// Whether the axis moves the dimension element by element, and all others by
// multiples of `vector`; 0: they do not move it.
bool IsMovedByOne(const Block& reader, const Buffer& buffer, int dim, int axis,
                  int64_t vector) {
  if (StrideOf(reader, buffer, dim, axis) != 1) return false;
  for (const LinearForm& index : IndicesOf(reader, buffer, dim)) {
    for (const auto& [term, coefficient] : index.terms) {
      const bool own = term.op() == Op::kVar && term.var_id() == axis;
      if (!own && (vector == 0 || coefficient % vector != 0)) return false;
    }
  }
  return true;
}

// The ordinal of the division's axis in the block.
int AxisOf(const Block& block, const ThreadDivision& division, size_t axis) {
  return static_cast<int>(std::find_if(block.axes.begin(), block.axes.end(),
                                       [&](const Axis& a) {
                                         return a.name == division.axes[axis];
                                       }) -
                          block.axes.begin());
}

using Digits = std::vector<Layout::Digit>;

// The digits of a dimension along which threads take turns: the thread, then
// what it has, three places or more in whole vectors. Whole vectors of
// neighbouring threads lie beside each other.
Digits DigitsInTurns(int dim, int64_t extent, int64_t threads, int64_t vector) {
  if (vector % kLoadedTogether == 0)
    return {{dim, 1, CeilDiv(extent, kLoadedTogether) * kLoadedTogether}};
  Digits digits;
  if (threads > 1) digits.push_back({dim, vector, threads});
  int64_t turns = CeilDiv(extent, vector * threads);
  if (turns * vector > kLoadedTogether / 2)
    turns = CeilDiv(turns * vector, kLoadedTogether) * kLoadedTogether / vector;
  digits.push_back({dim, vector * threads, turns});
  if (vector > 1) digits.push_back({dim, 1, vector});
  return digits;
}

// Whether the elements of an output's vector read as many rows: neighbouring
// threads are so many rows apart, which no padding that keeps rows aligned puts
// into other banks.
bool VectorsCrossRows(const Block& reader, const ThreadDivision& division,
                      const Buffer& buffer, int row, int last) {
  if (division.vector == 1 || division.threads.back() == 1) return false;
  for (int dim = 0; dim < row; ++dim)
    if (StrideOf(reader, buffer, dim, last) != 0) return true;
  return false;
}

// Whether the rows of an output that a thread has side by side are the
// buffer's: turned, they are loaded together, and what a multiply-add reads
// lies in registers beside each other instead of four apart.
bool RowsLieSideBySide(const Block& reader, const ThreadDivision& division,
                       const Buffer& buffer, int row) {
  const size_t axes = division.axes.size();
  if (axes < 2 || division.rows % kLoadedTogether != 0) return false;
  const int axis = AxisOf(reader, division, axes - 2);
  for (int dim = 0; dim < row; ++dim)
    if (IsMovedByOne(reader, buffer, dim, axis, /*vector=*/0)) return true;
  return false;
}

}  // namespace

int RowDim(const Buffer& buffer) {
  const std::vector<int64_t>& shape = buffer.layout.shape();
  int dim = static_cast<int>(shape.size()) - 1;
  while (dim >= 0 && shape[dim] == 1) --dim;
  return dim;
}

bool ReadsAlongRows(const Block& reader, const ThreadDivision& division,
                    const Buffer& buffer, int terms) {
  const int row = RowDim(buffer);
  if (row < 0) return true;
  const int last = AxisOf(reader, division, division.axes.size() - 1);
  if (division.vector > 1 && StrideOf(reader, buffer, row, last) == 1)
    return true;
  return terms >= 0 &&
         IsMovedByOne(reader, buffer, row, terms, kLoadedTogether) &&
         !VectorsCrossRows(reader, division, buffer, row, last) &&
         !RowsLieSideBySide(reader, division, buffer, row);
}

std::optional<Layout> ThreadOrder(const Block& reader,
                                  const ThreadDivision& division,
                                  const Buffer& buffer) {
  const std::vector<int64_t>& shape = buffer.layout.shape();
  const int rank = static_cast<int>(shape.size());
  int64_t most = 1;
  int moved = -1;
  Digits side_by_side;
  for (size_t d = division.axes.size(); d-- > 0;) {
    const int axis = AxisOf(reader, division, d);
    const int64_t vector = division.vector_along(d);
    const int64_t elements =
        CeilDiv(division.extents[d], division.threads[d] * vector) * vector;
    for (int dim = 0; dim < rank; ++dim) {
      if (shape[dim] == 1 || elements <= most) continue;
      const int64_t stride = StrideOf(reader, buffer, dim, axis);
      if (IsMovedByOne(reader, buffer, dim, axis, /*vector=*/0)) {
        side_by_side =
            DigitsInTurns(dim, shape[dim], division.threads[d], vector);
      } else if (stride > 1 && vector > 1) {
        // Neighbours of the vector are so far apart.
        side_by_side = {{dim, 1, stride},
                        {dim, stride, CeilDiv(shape[dim], stride)}};
      } else {
        continue;
      }
      most = elements;
      moved = dim;
    }
  }
  if (moved < 0) return std::nullopt;
  Digits digits;
  for (int dim = 0; dim < rank; ++dim)
    if (dim != moved) digits.push_back({dim, 1, shape[dim]});
  digits.insert(digits.end(), side_by_side.begin(), side_by_side.end());
  const std::vector<int64_t> none(shape.size(), 0);
  absl::StatusOr<Layout> layout = Layout::Create(
      shape, none, none, std::move(digits), Layout::Fill::kUndefined);
  if (!layout.ok()) return std::nullopt;
  return *std::move(layout);
}

}  // namespace tilewright::sketch
