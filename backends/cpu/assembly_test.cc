// Reads what is emitted for register-tiled micro-kernels.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/micro_kernels.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::cpu {
namespace {

using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<backends::Codegen> CodegenFor(const std::string& spec_name) {
  const absl::StatusOr<DeviceSpec> spec = LoadSpec(spec_name);
  EXPECT_THAT(spec, IsOk());
  auto codegen = CreateCpuCodegen(*spec);
  EXPECT_THAT(codegen, IsOk());
  return *std::move(codegen);
}

struct TileCase {
  const char* spec;
  int rows, vectors, lanes;
  bool fma;
  const char* vector_register;
};

class MicroKernelTest : public testing::TestWithParam<TileCase> {};

TEST_P(MicroKernelTest, HasNoSpillNoHalfVectorAndNoCall) {
  const TileCase& c = GetParam();
  GemmPanel panel;
  panel.rows = c.rows;
  panel.vectors = c.vectors;
  panel.lanes = c.lanes;
  panel.fma = c.fma;
  panel.m = 4 * c.rows;
  const kernel_ir::ScalarKernel kernel = MakeGemmPanel(panel);
  const auto codegen = CodegenFor(c.spec);
  TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                          codegen->Emit({kernel}));
  EXPECT_EQ(module.kernels[0].spills, 0);
  TW_ASSERT_OK_AND_ASSIGN(const std::string text, codegen->Source(kernel));
  int multiplications = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, Not(HasSubstr("call")));
    EXPECT_THAT(line, Not(HasSubstr("gather")));
    const bool multiply =
        line.find(c.fma ? "vfmadd" : "mulps") != std::string::npos;
    if (!multiply) continue;
    ++multiplications;
    EXPECT_THAT(line, HasSubstr(c.vector_register));
  }
  // The loop over k is laid out four times.
  EXPECT_EQ(multiplications, 4 * c.rows * c.vectors);
}

INSTANTIATE_TEST_SUITE_P(
    Tiles, MicroKernelTest,
    testing::Values(TileCase{"cpu_x86_64_v4_amx", 8, 3, 16, true, "%zmm"},
                    TileCase{"cpu_x86_64_v4_amx", 6, 4, 16, true, "%zmm"},
                    TileCase{"cpu_x86_64_v4_amx", 14, 2, 16, true, "%zmm"},
                    TileCase{"cpu_x86_64_v4_amx", 9, 3, 16, true, "%zmm"},
                    TileCase{"cpu_x86_64_v4_amx", 28, 1, 16, true, "%zmm"},
                    TileCase{"cpu_x86_64_v4", 8, 3, 16, true, "%zmm"},
                    TileCase{"cpu_x86_64_v4", 6, 4, 16, true, "%zmm"},
                    TileCase{"cpu_x86_64_v4", 14, 2, 16, true, "%zmm"},
                    TileCase{"cpu_x86_64_v3", 4, 3, 8, true, "%ymm"},
                    TileCase{"cpu_x86_64_v3", 6, 2, 8, true, "%ymm"},
                    TileCase{"cpu_x86_64_v2", 3, 2, 4, false, "%xmm"}));

int64_t ThreadNs() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return int64_t{1000000000} * t.tv_sec + t.tv_nsec;
}

// Partial vectors are one masked instruction each, not their lanes.
TEST(CpuCodegenTest, PartialVectorsAreMasked) {
  ScalarBuilder b("f");
  const int in = b.AddArgument("in", DType::kFloat32, Role::kInput, 14);
  const int flag = b.AddArgument("flag", DType::kFloat32, Role::kInput, 14);
  const int out = b.AddArgument("out", DType::kFloat32, Role::kOutput, 14);
  const Reg positive =
      b.Emit(Op::kGt, {b.Load(flag, kNoReg, 0, 16, 14), b.Float(0)});
  const Reg value = b.Load(in, kNoReg, 0, 16, 14, positive);
  b.Store(out, kNoReg, 0, value, 14);
  const kernel_ir::ScalarKernel kernel = std::move(b).Finish();
  TW_ASSERT_OK_AND_ASSIGN(const std::string text,
                          CodegenFor("cpu_x86_64_v4")->Source(kernel));
  int masked = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, Not(HasSubstr("vinsert")));
    EXPECT_THAT(line, Not(HasSubstr("vextract")));
    masked += line.find("vmovups") != std::string::npos &&
              line.find("{%k") != std::string::npos;
  }
  EXPECT_EQ(masked, 3) << text;
}

int Count(const std::string& text, const std::string& instruction) {
  int found = 0;
  for (size_t at = 0;
       (at = text.find("\t" + instruction + "\t", at)) != std::string::npos;
       ++at)
    ++found;
  return found;
}

