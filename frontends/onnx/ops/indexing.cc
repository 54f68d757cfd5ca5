// Parts, copies and joins of tensors: moves of elements by index.
#include <algorithm>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/op_def.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/tensor_proto.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

// Output 0 is the element of input 0 at what `at` makes of the index; input 0
// itself if `is_whole`.
absl::Status EmitMove(ImportContext& in, bool is_whole,
                      const std::function<std::vector<Expr>(Index)>& at) {
  const TensorId x = in.input(0);
  if (is_whole) {
    in.SetOutput(0, x);
    return absl::OkStatus();
  }
  in.EmitElementwise(0, HintOf(in.op()),
                     [&](Index index) { return in.At(x, at(index)); });
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> Permutation(const OpContext& op) {
  std::vector<int64_t> given = op.Ints("perm");
  const int rank = op.rank(0);
  if (given.empty()) {
    for (int d = rank; d-- > 0;) given.push_back(d);
  }
  TW_ASSIGN_OR_RETURN(const std::vector<int> sorted, op.Axes(given, rank));
  if (static_cast<int>(sorted.size()) != rank) {
    return op.Error("attribute 'perm' has ", given.size(),
                    " entries for shape ", ShapeText(op.shape(0)));
  }
  std::vector<int> perm;
  for (const int64_t axis : given) {
    perm.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  }
  return perm;
}

absl::Status InferTranspose(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const std::vector<int> perm, Permutation(op));
  Shape shape;
  for (const int axis : perm) shape.push_back(op.shape(0)[axis]);
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportTranspose(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const std::vector<int> perm, Permutation(in.op()));
  return EmitMove(in, std::is_sorted(perm.begin(), perm.end()),
                  [&](Index index) {
                    std::vector<Expr> at(perm.size());
                    for (size_t d = 0; d < perm.size(); ++d) {
                      at[perm[d]] = index[d];
                    }
                    return at;
                  });
}

absl::Status InferExpand(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const Shape to, op.ConstInts(1));
  TW_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(op, op.shape(0), to));
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportExpand(ImportContext& in) {
  const TensorId x = in.input(0);
  if (in.op().shape(0) == in.op().output(0).shape) {
    in.SetOutput(0, x);
    return absl::OkStatus();
  }
  in.EmitElementwise(0, "expand",
                     [&](Index index) { return in.Load(x, index); });
  return absl::OkStatus();
}

absl::Status InferConcat(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  Shape shape = op.has_input(0) ? op.shape(0) : Shape();
  const int rank = static_cast<int>(shape.size());
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 1), rank));
  for (int i = 1; i < op.num_inputs(); ++i) {
    if (!op.has_input(i)) return op.Error("input ", i, " is missing");
    Shape other = op.shape(i);
    if (other.size() == shape.size()) other[axis] = op.shape(0)[axis];
    if (other != op.shape(0)) {
      return op.Error("shapes ", ShapeText(op.shape(0)), " and ",
                      ShapeText(op.shape(i)), " do not join along axis ", axis,
                      "; fix the model");
    }
    shape[axis] += op.shape(i)[axis];
  }
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// A balanced tree of selects, so that many inputs do not nest deeply.
struct Part {
  TensorId tensor;
  int64_t begin;
};

Expr SelectPart(const ImportContext& in, absl::Span<const Part> parts, int axis,
                Index index) {
  if (parts.size() == 1) {
    std::vector<Expr> at(index.begin(), index.end());
    at[axis] = index[axis] - Expr::Int(parts[0].begin);
    return in.At(parts[0].tensor, std::move(at));
  }
  const size_t middle = parts.size() / 2;
  return SelectExpr(
      Binary(Op::kLt, index[axis], Expr::Int(parts[middle].begin)),
      SelectPart(in, parts.subspan(0, middle), axis, index),
      SelectPart(in, parts.subspan(middle), axis, index));
}

absl::Status ImportConcat(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 1), op.rank(0)));
  std::vector<Part> parts;
  int64_t begin = 0;
  for (int i = 0; i < op.num_inputs(); ++i) {
    if (op.shape(i)[axis] == 0) continue;
    parts.push_back({in.input(i), begin});
    begin += op.shape(i)[axis];
  }
  if (parts.size() == 1) {
    in.SetOutput(0, parts[0].tensor);
    return absl::OkStatus();
  }
  in.EmitElementwise(0, "concat", [&](Index index) {
    return SelectPart(in, parts, axis, index);
  });
  return absl::OkStatus();
}

