#include "frontends/onnx/testing/network_draft.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace tilewright {
namespace {

int64_t Elements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

std::vector<int64_t> Broadcast(std::vector<int64_t> a, std::vector<int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t& extent = a[a.size() - b.size() + i];
    extent = std::max(extent, b[i]);
  }
  return a;
}

// Outputs of a window along one axis.
int64_t WindowExtent(int64_t in, int64_t kernel, const ConvShape& shape,
                     int64_t before, int64_t after) {
  const int64_t reach = (kernel - 1) * shape.dilation + 1;
  TW_CHECK_GE(in + before + after, reach);
  return (in + before + after - reach) / shape.stride + 1;
}

std::vector<int64_t> WindowResult(const Value& x, int64_t channels,
                                  const ConvShape& shape) {
  return {x.shape[0], channels,
          WindowExtent(x.shape[2], shape.kernel_h, shape, shape.pads[0],
                       shape.pads[2]),
          WindowExtent(x.shape[3], shape.kernel_w, shape, shape.pads[1],
                       shape.pads[3])};
}

}  // namespace

ConvShape Same(int64_t kernel, int64_t dilation) {
  ConvShape shape;
  shape.kernel_h = shape.kernel_w = kernel;
  shape.dilation = dilation;
  shape.pads.assign(4, (kernel - 1) * dilation / 2);
  return shape;
}

std::string NetworkDraft::NewName(const char* prefix) {
  return prefix + std::to_string(names_++);
}

std::string NetworkDraft::Normal(const std::vector<int64_t>& shape,
                                 double deviation, double mean) {
  std::vector<float> values(Elements(shape));
  for (float& value : values)
    value = static_cast<float>(mean + deviation * random.Normal());
  return Floats(shape, values);
}

std::string NetworkDraft::Uniform(const std::vector<int64_t>& shape, double low,
                                  double high) {
  std::vector<float> values(Elements(shape));
  for (float& value : values)
    value = static_cast<float>(random.Uniform(low, high));
  return Floats(shape, values);
}

std::string NetworkDraft::Floats(const std::vector<int64_t>& shape,
                                 const std::vector<float>& values) {
  std::string name = NewName("p");
  builder.Floats(name, shape, values);
  return name;
}

std::string NetworkDraft::Ints(const std::vector<int64_t>& values) {
  std::string name = NewName("i");
  builder.Ints(name, {static_cast<int64_t>(values.size())}, values);
  return name;
}

Value NetworkDraft::Node(const std::string& op,
                         const std::vector<std::string>& inputs,
                         std::vector<int64_t> shape,
                         const std::function<void(NodeBuilder)>& attributes) {
  Value result = {NewName("t"), std::move(shape)};
  attributes(builder.Node(op, inputs, {result.name}));
  return result;
}

Value NetworkDraft::Unary(const std::string& op, const Value& x) {
  return Node(op, {x.name}, x.shape);
}

Value NetworkDraft::Binary(const std::string& op, const Value& a,
                           const Value& b) {
  return Node(op, {a.name, b.name}, Broadcast(a.shape, b.shape));
}

Value NetworkDraft::Scalar(const std::string& op, const Value& x,
                           float scalar) {
  return Node(op, {x.name, Floats({}, {scalar})}, x.shape);
}

Value NetworkDraft::Conv(const Value& x, int64_t channels,
                         const ConvShape& shape) {
  const int64_t inputs = x.shape[1] / shape.groups;
  const int64_t terms = inputs * shape.kernel_h * shape.kernel_w;
  std::vector<std::string> operands = {
      x.name, Normal({channels, inputs, shape.kernel_h, shape.kernel_w},
                     std::sqrt(1.5 / static_cast<double>(terms)))};
  if (Chance(0.6)) operands.push_back(Normal({channels}, 0.1));
  Value result =
      Node("Conv", operands, WindowResult(x, channels, shape),
           [&](NodeBuilder node) {
             node.Ints("strides", {shape.stride, shape.stride})
                 .Ints("dilations", {shape.dilation, shape.dilation})
                 .Ints("kernel_shape", {shape.kernel_h, shape.kernel_w})
                 .Ints("pads", shape.pads)
                 .Int("group", shape.groups);
           });
  multiply_adds += Elements(result.shape) * terms;
  return result;
}

Value NetworkDraft::ConvTranspose(const Value& x, int64_t channels,
                                  int64_t kernel, int64_t stride) {
  const int64_t pad = (kernel - stride) / 2;
  const auto extent = [&](int64_t in) {
    return (in - 1) * stride + kernel - 2 * pad;
  };
  const double terms = static_cast<double>(x.shape[1] * kernel * kernel) /
                       static_cast<double>(stride * stride);
  const Value result = Node(
      "ConvTranspose",
      {x.name,
       Normal({x.shape[1], channels, kernel, kernel}, std::sqrt(1.5 / terms))},
      {x.shape[0], channels, extent(x.shape[2]), extent(x.shape[3])},
      [&](NodeBuilder node) {
        node.Ints("strides", {stride, stride})
            .Ints("kernel_shape", {kernel, kernel})
            .Ints("pads", {pad, pad, pad, pad});
      });
  multiply_adds += Elements(result.shape) * x.shape[1] * kernel * kernel;
  return result;
}