// NaN and the order of zeros cost two instructions beside the one that takes
// the greater number, and one where that is relu.
TEST(CpuCodegenTest, MaximaAreShort) {
  ScalarBuilder b("f");
  const int in = b.AddArgument("in", DType::kFloat32, Role::kInput, 32);
  const int out = b.AddArgument("out", DType::kFloat32, Role::kOutput, 32);
  const Reg x = b.Load(in, kNoReg, 0, 16), y = b.Load(in, kNoReg, 16, 16);
  b.Store(out, kNoReg, 0, b.Max(x, y));
  b.Store(out, kNoReg, 16, b.Max(y, b.Float(0)));
  TW_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      CodegenFor("cpu_x86_64_v4")->Source(std::move(b).Finish()));
  EXPECT_EQ(Count(text, "vrangeps"), 1) << text;
  EXPECT_EQ(Count(text, "vcmpordps"), 1) << text;
  EXPECT_EQ(Count(text, "vmaxps"), 1) << text;
  EXPECT_EQ(Count(text, "vaddps"), 1) << text;
  EXPECT_THAT(text, Not(HasSubstr("vblend")));
}

// The greatest of nine, as a window has them: one comparison looks for NaN in
// two of them, and there is one choice at the end.
TEST(CpuCodegenTest, MaximaOfManyAreShort) {
  ScalarBuilder b("f");
  const int in = b.AddArgument("in", DType::kFloat32, Role::kInput, 9 * 16);
  const int out = b.AddArgument("out", DType::kFloat32, Role::kOutput, 16);
  Reg most = b.Float(-INFINITY, DType::kFloat32, 16);
  for (int k = 0; k < 9; ++k)
    most = b.Max(most, b.Load(in, kNoReg, 16 * k, 16));
  b.Store(out, kNoReg, 0, most);
  TW_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      CodegenFor("cpu_x86_64_v4")->Source(std::move(b).Finish()));
  EXPECT_EQ(Count(text, "vrangeps"), 8) << text;
  EXPECT_EQ(Count(text, "vcmpordps"), 5) << text;
}

TEST(CpuCodegenTest, OneCandidateBuildsWithinSixtyMilliseconds) {
  const auto codegen = CodegenFor("cpu_x86_64_v4_amx");
  for (const auto& [rows, vectors] : {std::pair{8, 3}, {14, 2}}) {
    GemmPanel panel;
    panel.rows = rows;
    panel.vectors = vectors;
    panel.m = 4 * rows;
    const kernel_ir::ScalarKernel kernel = MakeGemmPanel(panel);
    int64_t best = INT64_MAX;
    for (int i = 0; i < 3; ++i) {
      const int64_t start = ThreadNs();
      ASSERT_THAT(codegen->Emit({kernel}), IsOk());
      best = std::min(best, ThreadNs() - start);
    }
    EXPECT_LT(best, int64_t{60} * 1000 * 1000) << panel.name();
  }
}

// Too many rows for the registers: the report says so.
TEST(CpuCodegenTest, SpillsAreCounted) {
  GemmPanel panel;
  panel.rows = 16;
  panel.m = 16;
  TW_ASSERT_OK_AND_ASSIGN(
      const backends::Module module,
      CodegenFor("cpu_x86_64_v4")->Emit({MakeGemmPanel(panel)}));
  EXPECT_GT(module.kernels[0].spills, 16);
  EXPECT_GT(module.kernels[0].stack_bytes, 16 * 64);
}

TEST(CpuCodegenTest, FramesBeyondTheLimitAreRefused) {
  GemmPanel panel;
  panel.rows = 64;
  panel.vectors = 6;
  panel.m = 64;
  panel.unroll = 1;
  EXPECT_THAT(CodegenFor("cpu_x86_64_v4")->Emit({MakeGemmPanel(panel)}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("of stack")));
}

TEST(CpuCodegenTest, FmaNeedsAClassThatHasIt) {
  GemmPanel panel;
  panel.rows = 3;
  panel.vectors = 2;
  panel.lanes = 4;
  panel.m = 3;
  EXPECT_THAT(CodegenFor("cpu_x86_64_v2")->Emit({MakeGemmPanel(panel)}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("x86-64-v2 has no fused multiply-add")));
}

TEST(CpuCodegenTest, FunctionsMustBeExpandedBefore) {
  ScalarBuilder b("f");
  const int out = b.AddArgument("out", DType::kFloat32, Role::kOutput, 1);
  b.Store(out, kNoReg, 0, b.Emit(Op::kExp, {b.Float(1)}));
  EXPECT_THAT(
      CodegenFor("cpu_x86_64_v4")->Emit({std::move(b).Finish()}),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("exp of f32")));
}

TEST(CpuCodegenTest, OnlyCpuSpecsAreAccepted) {
  TW_ASSERT_OK_AND_ASSIGN(DeviceSpec spec, LoadSpec("unit"));
  EXPECT_THAT(
      CreateCpuCodegen(spec),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not for a CPU")));
  spec.set_target("cpu:pentium");
  EXPECT_THAT(
      CreateCpuCodegen(spec),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("pentium")));
  TW_ASSERT_OK_AND_ASSIGN(spec, LoadSpec("cpu_x86_64_v3"));
  spec.mutable_unit()->set_vector_bytes(64);
  EXPECT_THAT(CreateCpuCodegen(spec),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("x86-64-v3 has 16 to 32")));
}

}  // namespace
}  // namespace tilewright::cpu