// Attributes before opset 10, then inputs.
struct SliceSpec {
  std::vector<int64_t> start;  // per dimension
  std::vector<int64_t> step;
  Shape shape;
};

absl::StatusOr<SliceSpec> ReadSlice(const OpContext& op) {
  std::vector<int64_t> starts, ends, axes, steps;
  if (op.opset() < 10) {
    starts = op.Ints("starts");
    ends = op.Ints("ends");
    axes = op.Ints("axes");
  } else {
    if (!op.has_input(1) || !op.has_input(2)) {
      return op.Error("starts or ends are missing");
    }
    TW_ASSIGN_OR_RETURN(starts, op.ConstInts(1));
    TW_ASSIGN_OR_RETURN(ends, op.ConstInts(2));
    if (op.has_input(3)) {
      TW_ASSIGN_OR_RETURN(axes, op.ConstInts(3));
    }
    if (op.has_input(4)) {
      TW_ASSIGN_OR_RETURN(steps, op.ConstInts(4));
    }
  }
  if (axes.empty()) {
    for (size_t d = 0; d < starts.size(); ++d) {
      axes.push_back(static_cast<int64_t>(d));
    }
  }
  if (steps.empty()) steps.assign(axes.size(), 1);
  if (starts.size() != axes.size() || ends.size() != axes.size() ||
      steps.size() != axes.size()) {
    return op.Error("starts, ends, axes and steps have different lengths");
  }
  TW_RETURN_IF_ERROR(op.Axes(axes, op.rank(0)));
  SliceSpec spec;
  spec.shape = op.shape(0);
  spec.start.assign(spec.shape.size(), 0);
  spec.step.assign(spec.shape.size(), 1);
  for (size_t k = 0; k < axes.size(); ++k) {
    TW_ASSIGN_OR_RETURN(const int axis, op.Axis(axes[k], op.rank(0)));
    const int64_t extent = op.shape(0)[axis];
    const int64_t step = steps[k];
    if (step == 0) return op.Error("a step is 0");
    // Steps beyond the extent take one element at most.
    const int64_t stride = std::clamp<int64_t>(step, -extent - 1, extent + 1);
    const auto from_front = [extent](int64_t at, int64_t low, int64_t high) {
      if (at < 0) at = at < -extent ? -extent - 1 + extent : at + extent;
      return std::clamp(at, low, high);
    };
    const int64_t low = stride > 0 ? 0 : -1;
    const int64_t high = stride > 0 ? extent : extent - 1;
    const int64_t start = from_front(starts[k], stride > 0 ? 0 : -1, high);
    const int64_t end = from_front(ends[k], low, high);
    const int64_t count = stride > 0 ? (end - start + stride - 1) / stride
                                     : (start - end - stride - 1) / -stride;
    spec.start[axis] = start;
    spec.step[axis] = stride;
    spec.shape[axis] = std::max<int64_t>(count, 0);
  }
  return spec;
}

absl::Status InferSlice(OpContext& op) {
  TW_ASSIGN_OR_RETURN(SliceSpec spec, ReadSlice(op));
  op.SetOutput(0, op.dtype(0), std::move(spec.shape));
  return absl::OkStatus();
}

absl::Status ImportSlice(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const SliceSpec spec, ReadSlice(in.op()));
  bool whole = spec.shape == in.op().shape(0);
  for (const int64_t step : spec.step) whole &= step > 0;
  return EmitMove(in, whole, [&](Index index) {
    std::vector<Expr> at;
    for (size_t d = 0; d < index.size(); ++d) {
      at.push_back(index[d] * Expr::Int(spec.step[d]) +
                   Expr::Int(spec.start[d]));
    }
    return at;
  });
}

struct SplitSpec {
  int axis;
  std::vector<int64_t> sizes;
};

