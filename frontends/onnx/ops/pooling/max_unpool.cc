// MaxUnpool: a tensor of zeros with the elements where their indices say. Each
// element of the result looks for the last one that has its index, as a scatter
// does: among all, or among the windows over it where a MaxPool with the same
// windows made the indices.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/window.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

// Indices compared in one node: some seconds of a core.
constexpr int64_t kMostComparisons = int64_t{1} << 33;
// Far above what any tensor allows, and sizes of it still fit.
constexpr int64_t kMostExtent = int64_t{1} << 22;

// The shape of what was pooled, into which the indices count: what the windows
// span, without the padding.
absl::StatusOr<Shape> PooledShape(const OpContext& op) {
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 3));
  Shape shape = op.shape(0);
  const size_t count = shape.size() - 2;
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> kernel,
                      ReadInts(op, "kernel_shape", count, 1, 1));
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> strides,
                      ReadInts(op, "strides", count, 1, 1));
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> pads,
                      ReadInts(op, "pads", 2 * count, 0, 0));
  for (const int64_t extent : shape) {
    if (extent < 1 || extent > kMostExtent)
      return op.Unsupported("an input of shape ", ShapeText(shape));
  }
  for (size_t d = 0; d < count; ++d) {
    int64_t& extent = shape[2 + d];
    extent = (extent - 1) * strides[d] + kernel[d] - pads[d] - pads[count + d];
    if (extent < 1) {
      return op.Error("windows on input ", ShapeText(op.shape(0)),
                      " span no more than the padding; fix the model");
    }
  }
  return shape;
}

absl::Status InferMaxUnpool(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const Shape pooled, PooledShape(op));
  if (op.shape(1) != op.shape(0)) {
    return op.Error("indices of shape ", ShapeText(op.shape(1)),
                    " do not fit the input ", ShapeText(op.shape(0)));
  }
  Shape shape = pooled;
  if (op.has_input(2)) {
    TW_ASSIGN_OR_RETURN(shape, op.ConstInts(2));
    bool fits = shape.size() == pooled.size() && shape[0] == pooled[0] &&
                shape[1] == pooled[1];
    for (size_t d = 2; fits && d < shape.size(); ++d)
      fits = shape[d] >= pooled[d];
    if (!fits) {
      return op.Error("output_shape is ", ShapeText(shape), " where ",
                      ShapeText(pooled), " or more positions are needed");
    }
  }
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// Whether the indices are those of a MaxPool with the same windows over a
// tensor of shape `pooled`: each lies in its own window then.
bool AreOfSameWindows(const ImportContext& in, const Shape& pooled) {
  const OnnxNode& node = in.op().node();
  const OnnxNode* pool = in.op().Producer(1);
  if (pool == nullptr || !pool->Is("MaxPool")) return false;
  const size_t count = pooled.size() - 2;
  const auto is_alike = [&](const char* name, size_t entries, int64_t value) {
    return node.Ints(name, Shape(entries, value)) ==
           pool->Ints(name, Shape(entries, value));
  };
  const auto padding = pool->attributes.find("auto_pad");
  return is_alike("kernel_shape", count, 1) && is_alike("strides", count, 1) &&
         is_alike("pads", 2 * count, 0) &&
         pool->Ints("dilations", Shape(count, 1)) == Shape(count, 1) &&
         (padding == pool->attributes.end() || padding->second.s == "NOTSET") &&
         pool->Int("storage_order", 0) == 0 &&
         in.shape_of(in.TensorOf(pool->inputs[0])) == pooled;
}

// The elements that may have the index of an element of the result: `axes` run
// over them.
struct Candidates {
  std::vector<NamedAxis> axes;
  std::function<FramedIndex(Index index, Index over)> at;
};

// All elements.
Candidates AllElements(const Shape& shape) {
  Candidates result;
  for (size_t d = 0; d < shape.size(); ++d)
    result.axes.push_back({absl::StrCat("e", d), shape[d]});
  result.at = [](Index, Index over) {
    return FramedIndex{{over.begin(), over.end()}, {}};
  };
  return result;
}

