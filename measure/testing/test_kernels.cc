#include "measure/testing/test_kernels.h"

#include <utility>

#include "backends/lowering/tile/lower.h"
#include "base/check.h"
#include "sketch/tree/initial_tree.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::measure {
namespace {

constexpr char kGemm[] = R"(
A: f32[7, 33] = placeholder
B: f32[33, 19] = placeholder
b: f32[19] = placeholder
T: f32[7, 19] = compute (m: 7, n: 19) reduce (k: 33) sum:f32 { A[m, k] * B[k, n] }
Y: f32[7, 19] = compute (m: 7, n: 19) { max(T[m, n] + b[n], 0) }
return Y
)";

constexpr char kConv[] = R"(
X: f32[1, 5, 9, 8] = placeholder
W: f32[18, 5, 3, 3] = placeholder
C: f32[1, 18, 5, 4] = compute (n: 1, f: 18, y: 5, x: 4) reduce (c: 5, i: 3, j: 3) sum:f32 {
  select(2 * y + i >= 1 && 2 * y + i < 10 && 2 * x + j >= 1 && 2 * x + j < 9, X[n, c, 2 * y + i - 1, 2 * x + j - 1], 0) * W[f, c, i, j] }
R: f32[1, 18, 5, 4] = compute (n: 1, f: 18, y: 5, x: 4) { max(C[n, f, y, x], 0) }
return R
)";

constexpr char kDepthwise[] = R"(
X: f32[17, 8, 9] = placeholder
W: f32[17, 3, 3] = placeholder
C: f32[17, 6, 7] = compute (c: 17, y: 6, x: 7) reduce (i: 3, j: 3) sum:f32 { X[c, y + i, x + j] * W[c, i, j] }
return C
)";

constexpr char kMaxPool[] = R"(
X: f32[3, 13, 17] = placeholder
M: f32[3, 6, 8] = compute (c: 3, y: 6, x: 8) reduce (i: 3, j: 3) max:f32 { X[c, 2 * y + i, 2 * x + j] }
return M
)";

constexpr char kSoftmax[] = R"(
X: f32[5, 31] = placeholder
M: f32[5] = compute (r: 5) reduce (k: 31) max:f32 { X[r, k] }
E: f32[5, 31] = compute (r: 5, c: 31) { exp(X[r, c] - M[r]) }
S: f32[5] = compute (r: 5) reduce (k: 31) sum:f32 { E[r, k] }
Y: f32[5, 31] = compute (r: 5, c: 31) { E[r, c] / S[r] }
return Y
)";

constexpr char kLayerNorm[] = R"(
X: f32[6, 24] = placeholder
G: f32[24] = placeholder
S: f32[6] = compute (r: 6) reduce (k: 24) sum:f32 { X[r, k] }
D: f32[6, 24] = compute (r: 6, c: 24) { X[r, c] - S[r] / 24 }
V: f32[6] = compute (r: 6) reduce (k: 24) sum:f32 { D[r, k] * D[r, k] }
Y: f32[6, 24] = compute (r: 6, c: 24) { D[r, c] / sqrt(V[r] / 24 + 0.00001) * G[c] }
return Y
)";

constexpr char kArgMax[] = R"(
X: f32[9, 33] = placeholder
I: i64[9] = compute (r: 9) reduce (k: 33) argmax:f32 { X[r, k], k } result 1
return I
)";

constexpr char kHalfSum[] = R"(
X: f16[4, 40] = placeholder
S: f16[4] = compute (r: 4) reduce (k: 40) sum:f32 { cast:f32(X[r, k]) }
return S
)";

constexpr char kInt8Gemm[] = R"(
A: i8[5, 20] = placeholder
B: i8[20, 17] = placeholder
C: i32[5, 17] = compute (m: 5, n: 17) reduce (k: 20) sum:i32 { cast:i32(A[m, k]) * cast:i32(B[k, n]) }
return C
)";

constexpr char kGather[] = R"(
T: f32[11, 16] = placeholder
I: i64[6] = placeholder
Y: f32[6, 16] = compute (r: 6, c: 16) { T[max(min(I[r], 10), 0), c] * 2 }
return Y
)";

constexpr char kTwoOutputs[] = R"(
X: f32[8, 17] = placeholder
U: f32[8, 17] = compute (r: 8, c: 17) { X[r, c] * 3 }
V: f32[8, 17] = compute (r: 8, c: 17) { max(U[r, c] - 1, X[r, c]) }
return U, V
)";

// The sum leaves the group, and its norm reads it.
constexpr char kAddNorm[] = R"(
X: f32[5, 17] = placeholder
R: f32[5, 17] = placeholder
S: f32[5, 17] = compute (r: 5, c: 17) { X[r, c] + R[r, c] }
M: f32[5, 1] = compute (r: 5, o: 1) reduce (k: 17) sum:f32 { S[r, k] }
Y: f32[5, 17] = compute (r: 5, c: 17) { S[r, c] - M[r, 0] * 0.05882353 }
return S, Y
)";

NamedWorkload Parse(std::string name, const char* text, bool exact) {
  absl::StatusOr<TensorGraph> graph = ParseText(text);
  TW_CHECK_OK(graph) << name;
  return {std::move(name), {*std::move(graph), {}}, exact};
}

}  // namespace

std::vector<NamedWorkload> TestWorkloads() {
  std::vector<NamedWorkload> all = {Parse("gemm", kGemm, true),
                                    Parse("conv", kConv, true),
                                    Parse("depthwise", kDepthwise, true),
                                    Parse("maxpool", kMaxPool, true),
                                    Parse("softmax", kSoftmax, false),
                                    Parse("layernorm", kLayerNorm, false),
                                    Parse("argmax", kArgMax, true),
                                    Parse("halfsum", kHalfSum, true),
                                    Parse("int8gemm", kInt8Gemm, true),
                                    Parse("gather", kGather, true),
                                    Parse("twooutputs", kTwoOutputs, true),
                                    Parse("addnorm", kAddNorm, false)};
  sketch::Workload& conv = all[1].workload;
  const TensorId output = conv.graph.outputs()[0];
  const std::vector<int64_t> shape = conv.graph.tensor(output).static_shape();
  conv.layouts[output] =
      Layout::BlockedLast(shape, 1, 16)
          .WithHalo({0, 0, 1, 1}, {0, 0, 1, 1}, Layout::Fill::kZero);
  return all;
}

sketch::Workload TestWorkload(const std::string& name) {
  for (NamedWorkload& one : TestWorkloads()) {
    if (one.name == name) return std::move(one.workload);
  }
  TW_CHECK(false) << "no workload " << name;
  return {};
}

Arguments ArgumentsOf(const sketch::BlockTree& tree) {
  Arguments arguments;
  for (const sketch::Buffer& buffer : tree.buffers) {
    if (buffer.level != sketch::MemLevel::kGlobal) continue;
    arguments.tensors.push_back(buffer.tensor);
    arguments.layouts.push_back(buffer.layout);
    arguments.winograd.push_back(buffer.winograd);
  }
  return arguments;
}

PlainKernel LowerPlainly(const sketch::Workload& workload) {
  const absl::StatusOr<sketch::BlockTree> tree = sketch::InitialTree(workload);
  TW_CHECK_OK(tree);
  absl::StatusOr<kernel_ir::Kernel> kernel = lowering::Lower(*tree, "plain");
  TW_CHECK_OK(kernel);
  return {*std::move(kernel), ArgumentsOf(*tree)};
}

}  // namespace tilewright::measure
