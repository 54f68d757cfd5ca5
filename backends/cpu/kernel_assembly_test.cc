// Reads what whole kernels become, from workload to assembly, under their
// default schedules: in no inner loop a spill, a vector narrower than the
// class's, or lanes picked one by one.
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/lowering/tile/lower.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::cpu {
namespace {

struct KernelCase {
  const char* name;
  const char* workload;  // BLOCK: lanes of a channel block
  // Constants of functions and the operands of maxima that let NaN through
  // fill more than 16 registers.
  bool fits_sixteen_registers = true;
};

const KernelCase kKernels[] = {
    {"gemm", R"(
A: f32[128, 256] = placeholder
B: f32[256, 384] = placeholder
b: f32[384] = placeholder
T: f32[128, 384] = compute (m: 128, n: 384) reduce (k: 256) sum:f32 { A[m, k] * B[k, n] }
Y: f32[128, 384] = compute (m: 128, n: 384) { max(T[m, n] + b[n], 0) }
return Y
#constant B
#constant b
)"},
    {"conv3x3", R"(
X: f32[1, 64, 30, 30] = placeholder
W: f32[64, 64, 3, 3] = placeholder
Y: f32[1, 64, 28, 28] = compute (n: 1, oc: 64, oh: 28, ow: 28) reduce (ic: 64, kh: 3, kw: 3) sum:f32 { X[n, ic, oh + kh, ow + kw] * W[oc, ic, kh, kw] } hint conv
return Y
#constant W
#layout X (1, 64, 30, 30) [d0, d1/BLOCK, d2, d3, d1%BLOCK]
#layout Y (1, 64, 28, 28) [d0, d1/BLOCK, d2, d3, d1%BLOCK]
)"},
    {"depthwise3x3", R"(
X: f32[1, 96, 30, 30] = placeholder
W: f32[96, 1, 3, 3] = placeholder
Y: f32[1, 96, 28, 28] = compute (n: 1, oc: 96, oh: 28, ow: 28) reduce (ic: 1, kh: 3, kw: 3) sum:f32 { X[n, oc + ic, oh + kh, ow + kw] * W[oc, ic, kh, kw] } hint conv
return Y
#constant W
#layout X (1, 96, 30, 30) [d0, d1/BLOCK, d2, d3, d1%BLOCK]
#layout Y (1, 96, 28, 28) [d0, d1/BLOCK, d2, d3, d1%BLOCK]
)"},
    {"depthwise3x3_stride2", R"(
X: f32[1, 96, 57, 57] = placeholder
W: f32[96, 1, 3, 3] = placeholder
Y: f32[1, 96, 28, 28] = compute (n: 1, oc: 96, oh: 28, ow: 28) reduce (ic: 1, kh: 3, kw: 3) sum:f32 { X[n, oc + ic, oh * 2 + kh, ow * 2 + kw] * W[oc, ic, kh, kw] } hint conv
return Y
#constant W
#layout X (1, 96, 57, 57) [d0, d1/BLOCK, d2, d3, d1%BLOCK]
#layout Y (1, 96, 28, 28) [d0, d1/BLOCK, d2, d3, d1%BLOCK]
)"},
    {"depthwise7x7_channels_last", R"(
X: f32[1, 96, 34, 34] = placeholder
W: f32[96, 1, 7, 7] = placeholder
Y: f32[1, 96, 28, 28] = compute (n: 1, oc: 96, oh: 28, ow: 28) reduce (ic: 1, kh: 7, kw: 7) sum:f32 { X[n, oc + ic, oh + kh, ow + kw] * W[oc, ic, kh, kw] } hint conv
return Y
#constant W
#layout X (1, 96, 34, 34) [d0, d2, d3, d1]
#layout Y (1, 96, 28, 28) [d0, d2, d3, d1]
)"},
    {"max_pooling", R"(
X: f32[1, 64, 57, 57] = placeholder
Y: f32[1, 64, 28, 28] = compute (n: 1, c: 64, oh: 28, ow: 28) reduce (kh: 3, kw: 3) max:f32 { X[n, c, oh * 2 + kh, ow * 2 + kw] } hint pool
return Y
#layout X (1, 64, 57, 57) [d0, d1/BLOCK, d2, d3, d1%BLOCK]
#layout Y (1, 64, 28, 28) [d0, d1/BLOCK, d2, d3, d1%BLOCK]
)",
     false},
    {"softmax", R"(
X: f32[64, 512] = placeholder
M: f32[64, 1] = compute (r: 64, o: 1) reduce (k: 512) max:f32 { X[r, k] }
E: f32[64, 512] = compute (r: 64, k: 512) { exp(X[r, k] - M[r, 0]) }
S: f32[64, 1] = compute (r: 64, o: 1) reduce (k: 512) sum:f32 { E[r, k] }
R: f32[64, 1] = compute (r: 64, o: 1) { 1.0 / S[r, 0] }
Y: f32[64, 512] = compute (r: 64, k: 512) { E[r, k] * R[r, 0] }
return Y
)",
     false},
    {"layer_norm", R"(
X: f32[64, 768] = placeholder
g: f32[768] = placeholder
b: f32[768] = placeholder
S: f32[64, 1] = compute (r: 64, o: 1) reduce (k: 768) sum:f32 { X[r, k] }
A: f32[64, 1] = compute (r: 64, o: 1) { S[r, 0] / 768.0 }
Q: f32[64, 1] = compute (r: 64, o: 1) reduce (k: 768) sum:f32 { (X[r, k] - A[r, 0]) * (X[r, k] - A[r, 0]) }
V: f32[64, 1] = compute (r: 64, o: 1) { 1.0 / sqrt(Q[r, 0] / 768.0 + 0.00001) }
Y: f32[64, 768] = compute (r: 64, k: 768) { (X[r, k] - A[r, 0]) * V[r, 0] * g[k] + b[k] }
return Y
)"},
    {"gelu", R"(
X: f32[64, 256] = placeholder
Y: f32[64, 256] = compute (i: 64, j: 256) { X[i, j] * (erf(X[i, j] / 1.41421356) + 1.0) * 0.5 }
return Y
)",
     false},
    {"transposition", R"(
X: f32[256, 512] = placeholder
Y: f32[512, 256] = compute (i: 512, j: 256) { X[j, i] }
return Y
)"},
};

