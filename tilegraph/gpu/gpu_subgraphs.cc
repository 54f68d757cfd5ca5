#include "tilegraph/gpu/gpu_subgraphs.h"

#include <utility>

#include "base/check.h"
#include "tilegraph/testing/test_graphs.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

// Twelve heads of 512 tokens, f16.
constexpr char kAttention[] = R"(
    Q: f16[12, 512, 64] = placeholder
    K: f16[12, 512, 64] = placeholder
    V: f16[12, 512, 64] = placeholder
    S: f16[12, 512, 512] = compute (h: 12, m: 512, n: 512)
      reduce (k: 64) sum:f32 { cast:f32(Q[h, m, k]) * cast:f32(K[h, n, k]) }
    M: f16[12, 512] = compute (h: 12, m: 512) reduce (n: 512) max:f32 {
      cast:f32(S[h, m, n]) }
    E: f16[12, 512, 512] = compute (h: 12, m: 512, n: 512) {
      exp(S[h, m, n] - M[h, m]) }
    L: f16[12, 512] = compute (h: 12, m: 512) reduce (n: 512) sum:f32 {
      cast:f32(E[h, m, n]) }
    P: f16[12, 512, 512] = compute (h: 12, m: 512, n: 512) {
      E[h, m, n] / L[h, m] }
    O: f16[12, 512, 64] = compute (h: 12, m: 512, d: 64)
      reduce (n: 512) sum:f32 { cast:f32(P[h, m, n]) * cast:f32(V[h, n, d]) }
    return O)";

// Rows of 768 are normalised for a product of as many columns.
constexpr char kLayerNormGemm[] = R"(
    X: f32[2048, 768] = placeholder
    W: f32[768, 768] = placeholder
    A: f32[2048] = compute (m: 2048) reduce (k: 768) sum:f32 { X[m, k] }
    D: f32[2048, 768] = compute (m: 2048, k: 768) {
      X[m, k] - A[m] * 0.00130208333 }
    V: f32[2048] = compute (m: 2048) reduce (k: 768) sum:f32 {
      D[m, k] * D[m, k] }
    N: f32[2048, 768] = compute (m: 2048, k: 768) {
      D[m, k] / sqrt(V[m] * 0.00130208333 + 0.00001) }
    Y: f32[2048, 768] = compute (m: 2048, n: 768) reduce (k: 768) sum:f32 {
      N[m, k] * W[k, n] }
    return Y)";

constexpr char kDepthwiseSeparable[] = R"(
    X: f32[128, 56, 56] = placeholder
    W: f32[128, 3, 3] = placeholder
    Z: f32[128, 128] = placeholder
    D: f32[128, 56, 56] = compute (c: 128, h: 56, w: 56)
      reduce (i: 3, j: 3) sum:f32 {
        select(h + i >= 1 && h + i < 57 && w + j >= 1 && w + j < 57,
               X[c, h + i - 1, w + j - 1], 0.0) * W[c, i, j] }
    R: f32[128, 56, 56] = compute (c: 128, h: 56, w: 56) {
      max(D[c, h, w], 0.0) }
    Y: f32[128, 56, 56] = compute (o: 128, h: 56, w: 56)
      reduce (c: 128) sum:f32 { R[c, h, w] * Z[o, c] }
    return Y)";

// MobileNetV2's block of 24 channels at 56 by 56.
constexpr char kInvertedResidual[] = R"(
    X: f32[24, 56, 56] = placeholder
    W: f32[144, 24] = placeholder
    V: f32[144, 3, 3] = placeholder
    Z: f32[24, 144] = placeholder
    E: f32[144, 56, 56] = compute (o: 144, h: 56, w: 56)
      reduce (c: 24) sum:f32 { X[c, h, w] * W[o, c] }
    R: f32[144, 56, 56] = compute (o: 144, h: 56, w: 56) {
      min(max(E[o, h, w], 0.0), 6.0) }
    D: f32[144, 56, 56] = compute (o: 144, h: 56, w: 56)
      reduce (i: 3, j: 3) sum:f32 {
        select(h + i >= 1 && h + i < 57 && w + j >= 1 && w + j < 57,
               R[o, h + i - 1, w + j - 1], 0.0) * V[o, i, j] }
    S: f32[144, 56, 56] = compute (o: 144, h: 56, w: 56) {
      min(max(D[o, h, w], 0.0), 6.0) }
    P: f32[24, 56, 56] = compute (o: 24, h: 56, w: 56)
      reduce (c: 144) sum:f32 { S[c, h, w] * Z[o, c] }
    Y: f32[24, 56, 56] = compute (o: 24, h: 56, w: 56) {
      P[o, h, w] + X[o, h, w] }
    return Y)";

