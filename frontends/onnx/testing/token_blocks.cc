#include <cmath>
#include <limits>
#include <vector>

#include "frontends/onnx/testing/random_blocks.h"

namespace tilewright {
namespace {

Value LayerNorm(NetworkDraft& net, const Value& x) {
  const int64_t d = x.shape.back();
  return net.Node("LayerNormalization",
                  {x.name, net.Uniform({d}, 0.5, 1.5), net.Normal({d}, 0.1)},
                  x.shape);
}

// x / sqrt(mean(x^2) + epsilon) * scale.
Value RmsNorm(NetworkDraft& net, const Value& x) {
  const int64_t d = x.shape.back();
  const int last = static_cast<int>(x.shape.size()) - 1;
  const Value mean = net.Reduce("ReduceMean", net.Scalar("Pow", x, 2), {last});
  const Value root = net.Unary("Sqrt", net.Scalar("Add", mean, 1e-5F));
  return net.Binary("Mul", net.Binary("Div", x, root),
                    {net.Uniform({d}, 0.5, 1.5), {d}});
}

// The same of its parts, as exporters of old opsets wrote it.
Value WrittenOutNorm(NetworkDraft& net, const Value& x) {
  const int64_t d = x.shape.back();
  const int last = static_cast<int>(x.shape.size()) - 1;
  const Value centered =
      net.Binary("Sub", x, net.Reduce("ReduceMean", x, {last}));
  const Value variance =
      net.Reduce("ReduceMean", net.Binary("Mul", centered, centered), {last});
  const Value root = net.Unary("Sqrt", net.Scalar("Add", variance, 1e-5F));
  return net.Binary("Add", net.Binary("Div", centered, root),
                    {net.Normal({d}, 0.1), {d}});
}

Value Norm(NetworkDraft& net, const Value& x) {
  // Over few elements, values nearly equal would be divided by nearly nothing.
  if (x.shape.back() < 4) return x;
  switch (net.random.UniformInt(0, 4)) {
    case 0:
      return RmsNorm(net, x);
    case 1:
      return WrittenOutNorm(net, x);
    default:
      return LayerNorm(net, x);
  }
}

int64_t Heads(NetworkDraft& net, int64_t features) {
  const int64_t heads = net.Pick({1, 2, 3, 4});
  return features % heads == 0 ? heads : 1;
}

// [n, t, d] as [n, heads, t, d / heads].
Value ToHeads(NetworkDraft& net, const Value& x, int64_t heads) {
  const int64_t n = x.shape[0], t = x.shape[1], d = x.shape[2];
  return net.Transpose(net.Reshape(x, {n, t, heads, d / heads}), {0, 2, 1, 3});
}

// Added to scores: causal, or one per head.
Value Mask(NetworkDraft& net, int64_t heads, int64_t tokens) {
  if (net.Chance(0.5))
    return {net.Normal({heads, tokens, tokens}, 0.5), {heads, tokens, tokens}};
  const float never =
      net.Chance(0.5) ? -1e4F : std::numeric_limits<float>::lowest();
  std::vector<float> values(tokens * tokens, 0);
  for (int64_t i = 0; i < tokens; ++i) {
    for (int64_t j = i + 1; j < tokens; ++j) values[i * tokens + j] = never;
  }
  return {net.Floats({tokens, tokens}, values), {tokens, tokens}};
}

Value Attention(NetworkDraft& net, const Value& x) {
  const int64_t n = x.shape[0], t = x.shape[1], d = x.shape[2];
  const int64_t heads = Heads(net, d);
  const double scale = 1 / std::sqrt(static_cast<double>(d / heads));
  Value q, k, v;
  if (net.Chance(0.4)) {
    const std::vector<Value> parts =
        net.Split(net.Linear(x, 3 * d), 2, {d, d, d});
    q = parts[0], k = parts[1], v = parts[2];
  } else {
    q = net.Linear(x, d), k = net.Linear(x, d), v = net.Linear(x, d);
  }
  const bool before = net.Chance(0.3);
  if (before) q = net.Scalar("Mul", q, static_cast<float>(scale));
  q = ToHeads(net, q, heads), k = ToHeads(net, k, heads);
  v = ToHeads(net, v, heads);
  Value scores = net.MatMul(q, net.Transpose(k, {0, 1, 3, 2}));
  if (!before) {
    scores = net.Chance(0.5)
                 ? net.Scalar("Mul", scores, static_cast<float>(scale))
                 : net.Scalar("Div", scores, static_cast<float>(1 / scale));
  }
  if (net.Chance(0.4)) scores = net.Binary("Add", scores, Mask(net, heads, t));
  const Value mixed = net.MatMul(net.Softmax(scores, 3), v);
  const Value joined =
      net.Reshape(net.Transpose(mixed, {0, 2, 1, 3}), {n, t, d});
  return net.Linear(joined, d);
}

Value Mlp(NetworkDraft& net, const Value& x) {
  const int64_t d = x.shape.back();
  const int64_t hidden = net.Pick({d, 2 * d, 4 * d, 19});
  if (net.Chance(0.3)) {  // gated
    const std::vector<Value> parts =
        net.Split(net.Linear(x, 2 * hidden),
                  static_cast<int>(x.shape.size()) - 1, {hidden, hidden});
    return net.Linear(
        net.Binary("Mul", parts[0], net.Unary("Sigmoid", parts[1])), d);
  }
  const Value wide = net.Linear(x, hidden);
  return net.Linear(
      net.Chance(0.6)
          ? net.Gelu(wide)
          : net.Activation(wide, static_cast<int>(x.shape.size()) - 1),
      d);
}

// Tokens move on by some places, cyclically.
Value Roll(NetworkDraft& net, const Value& x) {
  const int64_t t = x.shape[1];
  if (t < 2) return x;
  const int64_t by = net.random.UniformInt(1, t - 1);
  return net.Concat({net.Slice(x, 1, by, t), net.Slice(x, 1, 0, by)}, 1);
}

// Every token mixes with every other by fixed weights.
Value TokenMixer(NetworkDraft& net, const Value& x) {
  return net.Transpose(Mlp(net, net.Transpose(x, {0, 2, 1})), {0, 2, 1});
}

// A convolution along the tokens, perhaps depthwise, as Conformer has it.
Value TokenConvolution(NetworkDraft& net, const Value& x) {
  const int64_t n = x.shape[0], t = x.shape[1], d = x.shape[2];
  const bool depthwise = net.Chance(0.5);
  const int64_t kernel = net.Pick({1, 3, 5, 9}), inputs = depthwise ? 1 : d;
  const double terms = static_cast<double>(inputs * kernel);
  const Value rows = net.Transpose(x, {0, 2, 1});
  net.multiply_adds += n * t * d * inputs * kernel;
  const Value y = net.Node(
      "Conv",
      {rows.name, net.Normal({d, inputs, kernel}, std::sqrt(1 / terms)),
       net.Normal({d}, 0.1)},
      {n, d, t}, [&](NodeBuilder node) {
        node.Ints("pads", {kernel / 2, kernel / 2})
            .Int("group", depthwise ? d : 1);
      });
  return net.Transpose(net.Activation(y), {0, 2, 1});
}

// Attention without a softmax: keys and values are multiplied first.
Value LinearAttention(NetworkDraft& net, const Value& x) {
  const int64_t n = x.shape[0], t = x.shape[1], d = x.shape[2];
  const auto positive = [&](const Value& v) {
    return net.Scalar("Add", net.Unary("Elu", v), 1);
  };
  const Value q = positive(net.Linear(x, d)), k = positive(net.Linear(x, d)),
              v = net.Linear(x, d);
  net.multiply_adds += 2 * n * t * d * d;
  const Value state = net.Node(
      "Einsum", {k.name, v.name}, {n, d, d},
      [](NodeBuilder node) { node.String("equation", "ntd,nte->nde"); });
  const Value sums = net.Reduce("ReduceSumSquare", k, {1});
  const Value mixed = net.Node(
      "Einsum", {q.name, state.name}, {n, t, d},
      [](NodeBuilder node) { node.String("equation", "ntd,nde->nte"); });
  return net.Linear(net.Binary("Div", mixed, net.Scalar("Add", sums, 1)), d);
}

// Each token as long as every other.
Value UnitTokens(NetworkDraft& net, const Value& x) {
  const Value length = net.Unary(
      "Sqrt", net.Scalar("Add", net.Reduce("ReduceSumSquare", x, {2}), 0.1F));
  return net.Scalar("Mul", net.Binary("Div", x, length), 3);
}

}  // namespace

Value RandomTokenBlock(NetworkDraft& net, const Value& x) {
  const int choice = static_cast<int>(net.random.UniformInt(0, 14));
  if (choice == 0) return Roll(net, x);
  if (choice == 10) return UnitTokens(net, x);
  if (choice == 11) return net.Binary("Add", x, TokenConvolution(net, x));
  if (choice == 12) return net.Binary("Add", x, LinearAttention(net, x));
  if (choice == 13) return RandomChain(net, x);
  const bool first = net.Chance(0.6);  // norm before, or behind
  const Value in = first ? Norm(net, x) : x;
  Value y = choice <= 5   ? Attention(net, in)
            : choice <= 8 ? Mlp(net, in)
                          : TokenMixer(net, in);
  if (net.Chance(0.8)) y = net.Binary("Add", x, y);
  return first ? y : Norm(net, y);
}

}  // namespace tilewright
