#include <algorithm>
#include <vector>

#include "frontends/onnx/testing/random_blocks.h"

namespace tilewright {
namespace {

// Larger images are not attended to: scores grow with the square.
constexpr int64_t kMostPixelTokens = 200;
constexpr int64_t kLargestSide = 40;

int64_t SmallerSide(const Value& x) { return std::min(x.shape[2], x.shape[3]); }

// Norm or not, activation or not.
Value Finish(NetworkDraft& net, Value x) {
  if (net.Chance(0.5)) x = RandomImageNorm(net, x);
  return net.Chance(0.8) ? net.Activation(x) : x;
}

// A convolution of any kind that `x` is large enough for.
Value AnyConv(NetworkDraft& net, const Value& x) {
  const int64_t side = SmallerSide(x), channels = RandomChannels(net);
  switch (net.random.UniformInt(0, 9)) {
    case 0:
      return net.Conv(x, channels, {});
    case 1: {  // strided
      ConvShape shape = Same(net.Pick({1, 3, 3, 5, 7}));
      shape.stride = net.Pick({2, 2, 3});
      return net.Conv(x, channels, shape);
    }
    case 2: {  // dilated
      const int64_t dilation = net.Pick({2, 3});
      return net.Conv(x, channels, Same(3, dilation));
    }
    case 3: {  // grouped
      for (const int64_t groups : {8, 4, 3, 2}) {
        if (x.shape[1] % groups != 0) continue;
        ConvShape shape = Same(net.Pick({1, 3}));
        shape.groups = groups;
        return net.Conv(x, groups * net.random.UniformInt(1, 6), shape);
      }
      return net.Conv(x, channels, Same(3));
    }
    case 4: {  // depthwise, perhaps with a multiplier
      ConvShape shape = Same(net.Pick({3, 3, 5, 7}), net.Pick({1, 1, 2}));
      shape.stride = net.Pick({1, 1, 2});
      shape.groups = x.shape[1];
      return net.Conv(x, x.shape[1] * net.Pick({1, 1, 1, 2}), shape);
    }
    case 5: {  // asymmetric
      ConvShape shape;
      shape.kernel_h = net.Pick({1, 2, 3, 5});
      shape.kernel_w = net.Pick({1, 2, 3, 4});
      for (int i = 0; i < 4; ++i)
        shape.pads[i] = net.random.UniformInt(
            0, i % 2 == 0 ? shape.kernel_h : shape.kernel_w);
      shape.stride = net.Pick({1, 1, 2});
      if (side < 5) return net.Conv(x, channels, Same(3));
      return net.Conv(x, channels, shape);
    }
    case 6: {  // without padding
      ConvShape shape;
      shape.kernel_h = shape.kernel_w = side >= 5 ? net.Pick({3, 5}) : 1;
      return net.Conv(x, channels, shape);
    }
    case 7:
      if (side * 2 > kLargestSide) return net.Conv(x, channels, Same(5));
      return net.ConvTranspose(x, std::min<int64_t>(channels, 24),
                               net.Pick({2, 3, 4}), 2);
    default:
      return net.Conv(x, channels, Same(3));
  }
}

Value PlainConv(NetworkDraft& net, const Value& x) {
  return Finish(net, AnyConv(net, x));
}

// Two convolutions beside a shortcut.
Value Residual(NetworkDraft& net, const Value& x) {
  const int64_t channels = net.Chance(0.5) ? x.shape[1] : RandomChannels(net);
  ConvShape first = Same(3);
  first.stride = net.Pick({1, 1, 2});
  Value y = Finish(net, net.Conv(x, channels, first));
  y = net.Conv(y, channels, Same(net.Pick({1, 3, 3})));
  if (net.Chance(0.5)) y = RandomImageNorm(net, y);
  Value shortcut = x;
  if (channels != x.shape[1] || first.stride > 1) {
    ConvShape one;
    one.stride = first.stride;
    shortcut = net.Conv(x, channels, one);
  }
  y = net.Binary("Add", y, shortcut);
  return net.Chance(0.7) ? net.Activation(y) : y;
}

Value SqueezeExcite(NetworkDraft& net, const Value& x) {
  const Value mean = net.Chance(0.5) ? net.Node("GlobalAveragePool", {x.name},
                                                {x.shape[0], x.shape[1], 1, 1})
                                     : net.Reduce("ReduceMean", x, {2, 3});
  const int64_t hidden = std::max<int64_t>(1, x.shape[1] / 4);
  Value gate = net.Unary("Relu", net.Conv(mean, hidden, {}));
  gate = net.Conv(gate, x.shape[1], {});
  return net.Binary(
      "Mul", x, net.Unary(net.Chance(0.6) ? "Sigmoid" : "HardSigmoid", gate));
}

// Widened, depthwise, squeezed, projected.
Value InvertedResidual(NetworkDraft& net, const Value& x) {
  const int64_t wide = std::min<int64_t>(72, x.shape[1] * net.Pick({2, 3, 4}));
  Value y = Finish(net, net.Conv(x, wide, {}));
  ConvShape depthwise = Same(net.Pick({3, 5}));
  depthwise.groups = wide;
  depthwise.stride = net.Pick({1, 1, 2});
  y = Finish(net, net.Conv(y, wide, depthwise));
  if (net.Chance(0.5)) y = SqueezeExcite(net, y);
  y = net.Conv(y, x.shape[1], {});
  return depthwise.stride == 1 ? net.Binary("Add", x, y) : y;
}

Value Pooling(NetworkDraft& net, const Value& x) {
  if (net.Chance(0.15))  // the brightest pixel, and the others beside it
    return net.Binary(
        "Sub", x,
        net.Node("GlobalMaxPool", {x.name}, {x.shape[0], x.shape[1], 1, 1}));
  const int64_t side = SmallerSide(x);
  ConvShape shape = Same(net.Pick({2, 3, 3, 5}));
  if (shape.kernel_h == 2 || side < 4) shape.pads = {0, 0, 0, 0};
  if (side < shape.kernel_h) return net.Activation(x);
  shape.stride = net.Pick({1, 2, 2, 3});
  return net.Pool(net.Chance(0.5) ? "MaxPool" : "AveragePool", x, shape);
}

// Branches side by side.
Value Inception(NetworkDraft& net, const Value& x) {
  std::vector<Value> parts = {
      Finish(net, net.Conv(x, RandomChannels(net), {}))};
  parts.push_back(Finish(net, net.Conv(x, RandomChannels(net), Same(3))));
  if (net.Chance(0.5) && SmallerSide(x) >= 3)
    parts.push_back(net.Pool("MaxPool", x, Same(3)));
  if (net.Chance(0.5)) parts.push_back(x);
  return net.Concat(parts, 1);
}

// Half of the channels goes through convolutions, the other beside them.
Value SplitAndJoin(NetworkDraft& net, const Value& x) {
  if (x.shape[1] < 2) return PlainConv(net, x);
  const int64_t half = x.shape[1] / 2;
  std::vector<Value> parts = net.Split(x, 1, {half, x.shape[1] - half});
  Value y = Finish(net, net.Conv(parts[1], parts[1].shape[1], Same(3)));
  if (net.Chance(0.5)) y = net.Binary("Add", y, parts[1]);
  parts.push_back(y);
  if (net.Chance(0.5)) parts.erase(parts.begin() + 1);
  const Value joined = net.Concat(parts, 1);
  return net.Chance(0.5) ? net.Conv(joined, RandomChannels(net), {}) : joined;
}

// Where to look, of statistics over channels.
Value SpatialAttention(NetworkDraft& net, const Value& x) {
  const Value both = net.Concat(
      {net.Reduce("ReduceMean", x, {1}), net.Reduce("ReduceMax", x, {1})}, 1);
  return net.Binary(
      "Mul", x,
      net.Unary("Sigmoid", net.Conv(both, 1, Same(net.Pick({3, 7})))));
}

// Every layer reads all before it, joined anew or beside what was joined.
Value DenseBlock(NetworkDraft& net, const Value& x) {
  std::vector<Value> parts = {x};
  Value all = x;
  const int64_t growth = net.Pick({4, 8, 16, 5});
  const bool anew = net.Chance(0.5);
  for (int layer = 0; layer < 3; ++layer) {
    const Value y =
        net.Conv(Finish(net, all), growth, Same(net.Pick({1, 3, 3})));
    if (!anew) parts = {all};
    parts.push_back(y);
    all = net.Concat(parts, 1);
  }
  return all;
}

// Down, something, up again, beside what there was.
Value UShape(NetworkDraft& net, const Value& x) {
  if (SmallerSide(x) < 4) return PlainConv(net, x);
  ConvShape half;
  half.kernel_h = half.kernel_w = half.stride = 2;
  Value y = net.Chance(0.5) ? net.Pool("MaxPool", x, half)
                            : net.Conv(x, RandomChannels(net), half);
  y = Finish(net, net.Conv(y, RandomChannels(net), Same(3)));
  const std::vector<int64_t> shape = {x.shape[0], y.shape[1], x.shape[2],
                                      x.shape[3]};
  const bool linear = net.Chance(0.5);
  y = net.Node("Resize", {y.name, "", "", net.Ints(shape)}, shape,
               [&](NodeBuilder node) {
                 node.String("mode", linear ? "linear" : "nearest");
               });
  return Finish(net, net.Conv(net.Concat({x, y}, 1), RandomChannels(net),
                              Same(net.Pick({1, 3}))));
}

// Its pixels as tokens, and back.
Value PixelTokens(NetworkDraft& net, const Value& x) {
  const int64_t pixels = x.shape[2] * x.shape[3];
  if (pixels > kMostPixelTokens || x.shape[1] < 2) return PlainConv(net, x);
  const Value flat = net.Reshape(x, {x.shape[0], x.shape[1], pixels});
  const Value y = RandomTokenBlock(net, net.Transpose(flat, {0, 2, 1}));
  return net.Reshape(net.Transpose(y, {0, 2, 1}), x.shape);
}

}  // namespace

int64_t RandomChannels(NetworkDraft& net) {
  return net.Chance(0.5) ? net.Pick({8, 16, 16, 24, 32, 48})
                         : net.random.UniformInt(1, 37);
}

Value RandomImageBlock(NetworkDraft& net, const Value& x) {
  switch (net.random.UniformInt(0, 19)) {
    case 0:
    case 1:
      return Residual(net, x);
    case 12:
      return DenseBlock(net, x);
    case 13:
      return UShape(net, x);
    case 14:
      return RandomChain(net, x);
    case 2:
    case 3:
      return InvertedResidual(net, x);
    case 4:
      return SqueezeExcite(net, x);
    case 5:
      return Pooling(net, x);
    case 6:
      return Inception(net, x);
    case 7:
      return SplitAndJoin(net, x);
    case 8:
      return SpatialAttention(net, x);
    case 9:
      return PixelTokens(net, x);
    case 10:
    case 11:
      return RandomImageMove(net, x);
    default:
      return PlainConv(net, x);
  }
}

}  // namespace tilewright