// Eight groups of eight channels, as in diffusion models.
constexpr char kGroupNormSiluConv[] = R"(
    X: f32[8, 8, 64, 64] = placeholder
    W: f32[64, 8, 8, 3, 3] = placeholder
    A: f32[8] = compute (g: 8) reduce (c: 8, h: 64, w: 64) sum:f32 {
      X[g, c, h, w] }
    V: f32[8] = compute (g: 8) reduce (c: 8, h: 64, w: 64) sum:f32 {
      (X[g, c, h, w] - A[g] * 0.000030517578) *
      (X[g, c, h, w] - A[g] * 0.000030517578) }
    N: f32[8, 8, 64, 64] = compute (g: 8, c: 8, h: 64, w: 64) {
      (X[g, c, h, w] - A[g] * 0.000030517578) /
      sqrt(V[g] * 0.000030517578 + 0.00001) }
    S: f32[8, 8, 64, 64] = compute (g: 8, c: 8, h: 64, w: 64) {
      N[g, c, h, w] * sigmoid(N[g, c, h, w]) }
    Y: f32[64, 64, 64] = compute (o: 64, h: 64, w: 64)
      reduce (g: 8, c: 8, i: 3, j: 3) sum:f32 {
        select(h + i >= 1 && h + i < 65 && w + j >= 1 && w + j < 65,
               S[g, c, h + i - 1, w + j - 1], 0.0) * W[o, g, c, i, j] }
    return Y)";

constexpr char kResidualBlock[] = R"(
    X: f32[64, 112, 112] = placeholder
    W: f32[64, 64, 3, 3] = placeholder
    V: f32[64, 64, 3, 3] = placeholder
    C: f32[64, 112, 112] = compute (o: 64, h: 112, w: 112)
      reduce (c: 64, i: 3, j: 3) sum:f32 {
        select(h + i >= 1 && h + i < 113 && w + j >= 1 && w + j < 113,
               X[c, h + i - 1, w + j - 1], 0.0) * W[o, c, i, j] }
    R: f32[64, 112, 112] = compute (o: 64, h: 112, w: 112) {
      max(C[o, h, w], 0.0) }
    D: f32[64, 112, 112] = compute (o: 64, h: 112, w: 112)
      reduce (c: 64, i: 3, j: 3) sum:f32 {
        select(h + i >= 1 && h + i < 113 && w + j >= 1 && w + j < 113,
               R[c, h + i - 1, w + j - 1], 0.0) * V[o, c, i, j] }
    Y: f32[64, 112, 112] = compute (o: 64, h: 112, w: 112) {
      max(D[o, h, w] + X[o, h, w], 0.0) }
    return Y)";

// Softmax over rows of 16,384: 64 KiB each.
constexpr char kWideReduction[] = R"(
    X: f32[512, 16384] = placeholder
    M: f32[512] = compute (m: 512) reduce (n: 16384) max:f32 { X[m, n] }
    E: f32[512, 16384] = compute (m: 512, n: 16384) { exp(X[m, n] - M[m]) }
    L: f32[512] = compute (m: 512) reduce (n: 16384) sum:f32 { E[m, n] }
    Y: f32[512, 16384] = compute (m: 512, n: 16384) { E[m, n] / L[m] }
    return Y)";

TensorGraph Parse(const char* text) {
  absl::StatusOr<TensorGraph> graph = ParseText(text);
  TW_CHECK(graph.ok()) << graph.status();
  return *std::move(graph);
}

}  // namespace

std::vector<GpuSubgraph> GpuSubgraphs() {
  std::vector<GpuSubgraph> subgraphs;
  const auto add = [&](const char* name, TensorGraph graph) {
    PlanOptions options;
    options.connect = PlanOptions::Connect::kTileGraph;
    options.channel_block = 0;
    GpuSubgraph& one = subgraphs.emplace_back();
    one.name = name;
    one.graph = std::move(graph);
    one.plan = MakePlan(one.graph, options);
  };
  add("product, softmax", MatmulSoftmax(98304, 64, 128));
  add("attention", Parse(kAttention));
  add("MLP", Mlp(16384, 64, 384, 64));
  add("LayerNorm, product", Parse(kLayerNormGemm));
  add("depthwise separable", Parse(kDepthwiseSeparable));
  add("inverted residual", Parse(kInvertedResidual));
  add("Conv, ReLU, MaxPool", ConvReluPool(64, 64, 114));
  add("GroupNorm, SiLU, Conv", Parse(kGroupNormSiluConv));
  add("residual block", Parse(kResidualBlock));
  add("wide softmax", Parse(kWideReduction));
  return subgraphs;
}

}  // namespace tilewright
