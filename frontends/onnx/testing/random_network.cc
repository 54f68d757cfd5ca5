#include "frontends/onnx/testing/random_network.h"

#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/testing/network_draft.h"
#include "frontends/onnx/testing/random_blocks.h"

namespace tilewright {
namespace {

// No further block once there are as many multiply-adds.
constexpr int64_t kEnoughMultiplyAdds = int64_t{1} << 21;
constexpr int64_t kMostChannels = 80;

int64_t Side(NetworkDraft& net) {
  return net.Chance(0.1) ? net.random.UniformInt(1, 4)
                         : net.random.UniformInt(5, 31);
}

Value ImageInput(NetworkDraft& net) {
  const std::vector<int64_t> shape = {
      net.Pick({1, 1, 1, 1, 2, 3}),
      net.Chance(0.4) ? net.Pick({1, 3, 3, 4}) : RandomChannels(net), Side(net),
      Side(net)};
  net.builder.Input("x", shape);
  return {"x", shape};
}

// Given, or looked up in a table.
Value TokenInput(NetworkDraft& net) {
  const int64_t n = net.Pick({1, 1, 1, 2, 3}), t = net.random.UniformInt(1, 40),
                d = net.Chance(0.5) ? net.Pick({8, 16, 24, 32, 48})
                                    : net.random.UniformInt(4, 45);
  if (net.Chance(0.6)) {
    net.builder.Input("x", {n, t, d});
    return {"x", {n, t, d}};
  }
  const int64_t words = net.random.UniformInt(5, 60);
  net.builder.Input("ids", {n, t}, onnx::TensorProto::INT64);
  const Value looked_up =
      net.Node("Gather", {net.Normal({words, d}, 1), "ids"}, {n, t, d});
  return net.Binary("Add", looked_up, {net.Normal({t, d}, 0.5), {t, d}});
}

// Classes of an image or of tokens.
Value Head(NetworkDraft& net, const Value& x) {
  const int64_t n = x.shape[0];
  const bool image = x.shape.size() == 4;
  Value pooled =
      image ? net.Node("GlobalAveragePool", {x.name}, {n, x.shape[1], 1, 1})
            : net.Reduce("ReduceMean", x, {1});
  const int64_t features = image ? x.shape[1] : x.shape[2];
  pooled = image ? net.Node("Flatten", {pooled.name}, {n, features})
                 : net.Reshape(pooled, {n, features});
  const int64_t classes = net.random.UniformInt(2, 40);
  const Value scores =
      net.Chance(0.5)
          ? net.Node("Gemm",
                     {pooled.name, net.Normal({classes, features}, 0.3),
                      net.Normal({classes}, 0.1)},
                     {n, classes},
                     [](NodeBuilder node) { node.Int("transB", 1); })
          : net.Linear(pooled, classes);
  if (net.Chance(0.2))
    return net.Node("LogSoftmax", {scores.name}, scores.shape,
                    [](NodeBuilder node) { node.Int("axis", 1); });
  return net.Chance(0.4) ? net.Softmax(scores, 1) : scores;
}

}  // namespace

onnx::ModelProto RandomNetwork(uint64_t seed) {
  NetworkDraft net(seed);
  const bool image = net.Chance(0.7);
  Value x = image ? ImageInput(net) : TokenInput(net);
  std::vector<std::string> results;
  const int64_t blocks = net.random.UniformInt(1, 5);
  for (int64_t b = 0; b < blocks; ++b) {
    if (net.multiply_adds > kEnoughMultiplyAdds) break;
    x = image ? RandomImageBlock(net, x) : RandomTokenBlock(net, x);
    if (image && x.shape[1] > kMostChannels) x = net.Slice(x, 1, 0, 24);
    if (b == 0 && blocks > 1 && net.Chance(0.15)) results.push_back(x.name);
  }
  if (net.Chance(0.3)) x = Head(net, x);
  // An output of its own, even where no block did anything.
  results.push_back(net.Scalar("Mul", x, 1.5F).name);
  for (const std::string& name : results) net.builder.Output(name);
  return std::move(net.builder.model());
}

}  // namespace tilewright
