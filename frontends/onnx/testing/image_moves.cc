#include <algorithm>
#include <cmath>
#include <vector>

#include "frontends/onnx/testing/random_blocks.h"

namespace tilewright {
namespace {

constexpr int64_t kLargestSide = 40;

// Channels change places: [g, c/g] becomes [c/g, g].
Value ChannelShuffle(NetworkDraft& net, const Value& x, int64_t groups) {
  const int64_t n = x.shape[0], c = x.shape[1], h = x.shape[2], w = x.shape[3];
  const Value apart = net.Reshape(x, {n, groups, c / groups, h, w});
  return net.Reshape(net.Transpose(apart, {0, 2, 1, 3, 4}), x.shape);
}

Value DepthToSpace(NetworkDraft& net, const Value& x) {
  const bool crd = net.Chance(0.6);
  return net.Node(
      "DepthToSpace", {x.name},
      {x.shape[0], x.shape[1] / 4, x.shape[2] * 2, x.shape[3] * 2},
      [&](NodeBuilder node) {
        node.Int("blocksize", 2).String("mode", crd ? "CRD" : "DCR");
      });
}

Value SpaceToDepth(NetworkDraft& net, const Value& x) {
  return net.Node("SpaceToDepth", {x.name},
                  {x.shape[0], x.shape[1] * 4, x.shape[2] / 2, x.shape[3] / 2},
                  [](NodeBuilder node) { node.Int("blocksize", 2); });
}

Value Resize(NetworkDraft& net, const Value& x) {
  const bool linear = net.Chance(0.5), twice = net.Chance(0.6);
  std::vector<int64_t> shape = x.shape;
  for (const int axis : {2, 3})
    shape[axis] = twice ? 2 * shape[axis]
                        : std::max<int64_t>(
                              1, shape[axis] + net.random.UniformInt(-3, 7));
  std::vector<std::string> inputs = {x.name, "", ""};
  if (twice && net.Chance(0.5)) {
    inputs[2] = net.Floats({4}, {1, 1, 2, 2});
  } else {
    inputs.push_back(net.Ints(shape));
  }
  const char* const coordinates =
      net.Chance(0.5) ? "asymmetric"
                      : (net.Chance(0.5) ? "half_pixel" : "pytorch_half_pixel");
  return net.Node("Resize", inputs, shape, [&](NodeBuilder node) {
    node.String("mode", linear ? "linear" : "nearest")
        .String("coordinate_transformation_mode", coordinates);
    if (!linear) node.String("nearest_mode", "floor");
  });
}

Value Pad(NetworkDraft& net, const Value& x) {
  const char* const modes[] = {"constant", "reflect", "edge"};
  const char* const mode = modes[net.random.Index(3)];
  std::vector<int64_t> pads(8, 0), shape = x.shape;
  for (const int axis : {2, 3}) {
    const int64_t most = std::min<int64_t>(3, x.shape[axis] - 1);
    pads[axis] = net.random.UniformInt(0, most);
    pads[4 + axis] = net.random.UniformInt(0, most);
    shape[axis] += pads[axis] + pads[4 + axis];
  }
  return net.Node("Pad", {x.name, net.Ints(pads)}, shape,
                  [&](NodeBuilder node) { node.String("mode", mode); });
}

Value Crop(NetworkDraft& net, const Value& x) {
  const int axis = static_cast<int>(net.random.UniformInt(1, 3));
  const int64_t extent = x.shape[axis];
  if (extent < 4) return x;
  const int64_t begin = net.random.UniformInt(0, extent / 4);
  return net.Slice(x, axis, begin,
                   net.random.UniformInt(extent * 3 / 4, extent));
}

std::string Scales(NetworkDraft& net, int64_t count) {
  return net.Uniform({count}, 0.5, 1.5);
}

Value GroupNorm(NetworkDraft& net, const Value& x, int64_t groups) {
  const int64_t n = x.shape[0], c = x.shape[1];
  const int64_t elements = c / groups * x.shape[2] * x.shape[3];
  Value y = net.Reshape(x, {n, groups, elements});
  y = net.Node("InstanceNormalization",
               {y.name, net.Floats({groups}, std::vector<float>(groups, 1)),
                net.Floats({groups}, std::vector<float>(groups, 0))},
               y.shape);
  y = net.Reshape(y, x.shape);
  y = net.Binary("Mul", y, {net.Uniform({c, 1, 1}, 0.5, 1.5), {c, 1, 1}});
  return net.Binary("Add", y, {net.Normal({c, 1, 1}, 0.1), {c, 1, 1}});
}

// A layer norm over channels, as ConvNeXt has it.
Value ChannelsLastNorm(NetworkDraft& net, const Value& x) {
  const int64_t c = x.shape[1];
  Value y = net.Transpose(x, {0, 2, 3, 1});
  y = net.Node("LayerNormalization",
               {y.name, Scales(net, c), net.Normal({c}, 0.1)}, y.shape);
  return net.Transpose(y, {0, 3, 1, 2});
}

}  // namespace

Value RandomImageNorm(NetworkDraft& net, const Value& x) {
  const int64_t c = x.shape[1];
  const int choice = static_cast<int>(net.random.UniformInt(0, 10));
  if (choice == 10)
    return net.Node("LRN", {x.name}, x.shape,
                    [](NodeBuilder node) { node.Int("size", 5); });
  if (choice == 0 && c > 3) return ChannelsLastNorm(net, x);
  if (choice <= 2 && x.shape[2] * x.shape[3] > 8) {
    for (const int64_t groups : {4, 3, 2, 1}) {
      if (choice == 1 && c % groups == 0) return GroupNorm(net, x, groups);
    }
    return net.Node("InstanceNormalization",
                    {x.name, Scales(net, c), net.Normal({c}, 0.1)}, x.shape);
  }
  return net.Node("BatchNormalization",
                  {x.name, Scales(net, c), net.Normal({c}, 0.1),
                   net.Normal({c}, 0.1), Scales(net, c)},
                  x.shape);
}

Value RandomImageMove(NetworkDraft& net, const Value& x) {
  const int64_t c = x.shape[1], h = x.shape[2], w = x.shape[3];
  const bool small = 2 * std::max(h, w) <= kLargestSide;
  switch (net.random.UniformInt(0, 7)) {
    case 0:
      for (const int64_t groups : {4, 3, 2}) {
        if (c % groups == 0) return ChannelShuffle(net, x, groups);
      }
      return Pad(net, x);
    case 1:
      if (small)
        return DepthToSpace(
            net,
            c % 4 == 0 ? x : net.Conv(x, 4 * net.random.UniformInt(1, 8), {}));
      if (h % 2 == 0 && w % 2 == 0 && c <= 16) return SpaceToDepth(net, x);
      return Crop(net, x);
    case 2:
    case 3:
      return small ? Resize(net, x) : Crop(net, x);
    case 4:
      return Pad(net, x);
    case 5:
      if (h % 2 == 0 && w % 2 == 0 && c <= 16) return SpaceToDepth(net, x);
      return net.Transpose(x, {0, 1, 3, 2});
    case 6:
      return RandomImageNorm(net, x);
    default:
      return Crop(net, x);
  }
}

}  // namespace tilewright