absl::StatusOr<SplitSpec> ReadSplit(const OpContext& op) {
  SplitSpec spec;
  TW_ASSIGN_OR_RETURN(spec.axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  const int64_t extent = op.shape(0)[spec.axis];
  const int64_t count = op.num_outputs();
  if (op.has_input(1)) {
    TW_ASSIGN_OR_RETURN(spec.sizes, op.ConstInts(1));
  } else {
    spec.sizes = op.Ints("split");
  }
  if (spec.sizes.empty()) {
    const int64_t named = op.Int("num_outputs", count);
    if (named != count || (op.opset() < 18 && extent % count != 0)) {
      return op.Error("dimension ", spec.axis, " of ", ShapeText(op.shape(0)),
                      " does not split into ", named, " parts for ", count,
                      " outputs");
    }
    const int64_t size = (extent + count - 1) / count;
    for (int64_t i = 0; i < count; ++i) {
      spec.sizes.push_back(std::clamp<int64_t>(extent - i * size, 0, size));
    }
  }
  int64_t total = 0;
  for (const int64_t size : spec.sizes) {
    if (size < 0 || size > extent) total = extent + 1;
    total = std::min(total + size, extent + 1);
  }
  if (static_cast<int64_t>(spec.sizes.size()) != count || total != extent) {
    return op.Error("parts of ", ShapeText(spec.sizes), " do not make up ",
                    "dimension ", spec.axis, " of ", ShapeText(op.shape(0)),
                    " in ", count, " outputs");
  }
  return spec;
}

absl::Status InferSplit(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const SplitSpec spec, ReadSplit(op));
  for (int i = 0; i < op.num_outputs(); ++i) {
    Shape shape = op.shape(0);
    shape[spec.axis] = spec.sizes[i];
    op.SetOutput(i, op.dtype(0), std::move(shape));
  }
  return absl::OkStatus();
}

absl::Status ImportSplit(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const SplitSpec spec, ReadSplit(op));
  const TensorId x = in.input(0);
  int64_t begin = 0;
  for (int i = 0; i < op.num_outputs(); ++i) {
    const int64_t from = begin;
    begin += spec.sizes[i];
    if (!op.has_output(i) || spec.sizes[i] == 0) continue;
    if (spec.sizes[i] == op.shape(0)[spec.axis]) {
      in.SetOutput(i, x);
      continue;
    }
    in.EmitElementwise(i, "split", [&](Index index) {
      std::vector<Expr> at(index.begin(), index.end());
      at[spec.axis] = index[spec.axis] + Expr::Int(from);
      return in.At(x, std::move(at));
    });
  }
  return absl::OkStatus();
}

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

struct PadSpec {
  std::vector<int64_t> before;  // negative: cropped
  std::vector<int64_t> after;
  PadMode mode = PadMode::kConstant;
};

absl::StatusOr<PadSpec> ReadPad(const OpContext& op) {
  const int rank = op.rank(0);
  std::vector<int64_t> pads;
  if (op.opset() < 11) {
    pads = op.Ints("pads");
  } else if (op.has_input(1)) {
    TW_ASSIGN_OR_RETURN(pads, op.ConstInts(1));
  }
  std::vector<int64_t> axes;
  if (op.has_input(3)) {
    TW_ASSIGN_OR_RETURN(axes, op.ConstInts(3));
  } else {
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  }
  TW_RETURN_IF_ERROR(op.Axes(axes, rank));
  if (pads.size() != 2 * axes.size()) {
    return op.Error("there are ", pads.size(), " pads for ", axes.size(),
                    " dimensions; there must be two for each");
  }
  PadSpec spec;
  spec.before.assign(rank, 0);
  spec.after.assign(rank, 0);
  constexpr int64_t kLargest = int64_t{1} << 40;
  for (size_t k = 0; k < axes.size(); ++k) {
    TW_ASSIGN_OR_RETURN(const int axis, op.Axis(axes[k], rank));
    spec.before[axis] = pads[k];
    spec.after[axis] = pads[axes.size() + k];
    if (std::abs(pads[k]) > kLargest ||
        std::abs(pads[axes.size() + k]) > kLargest) {
      return op.Error("pads ", ShapeText(pads), " are out of range");
    }
  }
  const std::string mode = op.String("mode", "constant");
  if (mode == "reflect") {
    spec.mode = PadMode::kReflect;
  } else if (mode == "edge") {
    spec.mode = PadMode::kEdge;
  } else if (mode == "wrap") {
    spec.mode = PadMode::kWrap;
  } else if (mode != "constant") {
    return op.Error("attribute 'mode' is ", Quoted(mode),
                    "; it must be constant, reflect, edge or wrap");
  }
  return spec;
}

