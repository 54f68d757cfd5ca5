// Col2Im: blocks of an image put back where a sliding window took them from;
// where several overlap, their sum. An element asks each place of the window
// for the block that has it there, so that there is no order of additions.
//
// Without dilation the window's places at element o are those that leave the
// rest of (o + pad) / stride: every stride-th.
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/window.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

constexpr int64_t kLargest = int64_t{1} << 20;

// The product of positive numbers, or of the first of them that exceed `most`.
int64_t ProductUpTo(int64_t most, absl::Span<const int64_t> numbers) {
  int64_t product = 1;
  for (const int64_t number : numbers) {
    product *= number;
    if (product > most) break;
  }
  return product;
}

// By dimension of the image: `input` is its extent, `output` how many blocks
// lie along it. Blocks fit the shape of input 0.
absl::StatusOr<std::vector<WindowDim>> ReadBlocks(const OpContext& op) {
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> image, op.ConstInts(1));
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> block, op.ConstInts(2));
  const size_t count = image.size();
  if (count == 0 || block.size() != count || op.rank(0) != 3) {
    return op.Error("input of shape ", ShapeText(op.shape(0)),
                    ", an image of shape ", ShapeText(image),
                    " and blocks of shape ", ShapeText(block),
                    " do not fit each other");
  }
  TW_ASSIGN_OR_RETURN(const WindowAttributes attributes,
                      ReadWindowAttributes(op, count));
  std::vector<WindowDim> window(count);
  std::vector<int64_t> blocks;
  for (size_t d = 0; d < count; ++d) {
    WindowDim& dim = window[d];
    dim.input = image[d];
    dim.kernel = block[d];
    dim.stride = attributes.strides[d];
    dim.dilation = attributes.dilations[d];
    dim.pad_before = attributes.pads[d];
    dim.pad_after = attributes.pads[count + d];
    const int64_t room = dim.input + dim.pad_before + dim.pad_after -
                         (dim.kernel - 1) * dim.dilation - 1;
    if (dim.input < 1 || dim.kernel < 1 || dim.input > kLargest ||
        dim.kernel > kLargest || room < 0) {
      return op.Error("blocks of shape ", ShapeText(block),
                      " do not fit into an image of shape ", ShapeText(image));
    }
    dim.output = room / dim.stride + 1;
    blocks.push_back(dim.output);
  }
  const Shape& x = op.shape(0);
  if (x[1] % ProductUpTo(x[1], block) != 0 ||
      ProductUpTo(x[2], blocks) != x[2]) {
    return op.Error("input of shape ", ShapeText(x), " does not hold ",
                    ShapeText(blocks), " blocks of shape ", ShapeText(block));
  }
  return window;
}

absl::Status InferCol2Im(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  TW_ASSIGN_OR_RETURN(const std::vector<WindowDim> window, ReadBlocks(op));
  Shape shape = op.shape(0);
  shape.pop_back();
  for (const WindowDim& dim : window) {
    shape[1] /= dim.kernel;
    shape.push_back(dim.input);
  }
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// How many places of the window an element may be in, along a dimension.
int64_t PlacesOf(const WindowDim& dim) {
  return dim.dilation == 1 ? CeilDiv(dim.kernel, dim.stride) : dim.kernel;
}

struct Place {
  Expr in_block, block;
  Expr exists;
};

// Place number `number` of element `at`.
Place PlaceOf(const WindowDim& dim, const Expr& at, const Expr& number) {
  const Expr stride = Expr::Int(dim.stride);
  const Expr from = at + Expr::Int(dim.pad_before);
  Place place;
  if (dim.dilation == 1) {
    place.in_block = FloorMod(from, stride) + number * stride;
    place.block = FloorDiv(from, stride) - number;
    if (dim.kernel % dim.stride != 0)
      place.exists = InBounds(place.in_block, dim.kernel, false, true);
  } else {
    const Expr start = from - number * Expr::Int(dim.dilation);
    place.in_block = number;
    place.block = FloorDiv(start, stride);
    if (dim.stride > 1)
      place.exists = Binary(Op::kEq, FloorMod(start, stride), Expr::Int(0));
  }
  place.exists =
      AndAll(place.exists, InBounds(place.block, dim.output, true, true));
  return place;
}

absl::Status ImportCol2Im(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const std::vector<WindowDim> window, ReadBlocks(op));
  const int spatial = static_cast<int>(window.size());
  const Shape& image = op.output(0).shape;
  Shape apart = {image[0], image[1]};
  for (const WindowDim& dim : window) apart.push_back(dim.kernel);
  for (const WindowDim& dim : window) apart.push_back(dim.output);
  const TensorId blocks =
      EmitReshaped(in, in.Name(0, "blocks"), in.input(0), apart);
  std::vector<NamedAxis> places;
  for (int d = 0; d < spatial; ++d) {
    places.push_back(
        {absl::StrCat("k", SpatialName(d, spatial)), PlacesOf(window[d])});
  }
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const Terms term = [&](Index index, Index number) {
    std::vector<Expr> at(2 + 2 * window.size());
    at[0] = index[0];
    at[1] = index[1];
    Expr exists;
    for (int d = 0; d < spatial; ++d) {
      const Place place = PlaceOf(window[d], index[2 + d], number[d]);
      at[2 + d] = place.in_block;
      at[2 + spatial + d] = place.block;
      exists = AndAll(exists, place.exists);
    }
    return SelectExpr(exists, CastTo(acc, in.At(blocks, std::move(at))),
                      Literal(acc, 0));
  };
  in.SetOutput(0, in.Reduction(in.Name(), op.dtype(0), AxesOf(image), places,
                               Combiner::Kind::kSum, HintOf(op), term));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Col2Im", 18, 3, 3, InferCol2Im, ImportCol2Im},
};

}  // namespace

absl::Span<const OpDef> Col2ImOps() { return kOps; }

}  // namespace tilewright
