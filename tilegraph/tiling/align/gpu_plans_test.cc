// Plans for groups of BERT-base and ResNet-50 on V100 and A100, as they are
// printed. Where a change of the model of cost changes them, look at what
// changed, then copy the new text (outputs.zip of the test) to gpu_plans.txt.
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/plan.h"
#include "tilegraph/text_form.h"
#include "tilegraph/tiling/align/gpu_kernels.h"

namespace tilewright {
namespace {

// DT is the dtype of tensors, CAST what makes an element an f32.
constexpr char kAttention[] = R"(
    Q: DT[12, 128, 64] = placeholder
    K: DT[12, 128, 64] = placeholder
    V: DT[12, 128, 64] = placeholder
    S: DT[12, 128, 128] = compute (h: 12, m: 128, n: 128)
      reduce (k: 64) sum:f32 { CAST(Q[h, m, k]) * CAST(K[h, n, k]) }
    M: DT[12, 128] = compute (h: 12, m: 128) reduce (n: 128) max:f32 {
      CAST(S[h, m, n]) }
    E: DT[12, 128, 128] = compute (h: 12, m: 128, n: 128) {
      exp(S[h, m, n] - M[h, m]) }
    L: DT[12, 128] = compute (h: 12, m: 128) reduce (n: 128) sum:f32 {
      CAST(E[h, m, n]) }
    P: DT[12, 128, 128] = compute (h: 12, m: 128, n: 128) {
      E[h, m, n] / L[h, m] }
    O: DT[12, 128, 64] = compute (h: 12, m: 128, d: 64)
      reduce (n: 128) sum:f32 { CAST(P[h, m, n]) * CAST(V[h, n, d]) }
    return O)";
constexpr char kFeedForward[] = R"(
    X: DT[128, 768] = placeholder
    W: DT[768, 3072] = placeholder
    B: DT[3072] = placeholder
    U: DT[3072, 768] = placeholder
    H: DT[128, 3072] = compute (m: 128, n: 3072) reduce (k: 768) sum:f32 {
      CAST(X[m, k]) * CAST(W[k, n]) }
    G: DT[128, 3072] = compute (m: 128, n: 3072) {
      max(H[m, n] + B[n], ZERO) }
    Y: DT[128, 768] = compute (m: 128, n: 768) reduce (k: 3072) sum:f32 {
      CAST(G[m, k]) * CAST(U[k, n]) }
    return Y)";
constexpr char kBottleneck[] = R"(
    X: DT[64, 56, 56] = placeholder
    W: DT[64, 64, 3, 3] = placeholder
    B: DT[64] = placeholder
    Z: DT[256, 64] = placeholder
    C: DT[64, 56, 56] = compute (o: 64, h: 56, w: 56)
      reduce (c: 64, i: 3, j: 3) sum:f32 {
        CAST(select(h + i >= 1 && h + i < 57 && w + j >= 1 && w + j < 57,
                    X[c, h + i - 1, w + j - 1], ZERO)) * CAST(W[o, c, i, j]) }
    R: DT[64, 56, 56] = compute (o: 64, h: 56, w: 56) {
      max(C[o, h, w] + B[o], ZERO) }
    Y: DT[256, 56, 56] = compute (o: 256, h: 56, w: 56)
      reduce (c: 64) sum:f32 { CAST(R[c, h, w]) * CAST(Z[o, c]) }
    return Y)";

std::string PlansOf(const char* text, const char* name, bool half,
                    const char* device) {
  const auto graph = ParseText(
      absl::StrReplaceAll(text, {{"DT", half ? "f16" : "f32"},
                                 {"CAST", half ? "cast:f32" : ""},
                                 {"ZERO", half ? "0.0:f16" : "0.0"}}));
  if (!graph.ok()) return graph.status().ToString();
  PlanOptions plain;
  plain.channel_block = 0;
  const Plan plan = MakePlan(*graph, plain);
  const DeviceSpec spec = *LoadSpec(device);
  const auto kernels = PlanGpuKernels(*graph, plan, spec, {});
  if (!kernels.ok()) return kernels.status().ToString();
  return absl::StrCat("== ", name, half ? " f16" : " f32", " on ", device, "\n",
                      ToString(*graph, plan, *kernels));
}

TEST(GpuPlansTest, AreAsPrinted) {
  std::string text;
  for (const char* device : {"v100", "a100"}) {
    for (const bool half : {false, true}) {
      text += PlansOf(kAttention, "BERT-base attention", half, device);
      text += PlansOf(kFeedForward, "BERT-base feed-forward", half, device);
      text += PlansOf(kBottleneck, "ResNet-50 3x3 and 1x1", half, device);
    }
  }
  std::ostringstream expected;
  expected << std::ifstream("tilegraph/tiling/align/gpu_plans.txt").rdbuf();
  if (const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR"))
    std::ofstream(absl::StrCat(outputs, "/gpu_plans.txt")) << text;
  EXPECT_EQ(text, expected.str());
}

}  // namespace
}  // namespace tilewright