absl::Status InferPad(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const PadSpec spec, ReadPad(op));
  Shape shape = op.shape(0);
  for (size_t d = 0; d < shape.size(); ++d) {
    shape[d] += spec.before[d] + spec.after[d];
    if (shape[d] < 0) {
      return op.Error("more is cropped than ", ShapeText(op.shape(0)),
                      " has in dimension ", d);
    }
  }
  if (op.has_input(2) && (op.dtype(2) != op.dtype(0) ||
                          Product(op.shape(2), 0, op.rank(2)) != 1)) {
    return op.Error("the padding value is ", DTypeText(op.dtype(2)), " ",
                    ShapeText(op.shape(2)), " where one ",
                    DTypeText(op.dtype(0)), " is needed");
  }
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// Where position `at` (possibly outside) is taken from.
Expr Fold(const Expr& at, int64_t extent, PadMode mode) {
  const Expr last = Expr::Int(extent - 1);
  switch (mode) {
    case PadMode::kEdge:
      return Binary(Op::kMin, Binary(Op::kMax, at, Expr::Int(0)), last);
    case PadMode::kWrap:
      return FloorMod(at, Expr::Int(extent));
    case PadMode::kReflect: {
      // Runs up and down with period 2 (extent - 1).
      if (extent == 1) return Expr::Int(0);
      const Expr phase = FloorMod(at, Expr::Int(2 * (extent - 1)));
      return Binary(Op::kMin, phase, Expr::Int(2 * (extent - 1)) - phase);
    }
    case PadMode::kConstant:
      return at;
  }
  return at;
}

absl::Status ImportPad(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const PadSpec spec, ReadPad(op));
  const TensorId x = in.input(0);
  if (op.shape(0) == op.output(0).shape &&
      std::all_of(spec.before.begin(), spec.before.end(),
                  [](int64_t pad) { return pad == 0; })) {
    in.SetOutput(0, x);
    return absl::OkStatus();
  }
  const TensorId fill = op.has_input(2) ? in.input(2) : -1;
  in.EmitElementwise(0, "pad", [&](Index index) {
    Expr inside;
    std::vector<Expr> at;
    for (size_t d = 0; d < index.size(); ++d) {
      Expr here = index[d] - Expr::Int(spec.before[d]);
      if (spec.mode == PadMode::kConstant) {
        inside =
            AndAll(inside, InBounds(here, op.shape(0)[d], spec.before[d] > 0,
                                    spec.after[d] > 0));
      } else if (spec.before[d] > 0 || spec.after[d] > 0) {
        here = Fold(here, op.shape(0)[d], spec.mode);
      }
      at.push_back(std::move(here));
    }
    const Expr value = in.At(x, std::move(at));
    if (!inside) return value;
    const Expr other = fill >= 0 ? in.LoadAligned(fill, index, 0)
                                 : Literal(op.dtype(0), op.Float("value", 0));
    return SelectExpr(inside, value, other);
  });
  return absl::OkStatus();
}

absl::Status InferTile(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats, op.ConstInts(1));
  Shape shape = op.shape(0);
  if (repeats.size() != shape.size()) {
    return op.Error("there are ", repeats.size(), " repeats for shape ",
                    ShapeText(shape));
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (repeats[d] < 0 || repeats[d] > (int64_t{1} << 40) ||
        shape[d] > (int64_t{1} << 20)) {
      return op.Error("repeats ", ShapeText(repeats), " of ",
                      ShapeText(op.shape(0)), " are out of range");
    }
    shape[d] *= repeats[d];
  }
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportTile(ImportContext& in) {
  const Shape& from = in.op().shape(0);
  const Shape& to = in.op().output(0).shape;
  return EmitMove(in, from == to, [&](Index index) {
    std::vector<Expr> at;
    for (size_t d = 0; d < index.size(); ++d) {
      at.push_back(from[d] == to[d] ? index[d]
                                    : FloorMod(index[d], Expr::Int(from[d])));
    }
    return at;
  });
}

// A position read from a tensor: negative counts from the end, once; what is
// out of range is clamped.
Expr FromData(const Expr& position, int64_t extent) {
  const Expr wide = CastTo(DType::kInt64, position);
  if (wide.op() == Op::kConst) {
    const int64_t at = wide.int_value();
    return Expr::Int(
        std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent - 1));
  }
  const Expr wrapped = SelectExpr(Binary(Op::kLt, wide, Expr::Int(0)),
                                  wide + Expr::Int(extent), wide);
  return Binary(Op::kMin, Binary(Op::kMax, wrapped, Expr::Int(0)),
                Expr::Int(extent - 1));
}