struct ClassCase {
  const char* spec;
  const char* wide;                 // the registers of the class
  std::vector<const char*> narrow;  // and those that are not
  int registers;
};

const ClassCase kClasses[] = {
    {"cpu_x86_64_v4", "%zmm", {"%ymm", "%xmm"}, 32},
    {"cpu_x86_64_v3", "%ymm", {"%xmm"}, 16},
};

// The instructions of loops that have no loop inside: from a label to the jump
// back to it.
std::vector<std::vector<std::string>> InnerLoops(const std::string& assembly) {
  std::vector<std::vector<std::string>> loops;
  std::vector<std::string> since;
  std::string label;
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    if (absl::StartsWith(line, ".L") && absl::StrContains(line, ":")) {
      label = line.substr(0, line.find(':'));
      since.clear();
      continue;
    }
    since.push_back(line);
    if (absl::StartsWith(line, "\tj") && !label.empty() &&
        absl::EndsWith(line, absl::StrCat("\t", label)))
      loops.push_back(since);
  }
  return loops;
}

// Arithmetic on vectors of floats; conversions and moves may be narrow.
bool IsArithmetic(absl::string_view line) {
  for (const char* name :
       {"\tvfmadd", "\tvfnmadd", "\tvmulps", "\tvaddps", "\tvsubps", "\tvmaxps",
        "\tvminps", "\tvrangeps", "\tvdivps", "\tvscalefps"}) {
    if (absl::StartsWith(line, name)) return true;
  }
  return false;
}

class KernelAssemblyTest
    : public ::testing::TestWithParam<std::tuple<KernelCase, ClassCase>> {};

TEST_P(KernelAssemblyTest, InnerLoopsUseWholeVectorsAndNoStack) {
  const auto& [kernel_case, class_case] = GetParam();
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(class_case.spec));
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, CreateCpuCodegen(spec));
  const std::string block = absl::StrCat(spec.unit().vector_bytes() / 4);
  TW_ASSERT_OK_AND_ASSIGN(const sketch::Workload workload,
                          sketch::ParseWorkload(absl::StrReplaceAll(
                              kernel_case.workload, {{"BLOCK", block}})));
  TW_ASSERT_OK_AND_ASSIGN(const sketch::Schedule schedule,
                          sketch::DefaultSchedule(workload, spec));
  TW_ASSERT_OK_AND_ASSIGN(const sketch::BlockTree tree,
                          sketch::Replay(workload, schedule));
  TW_ASSERT_OK_AND_ASSIGN(const kernel_ir::Kernel tiles,
                          lowering::Lower(tree, "kernel"));
  TW_ASSERT_OK_AND_ASSIGN(const kernel_ir::ScalarKernel scalar,
                          codegen->Legalize(tiles));
  TW_ASSERT_OK_AND_ASSIGN(const std::string assembly, codegen->Source(scalar));
  const std::vector<std::vector<std::string>> loops = InnerLoops(assembly);
  EXPECT_FALSE(loops.empty()) << assembly;
  const bool fits =
      kernel_case.fits_sixteen_registers || class_case.registers > 16;
  int wide = 0;
  for (const std::vector<std::string>& loop : loops) {
    for (const std::string& line : loop) {
      const bool is_wide = absl::StrContains(line, class_case.wide);
      wide += is_wide;
      EXPECT_FALSE(fits && is_wide && absl::StrContains(line, "(%rsp)"))
          << line;
      EXPECT_FALSE(absl::StrContains(line, "gather")) << line;
      EXPECT_FALSE(absl::StrContains(line, "vinsertps")) << line;
      EXPECT_FALSE(absl::StrContains(line, "\tcall")) << line;
      if (!IsArithmetic(line)) continue;
      for (const char* narrow : class_case.narrow)
        EXPECT_FALSE(absl::StrContains(line, narrow)) << line;
    }
  }
  EXPECT_GT(wide, 0);
}

INSTANTIATE_TEST_SUITE_P(All, KernelAssemblyTest,
                         ::testing::Combine(::testing::ValuesIn(kKernels),
                                            ::testing::ValuesIn(kClasses)),
                         [](const auto& info) {
                           return absl::StrCat(std::get<0>(info.param).name,
                                               "_",
                                               std::get<1>(info.param).spec);
                         });

}  // namespace
}  // namespace tilewright::cpu