// Those whose windows are over it.
Candidates WindowsOver(const OpContext& op) {
  const Shape& shape = op.shape(0);
  const size_t count = shape.size() - 2;
  const Shape kernel = op.node().Ints("kernel_shape", Shape(count, 1));
  const Shape strides = op.node().Ints("strides", Shape(count, 1));
  const Shape pads = op.node().Ints("pads", Shape(2 * count, 0));
  Candidates result;
  for (size_t d = 0; d < count; ++d)
    result.axes.push_back(
        {absl::StrCat("e", d), CeilDiv(kernel[d], strides[d])});
  result.at = [=](Index index, Index over) {
    FramedIndex element = {{index[0], index[1]}, {}};
    for (size_t d = 0; d < count; ++d) {
      const Expr last =
          FloorDiv(index[2 + d] + Expr::Int(pads[d]), Expr::Int(strides[d]));
      element.at.push_back(last - over[d]);
      element.inside =
          AndAll(element.inside,
                 InBounds(element.at.back(), shape[2 + d], true, true));
    }
    return element;
  };
  return result;
}

// For each element of `pooled` the number of the last one with its index, by
// indices that are known.
absl::StatusOr<HostTensor> LastKnown(const OpContext& op, const Shape& pooled) {
  const HostTensor& indices = *op.input(1).constant;
  TW_ASSIGN_OR_RETURN(HostTensor last, op.NewTensor(DType::kInt64, pooled));
  const absl::Span<int64_t> slots = last.as<int64_t>();
  std::fill(slots.begin(), slots.end(), -1);
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t at = indices.Get(i).i;
    if (at >= 0 && at < last.num_elements()) slots[at] = i;
  }
  return last;
}

// The same by indices that are not; -1: there is none.
absl::StatusOr<TensorId> LastWithIndex(ImportContext& in, const Shape& pooled) {
  const OpContext& op = in.op();
  const Shape& shape = op.shape(0);
  const bool is_near = AreOfSameWindows(in, pooled);
  const int64_t targets = Product(pooled, 0, pooled.size());
  const int64_t elements = Product(shape, 0, shape.size());
  if (!is_near && elements > kMostComparisons / targets) {
    return op.Unsupported("finding ", targets, " positions among ", elements,
                          " indices that are not those of a MaxPool with the "
                          "same windows");
  }
  const Candidates candidates = is_near ? WindowsOver(op) : AllElements(shape);
  const TensorId indices = in.input(1);
  return in.Reduction(
      in.Name(0, "last"), DType::kInt64, AxesOf(pooled), candidates.axes,
      Combiner::Kind::kMax, "scatter", [&](Index index, Index over) {
        const FramedIndex element = candidates.at(index, over);
        const Expr hits = Binary(Op::kEq, in.At(indices, element.at),
                                 FlatPosition(index, pooled));
        const Expr none = Expr::Int(-1);
        const Expr number =
            SelectExpr(hits, FlatPosition(element.at, shape), none);
        return element.inside ? SelectExpr(element.inside, number, none)
                              : number;
      });
}

absl::Status ImportMaxUnpool(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const Shape pooled, PooledShape(op));
  TensorId last = -1;
  if (op.input(1).constant != nullptr) {
    TW_ASSIGN_OR_RETURN(HostTensor known, LastKnown(op, pooled));
    last = in.Constant(in.Name(0, "last"), std::move(known));
  } else {
    TW_ASSIGN_OR_RETURN(last, LastWithIndex(in, pooled));
  }
  const int64_t elements = Product(op.shape(0), 0, op.shape(0).size());
  const TensorId flat =
      EmitReshaped(in, in.Name(0, "flat"), in.input(0), {elements});
  const Shape& shape = op.output(0).shape;
  const std::vector<int64_t> before(shape.size(), 0);
  std::vector<int64_t> behind;
  for (size_t d = 0; d < shape.size(); ++d)
    behind.push_back(shape[d] - pooled[d]);
  const Expr zero = Literal(op.dtype(0), 0);
  in.EmitElementwise(0, "scatter", [&](Index index) {
    const FramedIndex framed = WithoutFrame(index, pooled, before, behind);
    const Expr hit = in.At(last, framed.at);
    const Expr from = Binary(Op::kMin, Binary(Op::kMax, hit, Expr::Int(0)),
                             Expr::Int(elements - 1));
    const Expr value = SelectExpr(Binary(Op::kGe, hit, Expr::Int(0)),
                                  in.At(flat, {from}), zero);
    return framed.inside ? SelectExpr(framed.inside, value, zero) : value;
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"MaxUnpool", 9, 2, 3, InferMaxUnpool, ImportMaxUnpool},
};

}  // namespace

absl::Span<const OpDef> MaxUnpoolOps() { return kOps; }

}  // namespace tilewright