absl::Status RequireIndices(const OpContext& op) {
  if (op.dtype(1) == DType::kInt64 || op.dtype(1) == DType::kInt32) {
    return absl::OkStatus();
  }
  return op.Error("indices are ", DTypeText(op.dtype(1)),
                  " where i32 or i64 is needed");
}

absl::Status InferGather(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireIndices(op));
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  Shape shape = op.shape(0);
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, op.shape(1).begin(), op.shape(1).end());
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportGather(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  const TensorId x = in.input(0);
  const TensorId indices = in.input(1);
  const int inner = op.rank(1);
  in.EmitElementwise(0, "gather", [&](Index index) {
    std::vector<Expr> at(index.begin(), index.begin() + axis);
    at.push_back(FromData(in.Load(indices, index.subspan(axis, inner)),
                          op.shape(0)[axis]));
    at.insert(at.end(), index.begin() + axis + inner, index.end());
    return in.At(x, std::move(at));
  });
  return absl::OkStatus();
}

absl::Status InferGatherElements(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireIndices(op));
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  bool fits = op.rank(0) == op.rank(1);
  for (int d = 0; fits && d < op.rank(0); ++d) {
    fits = d == axis || op.shape(1)[d] <= op.shape(0)[d];
  }
  if (!fits) {
    return op.Error("indices of shape ", ShapeText(op.shape(1)),
                    " do not fit data of shape ", ShapeText(op.shape(0)));
  }
  op.SetOutput(0, op.dtype(0), op.shape(1));
  return absl::OkStatus();
}

absl::Status ImportGatherElements(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  const TensorId indices = in.input(1);
  return EmitMove(in, false, [&](Index index) {
    std::vector<Expr> at(index.begin(), index.end());
    at[axis] = FromData(in.Load(indices, index), op.shape(0)[axis]);
    return at;
  });
}

struct GatherNdSpec {
  int64_t batch = 0;
  int64_t depth = 0;  // positions in an index
};

absl::StatusOr<GatherNdSpec> ReadGatherNd(const OpContext& op) {
  GatherNdSpec spec;
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 1));
  TW_RETURN_IF_ERROR(RequireRank(op, 1, 1));
  spec.batch = op.Int("batch_dims", 0);
  spec.depth = op.shape(1).back();
  bool fits = spec.batch >= 0 && spec.batch < op.rank(1) && spec.depth >= 1 &&
              spec.batch + spec.depth <= op.rank(0);
  for (int64_t d = 0; fits && d < spec.batch; ++d) {
    fits = op.shape(0)[d] == op.shape(1)[d];
  }
  if (!fits) {
    return op.Error("indices of shape ", ShapeText(op.shape(1)),
                    " do not fit data of shape ", ShapeText(op.shape(0)));
  }
  return spec;
}

absl::Status InferGatherNd(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireIndices(op));
  TW_ASSIGN_OR_RETURN(const GatherNdSpec spec, ReadGatherNd(op));
  Shape shape(op.shape(1).begin(), op.shape(1).end() - 1);
  shape.insert(shape.end(), op.shape(0).begin() + spec.batch + spec.depth,
               op.shape(0).end());
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportGatherNd(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const GatherNdSpec spec, ReadGatherNd(op));
  const TensorId indices = in.input(1);
  const size_t outer = op.rank(1) - 1;
  return EmitMove(in, false, [&](Index index) {
    std::vector<Expr> at(index.begin(), index.begin() + spec.batch);
    std::vector<Expr> from(index.begin(), index.begin() + outer);
    from.emplace_back();
    for (int64_t k = 0; k < spec.depth; ++k) {
      from.back() = Expr::Int(k);
      at.push_back(
          FromData(in.Load(indices, from), op.shape(0)[spec.batch + k]));
    }
    at.insert(at.end(), index.begin() + outer, index.end());
    return at;
  });
}

absl::StatusOr<int64_t> BlockSize(const OpContext& op) {
  const int64_t block = op.Int("blocksize", 0);
  if (op.rank(0) != 4 || block < 1 || block > (1 << 20)) {
    return op.Error("shape ", ShapeText(op.shape(0)), " and block size ", block,
                    " do not fit; there must be four dimensions");
  }
  return block;
}