Value NetworkDraft::MatMul(const Value& a, const Value& b) {
  const size_t rank = a.shape.size();
  std::vector<int64_t> shape = a.shape;
  shape[rank - 1] = b.shape.back();
  multiply_adds += Elements(shape) * a.shape.back();
  return Node("MatMul", {a.name, b.name}, std::move(shape));
}

Value NetworkDraft::Linear(const Value& x, int64_t features) {
  const int64_t terms = x.shape.back();
  const Value weights = {
      Normal({terms, features}, std::sqrt(1.0 / static_cast<double>(terms))),
      {terms, features}};
  Value result = MatMul(x, weights);
  if (Chance(0.7))
    result = Binary("Add", result, {Normal({features}, 0.1), {features}});
  return result;
}

Value NetworkDraft::Reshape(const Value& x, const std::vector<int64_t>& shape) {
  return Node("Reshape", {x.name, Ints(shape)}, shape);
}

Value NetworkDraft::Transpose(const Value& x,
                              const std::vector<int64_t>& order) {
  std::vector<int64_t> shape;
  for (const int64_t dim : order) shape.push_back(x.shape[dim]);
  return Node("Transpose", {x.name}, std::move(shape),
              [&](NodeBuilder node) { node.Ints("perm", order); });
}

Value NetworkDraft::Slice(const Value& x, int axis, int64_t begin,
                          int64_t end) {
  std::vector<int64_t> shape = x.shape;
  shape[axis] = end - begin;
  return Node("Slice", {x.name, Ints({begin}), Ints({end}), Ints({axis})},
              std::move(shape));
}

Value NetworkDraft::Concat(const std::vector<Value>& parts, int axis) {
  std::vector<std::string> names;
  std::vector<int64_t> shape = parts[0].shape;
  shape[axis] = 0;
  for (const Value& part : parts) {
    names.push_back(part.name);
    shape[axis] += part.shape[axis];
  }
  return Node("Concat", names, std::move(shape),
              [&](NodeBuilder node) { node.Int("axis", axis); });
}

std::vector<Value> NetworkDraft::Split(const Value& x, int axis,
                                       const std::vector<int64_t>& sizes) {
  std::vector<Value> parts;
  std::vector<std::string> names;
  for (const int64_t size : sizes) {
    parts.push_back({NewName("t"), x.shape});
    parts.back().shape[axis] = size;
    names.push_back(parts.back().name);
  }
  builder.Node("Split", {x.name, Ints(sizes)}, names).Int("axis", axis);
  return parts;
}

Value NetworkDraft::Reduce(const std::string& op, const Value& x,
                           const std::vector<int64_t>& axes) {
  std::vector<int64_t> shape = x.shape;
  for (const int64_t axis : axes) shape[axis] = 1;
  return Node(op, {x.name}, std::move(shape), [&](NodeBuilder node) {
    node.Ints("axes", axes).Int("keepdims", 1);
  });
}

Value NetworkDraft::Pool(const std::string& op, const Value& x,
                         const ConvShape& shape) {
  const bool with_padding = op == "AveragePool" && Chance(0.5);
  return Node(op, {x.name}, WindowResult(x, x.shape[1], shape),
              [&](NodeBuilder node) {
                node.Ints("strides", {shape.stride, shape.stride})
                    .Ints("kernel_shape", {shape.kernel_h, shape.kernel_w})
                    .Ints("pads", shape.pads);
                if (with_padding) node.Int("count_include_pad", 1);
              });
}

Value NetworkDraft::Softmax(const Value& x, int axis) {
  return Node("Softmax", {x.name}, x.shape,
              [&](NodeBuilder node) { node.Int("axis", axis); });
}

Value NetworkDraft::Gelu(const Value& x) {
  const Value erf = Unary("Erf", Scalar("Div", x, 1.41421356F));
  return Scalar("Mul", Binary("Mul", x, Scalar("Add", erf, 1)), 0.5F);
}

Value NetworkDraft::Activation(const Value& x, int channel_axis) {
  switch (random.UniformInt(0, 15)) {
    case 0:
      return Node("Clip", {x.name, Floats({}, {0}), Floats({}, {6})}, x.shape);
    case 1:
      return Unary("Sigmoid", x);
    case 2:
      return Unary("HardSwish", x);
    case 3:
      return Gelu(x);
    case 4:
      return Binary("Mul", x, Unary("Sigmoid", x));  // SiLU
    case 5:
      return Unary("Tanh", x);
    case 6:
      return Node("LeakyRelu", {x.name}, x.shape,
                  [](NodeBuilder node) { node.Float("alpha", 0.1F); });
    case 7: {
      std::vector<int64_t> slopes(x.shape.size() - channel_axis, 1);
      slopes[0] = x.shape[channel_axis];
      return Node("PRelu", {x.name, Uniform(slopes, 0.05, 0.4)}, x.shape);
    }
    case 8:
      return Unary("Elu", x);
    case 9:
      return Unary("HardSigmoid", x);
    case 10:
      return Binary("Mul", x, Unary("Tanh", Unary("Softplus", x)));  // Mish
    default:
      return Unary("Relu", x);
  }
}

}  // namespace tilewright
