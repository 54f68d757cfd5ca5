#include "sketch/simt/operand_order.h"

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

// Whether the axis alone moves the dimension, element by element.
bool IsMovedAlone(const Block& reader, const Buffer& buffer, int dim,
                  int axis) {
  for (const LinearForm& index : IndicesOf(reader, buffer, dim))
    if (index.terms.size() != 1) return false;
  return StrideOf(reader, buffer, dim, axis) == 1;
}

using Digits = std::vector<Layout::Digit>;

// The digits of a dimension along which threads take turns: the thread, then
// what it has, three places or more in whole vectors.
Digits DigitsInTurns(int dim, int64_t extent, int64_t threads, int64_t vector) {
  constexpr int64_t kVector = 4;
  Digits digits;
  if (threads > 1) digits.push_back({dim, vector, threads});
  int64_t turns = CeilDiv(extent, vector * threads);
  if (turns * vector > kVector / 2)
    turns = CeilDiv(turns * vector, kVector) * kVector / vector;
  digits.push_back({dim, vector * threads, turns});
  if (vector > 1) digits.push_back({dim, 1, vector});
  return digits;
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
  const int last = static_cast<int>(reader.axes.size()) - 1;
  if (division.vector > 1 && StrideOf(reader, buffer, row, last) == 1)
    return true;
  return terms >= 0 && IsMovedAlone(reader, buffer, row, terms);
}

std::optional<Layout> ThreadOrder(const Block& reader,
                                  const ThreadDivision& division,
                                  const Buffer& buffer) {
  const std::vector<int64_t>& shape = buffer.layout.shape();
  const int rank = static_cast<int>(shape.size());
  int64_t most = 1;
  int moved = -1;
  Digits side_by_side;
  for (int axis = static_cast<int>(reader.axes.size()) - 1; axis >= 0; --axis) {
    const bool last = axis + 1 == static_cast<int>(reader.axes.size());
    const int64_t vector = last ? division.vector : 1;
    const int64_t elements =
        CeilDiv(division.extents[axis], division.threads[axis] * vector) *
        vector;
    for (int dim = 0; dim < rank; ++dim) {
      if (shape[dim] == 1 || elements <= most) continue;
      const int64_t stride = StrideOf(reader, buffer, dim, axis);
      if (IsMovedAlone(reader, buffer, dim, axis)) {
        side_by_side =
            DigitsInTurns(dim, shape[dim], division.threads[axis], vector);
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
