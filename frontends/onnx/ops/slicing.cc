// Parts of tensors, and tensors with a frame.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

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

absl::Status EmitPad(ImportContext& in, const PadSpec& spec) {
  const OpContext& op = in.op();
  const TensorId x = in.input(0);
  if (op.shape(0) == op.output(0).shape &&
      std::all_of(spec.before.begin(), spec.before.end(),
                  [](int64_t pad) { return pad == 0; })) {
    in.SetOutput(0, x);
    return absl::OkStatus();
  }
  const TensorId fill = op.has_input(2) ? in.input(2) : -1;
  in.EmitElementwise(0, "pad", [&](Index index) {
    FramedIndex framed =
        WithoutFrame(index, op.shape(0), spec.before, spec.after);
    for (size_t d = 0; d < index.size(); ++d) {
      if (spec.before[d] > 0 || spec.after[d] > 0)
        framed.at[d] = Fold(framed.at[d], op.shape(0)[d], spec.mode);
    }
    const Expr value = in.At(x, std::move(framed.at));
    if (spec.mode != PadMode::kConstant || !framed.inside) return value;
    const Expr other = fill >= 0 ? in.LoadAligned(fill, index, 0)
                                 : Literal(op.dtype(0), op.Float("value", 0));
    return SelectExpr(framed.inside, value, other);
  });
  return absl::OkStatus();
}

absl::Status ImportPad(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const PadSpec spec, ReadPad(in.op()));
  return EmitPad(in, spec);
}

// Half of what is cropped or filled up lies before, and no more of an odd
// number.
absl::StatusOr<PadSpec> ReadCenterCropPad(const OpContext& op) {
  const int rank = op.rank(0);
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, op.ConstInts(1));
  std::vector<int64_t> axes = op.Ints("axes");
  if (!op.HasAttribute("axes")) {
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  }
  TW_RETURN_IF_ERROR(op.Axes(axes, rank));
  if (sizes.size() != axes.size()) {
    return op.Error("there are ", sizes.size(), " sizes for ", axes.size(),
                    " dimensions");
  }
  PadSpec spec;
  spec.before.assign(rank, 0);
  spec.after.assign(rank, 0);
  for (size_t k = 0; k < axes.size(); ++k) {
    TW_ASSIGN_OR_RETURN(const int axis, op.Axis(axes[k], rank));
    if (sizes[k] < 0) {
      return op.Error("sizes ", ShapeText(sizes), " are out of range");
    }
    const int64_t more = sizes[k] - op.shape(0)[axis];
    spec.before[axis] = more / 2;
    spec.after[axis] = more - more / 2;
  }
  return spec;
}

absl::Status InferCenterCropPad(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const PadSpec spec, ReadCenterCropPad(op));
  Shape shape = op.shape(0);
  for (size_t d = 0; d < shape.size(); ++d)
    shape[d] += spec.before[d] + spec.after[d];
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportCenterCropPad(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const PadSpec spec, ReadCenterCropPad(in.op()));
  return EmitPad(in, spec);
}

constexpr OpDef kOps[] = {
    {"Slice", 6, 1, 1, InferSlice, ImportSlice},
    {"Slice", 10, 3, 5, InferSlice, ImportSlice},
    {"Split", 6, 1, 1, InferSplit, ImportSplit},
    {"Split", 13, 1, 2, InferSplit, ImportSplit},
    {"Pad", 6, 1, 1, InferPad, ImportPad},
    {"Pad", 11, 2, 3, InferPad, ImportPad},
    {"Pad", 18, 2, 4, InferPad, ImportPad},
    {"CenterCropPad", 18, 2, 2, InferCenterCropPad, ImportCenterCropPad},
};

}  // namespace

absl::Span<const OpDef> SlicingOps() { return kOps; }

}  // namespace tilewright
