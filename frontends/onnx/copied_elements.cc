#include "frontends/onnx/copied_elements.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/status_macros.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/ir/compute_axes.h"

namespace tilewright {
namespace {

// Where an element of the result lies in the source: at `base` plus a stride
// for each step along an axis.
struct StridedRead {
  int64_t base = 0;
  std::vector<int64_t> strides;
};

// nullopt if the positions are not linear in the axes, or not all inside.
std::optional<StridedRead> AsStridedRead(const Tensor& tensor, const Move& move,
                                         const Shape& source) {
  const RangeOf ranges = AxisRanges(tensor.compute);
  StridedRead read;
  read.strides.assign(tensor.shape.size(), 0);
  int64_t step = 1;
  for (size_t d = source.size(); d-- > 0; step *= source[d]) {
    const LinearForm at = ToLinear(move.index[d], ranges);
    int64_t least = at.constant, most = at.constant;
    for (const auto& [term, coefficient] : at.terms) {
      if (term.op() != Op::kVar) return std::nullopt;
      read.strides[term.var_id()] += coefficient * step;
      const int64_t reach =
          coefficient * (tensor.shape[term.var_id()].value() - 1);
      least += std::min<int64_t>(reach, 0);
      most += std::max<int64_t>(reach, 0);
    }
    if (least < 0 || most >= source[d]) return std::nullopt;
    read.base += at.constant * step;
  }
  return read;
}

// to[r, c] = from[r * row_stride + c * column_stride], elements of kSize bytes.
template <int kSize>
void CopyPlane(char* to, const char* from, int64_t rows, int64_t columns,
               int64_t row_stride, int64_t column_stride) {
  if (column_stride == 1) {
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(to + r * columns * kSize, from + r * row_stride * kSize,
                  static_cast<size_t>(columns * kSize));
    }
    return;
  }
  // So many rows at a time, since of a transposed plane they are neighbours.
  constexpr int64_t kRows = 16;
  for (int64_t first = 0; first < rows; first += kRows) {
    const int64_t end = std::min(first + kRows, rows);
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = first; r < end; ++r) {
        std::memcpy(to + (r * columns + c) * kSize,
                    from + (r * row_stride + c * column_stride) * kSize, kSize);
      }
    }
  }
}

auto PlaneCopy(int64_t element_bytes) {
  return element_bytes == 1   ? CopyPlane<1>
         : element_bytes == 2 ? CopyPlane<2>
         : element_bytes == 4 ? CopyPlane<4>
                              : CopyPlane<8>;
}

// Planes of the last two dimensions, one after the other.
void CopyStrided(const HostTensor& from, StridedRead read, HostTensor& to) {
  Shape extents = to.shape();
  while (extents.size() < 2) {
    extents.insert(extents.begin(), 1);
    read.strides.insert(read.strides.begin(), 0);
  }
  const size_t planes = extents.size() - 2;
  const int64_t rows = extents[planes], columns = extents[planes + 1];
  const int64_t size = SizeBytes(from.dtype());
  const auto copy_plane = PlaneCopy(size);
  std::vector<int64_t> at(planes, 0);
  int64_t source = read.base;
  const int64_t elements = to.num_elements();
  for (int64_t done = 0; done < elements; done += rows * columns) {
    copy_plane(to.data() + done * size, from.data() + source * size, rows,
               columns, read.strides[planes], read.strides[planes + 1]);
    for (size_t d = planes; d-- > 0;) {
      source += read.strides[d];
      if (++at[d] < extents[d]) break;
      source -= read.strides[d] * extents[d];
      at[d] = 0;
    }
  }
}

// The bytes of all dimensions from `axis` on.
int64_t BytesFrom(const HostTensor& tensor, int axis) {
  int64_t bytes = SizeBytes(tensor.dtype());
  for (size_t d = axis; d < tensor.shape().size(); ++d)
    bytes *= tensor.shape()[d];
  return bytes;
}

// `part` is as long as the whole in all dimensions but `axis`.
void CopyBehind(const HostTensor& part, int64_t offset, int axis,
                HostTensor& whole) {
  const int64_t part_bytes = BytesFrom(part, axis);
  const int64_t whole_bytes = BytesFrom(whole, axis);
  const int64_t begin = offset * BytesFrom(whole, axis + 1);
  const char* from = part.data();
  for (int64_t at = begin; at < whole.size_bytes();
       at += whole_bytes, from += part_bytes) {
    std::memcpy(whole.data() + at, from, static_cast<size_t>(part_bytes));
  }
}

const HostTensor* ConstantOf(const TensorGraph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  return tensor.kind == TensorKind::kConstant ? tensor.value.get() : nullptr;
}

}  // namespace

absl::StatusOr<std::optional<HostTensor>> CopiedElements(
    const OpContext& op, const TensorGraph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  const Shape shape = tensor.static_shape();
  if (const std::optional<Move> move = AsMove(graph, id)) {
    const HostTensor* const from = ConstantOf(graph, move->source);
    if (from == nullptr || from->dtype() != tensor.dtype) return std::nullopt;
    std::optional<StridedRead> read =
        AsStridedRead(tensor, *move, from->shape());
    if (!read) return std::nullopt;
    TW_ASSIGN_OR_RETURN(HostTensor to, op.NewTensor(tensor.dtype, shape));
    CopyStrided(*from, *std::move(read), to);
    return to;
  }
  const std::optional<Concatenation> whole = AsConcatenation(graph, id);
  if (!whole) return std::nullopt;
  for (const Concatenation::Part& part : whole->parts) {
    if (ConstantOf(graph, part.source) == nullptr) return std::nullopt;
  }
  TW_ASSIGN_OR_RETURN(HostTensor to, op.NewTensor(tensor.dtype, shape));
  for (const Concatenation::Part& part : whole->parts)
    CopyBehind(*ConstantOf(graph, part.source), part.offset, whole->axis, to);
  return to;
}

}  // namespace tilewright