absl::Status InferDepthToSpace(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const int64_t block, BlockSize(op));
  const std::string mode = op.String("mode", "DCR");
  const Shape& x = op.shape(0);
  if ((mode != "DCR" && mode != "CRD") || x[1] % (block * block) != 0) {
    return op.Error("mode ", Quoted(mode), " with block size ", block,
                    " does not fit shape ", ShapeText(x));
  }
  op.SetOutput(0, op.dtype(0),
               {x[0], x[1] / (block * block), x[2] * block, x[3] * block});
  return absl::OkStatus();
}

absl::Status ImportDepthToSpace(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const int64_t block, BlockSize(in.op()));
  const bool dcr = in.op().String("mode", "DCR") == "DCR";
  const Expr b = Expr::Int(block);
  const Expr depth = Expr::Int(in.op().output(0).shape[1]);
  return EmitMove(in, block == 1, [&](Index index) {
    const Expr cell = FloorMod(index[2], b) * b + FloorMod(index[3], b);
    const Expr channel = dcr ? cell * depth + index[1]
                             : index[1] * Expr::Int(block * block) + cell;
    return std::vector<Expr>{index[0], channel, FloorDiv(index[2], b),
                             FloorDiv(index[3], b)};
  });
}

absl::Status InferSpaceToDepth(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const int64_t block, BlockSize(op));
  const Shape& x = op.shape(0);
  if (x[2] % block != 0 || x[3] % block != 0) {
    return op.Error("block size ", block, " does not divide shape ",
                    ShapeText(x));
  }
  op.SetOutput(0, op.dtype(0),
               {x[0], x[1] * block * block, x[2] / block, x[3] / block});
  return absl::OkStatus();
}

absl::Status ImportSpaceToDepth(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const int64_t block, BlockSize(in.op()));
  const Expr b = Expr::Int(block);
  const Expr depth = Expr::Int(in.op().shape(0)[1]);
  return EmitMove(in, block == 1, [&](Index index) {
    const Expr cell = FloorDiv(index[1], depth);
    return std::vector<Expr>{index[0], FloorMod(index[1], depth),
                             index[2] * b + FloorDiv(cell, b),
                             index[3] * b + FloorMod(cell, b)};
  });
}

absl::Status InferTrilu(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 2));
  if (op.has_input(1)) {
    TW_ASSIGN_OR_RETURN(const std::vector<int64_t> k, op.ConstInts(1));
    if (k.size() != 1) return op.Error("k has ", k.size(), " elements");
  }
  return InferSame(op);
}

absl::Status ImportTrilu(ImportContext& in) {
  const OpContext& op = in.op();
  int64_t k = 0;
  if (op.has_input(1)) {
    TW_ASSIGN_OR_RETURN(const std::vector<int64_t> given, op.ConstInts(1));
    constexpr int64_t kFar = int64_t{1} << 42;
    k = std::clamp<int64_t>(given[0], -kFar, kFar);
  }
  const bool upper = op.Int("upper", 1) != 0;
  const TensorId x = in.input(0);
  in.EmitElementwise(0, "trilu", [&](Index index) {
    const Expr row = index[index.size() - 2] + Expr::Int(k);
    const Expr keep = Binary(upper ? Op::kGe : Op::kLe, index.back(), row);
    return SelectExpr(keep, in.Load(x, index), Literal(op.dtype(0), 0));
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Transpose", 6, 1, 1, InferTranspose, ImportTranspose},
    {"Expand", 8, 2, 2, InferExpand, ImportExpand},
    {"Concat", 6, 1, kAnyNumber, InferConcat, ImportConcat},
    {"Slice", 6, 1, 5, InferSlice, ImportSlice},
    {"Split", 6, 1, 2, InferSplit, ImportSplit},
    {"Pad", 6, 1, 4, InferPad, ImportPad},
    {"Tile", 6, 2, 2, InferTile, ImportTile},
    {"Gather", 6, 2, 2, InferGather, ImportGather},
    {"GatherElements", 11, 2, 2, InferGatherElements, ImportGatherElements},
    {"GatherND", 11, 2, 2, InferGatherNd, ImportGatherNd},
    {"DepthToSpace", 6, 1, 1, InferDepthToSpace, ImportDepthToSpace},
    {"SpaceToDepth", 6, 1, 1, InferSpaceToDepth, ImportSpaceToDepth},
    {"Trilu", 14, 1, 2, InferTrilu, ImportTrilu},
};

}  // namespace

absl::Span<const OpDef> IndexingOps() { return kOps; }

}  // namespace tilewright
