// A model that imports compiles: where a schedule is refused there is another,
// and the program says so. Every family's first choice is made to fail.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/host_spec.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "compiler/test_model.h"
#include "compiler/verified_network.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A group of one family, as an imported graph would have it.
struct Family {
  const char* generator;
  const char* what;
  std::string graph;
};

// A constant of small numbers.
std::string Weights(const std::string& name, const std::string& shape,
                    int count) {
  std::string values;
  for (int i = 0; i < count; ++i)
    absl::StrAppend(&values, i == 0 ? "" : ", ", (i * 7 % 11 - 5) * 0.125);
  return absl::StrCat(name, ": f32[", shape, "] = constant { ", values, " }\n");
}

std::vector<Family> Families() {
  return {
      {"contraction", "matmul with an epilogue", R"(
        A: f32[19, 23] = placeholder
        B: f32[23, 37] = placeholder
        T: f32[19, 37] = compute (m: 19, n: 37) reduce (k: 23) sum:f32 {
          A[m, k] * B[k, n] }
        Y: f32[19, 37] = compute (m: 19, n: 37) { max(T[m, n], 0) }
        return Y)"},
      {"contraction", "strided convolution",
       Weights("W", "5, 3, 3, 3", 135) + R"(
        X: f32[1, 3, 11, 9] = placeholder
        Y: f32[1, 5, 5, 4] = compute (n: 1, o: 5, h: 5, w: 4)
          reduce (c: 3, i: 3, j: 3) sum:f32 {
            X[n, c, 2 * h + i, 2 * w + j] * W[o, c, i, j] } hint conv
        return Y)"},
      {"sliding window", "depthwise convolution",
       Weights("W", "6, 3, 3", 54) + R"(
        X: f32[1, 6, 11, 9] = placeholder
        T: f32[1, 6, 9, 7] = compute (n: 1, c: 6, h: 9, w: 7)
          reduce (i: 3, j: 3) sum:f32 {
            X[n, c, h + i, w + j] * W[c, i, j] }
        Y: f32[1, 6, 9, 7] = compute (n: 1, c: 6, h: 9, w: 7) {
          max(T[n, c, h, w], 0) }
        return Y)"},
      {"sliding window", "max pooling", R"(
        X: f32[1, 5, 11, 9] = placeholder
        Y: f32[1, 5, 5, 4] = compute (n: 1, c: 5, h: 5, w: 4)
          reduce (i: 3, j: 3) max:f32 { X[n, c, 2 * h + i, 2 * w + j] }
        return Y)"},
      {"winograd", "convolution by Winograd",
       Weights("W", "32, 16, 3, 3", 32 * 16 * 9) + R"(
        X: f32[1, 16, 14, 14] = placeholder
        P: f32[1, 16, 14, 14] = compute (n: 1, c: 16, h: 14, w: 14) {
          max(X[n, c, h, w], 0) }
        C: f32[1, 32, 12, 12] = compute (n: 1, o: 32, h: 12, w: 12)
          reduce (c: 16, i: 3, j: 3) sum:f32 {
            P[n, c, h + i, w + j] * W[o, c, i, j] } hint conv
        Y: f32[1, 32, 12, 12] = compute (n: 1, o: 32, h: 12, w: 12) {
          max(C[n, o, h, w], 0) }
        return Y)"},
      {"row reduction", "softmax", R"(
        X: f32[13, 29] = placeholder
        M: f32[13] = compute (i: 13) reduce (j: 29) max:f32 { X[i, j] }
        E: f32[13, 29] = compute (i: 13, j: 29) { exp(X[i, j] - M[i]) }
        S: f32[13] = compute (i: 13) reduce (j: 29) sum:f32 { E[i, j] }
        Y: f32[13, 29] = compute (i: 13, j: 29) { E[i, j] / S[i] }
        return Y)"},
      {"elementwise", "maps", R"(
        X: f32[13, 29] = placeholder
        Z: f32[29] = placeholder
        U: f32[13, 29] = compute (i: 13, j: 29) { sigmoid(X[i, j]) }
        Y: f32[13, 29] = compute (i: 13, j: 29) { U[i, j] * Z[j] }
        return Y)"},
      {"transpose or gather", "transposition and a map", R"(
        X: f32[45, 37] = placeholder
        Y: f32[37, 45] = compute (i: 37, j: 45) { exp(X[j, i]) }
        return Y)"},
      {"elementwise", "nearest resizing", R"(
        X: f32[1, 3, 7, 5] = placeholder
        Y: f32[1, 3, 14, 10] = compute (n: 1, c: 3, h: 14, w: 10) {
          X[n, c, h / 2, w / 2] }
        return Y)"},
  };
}

class FallbackTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::StatusOr<DeviceSpec> spec = HostSpec();
    if (!spec.ok()) GTEST_SKIP() << spec.status();
    codegen_ = *cpu::CreateCpuCodegen(*spec);
    device_ = *cpu::CreateCpuDevice({.num_threads = 2});
  }

  // The program for `text`, once it has computed what the reference computes.
  Program CompileAndVerify(const std::string& text,
                           const CompileOptions& options) {
    const absl::StatusOr<TensorGraph> graph = ParseText(text);
    EXPECT_TRUE(graph.ok()) << graph.status();
    if (!graph.ok()) return {};
    return CompileAndVerify(*graph, *codegen_, options);
  }
  Program CompileAndVerify(const TensorGraph& graph,
                           const backends::Codegen& codegen,
                           const CompileOptions& options) {
    const absl::StatusOr<VerifiedNetwork> network =
        VerifiedNetwork::Create(ModelOf(graph), 1);
    EXPECT_TRUE(network.ok()) << network.status();
    const absl::StatusOr<CompiledModel> compiled =
        Compile(network->model(), codegen, options);
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    if (!compiled.ok()) return {};
    const absl::StatusOr<std::vector<HostTensor>> outputs =
        RunCompiled(*compiled, device_, network->model(), network->inputs());
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    if (!outputs.ok()) return {};
    const std::vector<double> errors = network->Errors(*outputs),
                              limits = network->Limits(options.allow);
    for (size_t o = 0; o < errors.size(); ++o) EXPECT_LE(errors[o], limits[o]);
    return compiled->program;
  }

  std::unique_ptr<backends::Codegen> codegen_;
  std::shared_ptr<backends::Device> device_;
};

// The kernels by `generator`.
std::vector<KernelInfo> KernelsBy(const Program& program,
                                  const std::string& generator) {
  std::vector<KernelInfo> kernels;
  for (const KernelInfo& kernel : program.kernels()) {
    if (kernel.generator() == generator) kernels.push_back(kernel);
  }
  return kernels;
}

CompileOptions Refusing(const std::vector<std::string>& generators) {
  CompileOptions options;
  options.admit = [generators](const std::string& generator) {
    for (const std::string& refused : generators) {
      if (generator == refused) return absl::InternalError("made to fail");
    }
    return absl::OkStatus();
  };
  return options;
}

TEST_F(FallbackTest, NothingIsAFallbackByItself) {
  for (const Family& family : Families()) {
    SCOPED_TRACE(family.what);
    const Program program = CompileAndVerify(family.graph, {});
    EXPECT_THAT(KernelsBy(program, family.generator), Not(IsEmpty()));
    for (const KernelInfo& kernel : program.kernels())
      EXPECT_THAT(kernel.refused(), IsEmpty());
  }
}

TEST_F(FallbackTest, AGroupWhoseRuleFailsIsScheduledAsTasks) {
  for (const Family& family : Families()) {
    if (std::string(family.generator) == "winograd") continue;
    SCOPED_TRACE(family.what);
    const Program program =
        CompileAndVerify(family.graph, Refusing({family.generator}));
    EXPECT_THAT(KernelsBy(program, family.generator), IsEmpty());
    const std::vector<KernelInfo> kernels = KernelsBy(program, "tasks");
    ASSERT_THAT(kernels, Not(IsEmpty()));
    ASSERT_THAT(kernels[0].refused(), SizeIs(1));
    EXPECT_EQ(kernels[0].refused(0),
              absl::StrCat(family.generator, ": made to fail"));
  }
}

TEST_F(FallbackTest, WhereThatFailsTooEveryComputeHasLoopsOfItsOwn) {
  for (const Family& family : Families()) {
    if (std::string(family.generator) == "winograd") continue;
    SCOPED_TRACE(family.what);
    const Program program =
        CompileAndVerify(family.graph, Refusing({family.generator, "tasks"}));
    const std::vector<KernelInfo> kernels = KernelsBy(program, "plain");
    ASSERT_THAT(kernels, Not(IsEmpty()));
    EXPECT_THAT(kernels[0].refused(), SizeIs(2));
  }
}

TEST_F(FallbackTest, AWinogradConvolutionBecomesADirectOne) {
  for (const Family& family : Families()) {
    if (std::string(family.generator) != "winograd") continue;
    const Program program =
        CompileAndVerify(family.graph, Refusing({"winograd"}));
    const std::vector<KernelInfo> kernels = KernelsBy(program, "contraction");
    ASSERT_THAT(kernels, SizeIs(1));
    ASSERT_THAT(kernels[0].refused(), SizeIs(1));
    EXPECT_EQ(kernels[0].refused(0), "winograd: made to fail");
    EXPECT_THAT(kernels[0].schedule(), Not(HasSubstr("winograd")));
    // The same group, and the same key of its records.
    const Program by_winograd = CompileAndVerify(family.graph, {});
    const std::vector<KernelInfo> others = KernelsBy(by_winograd, "winograd");
    ASSERT_THAT(others, SizeIs(1));
    EXPECT_THAT(others[0].schedule(), HasSubstr("winograd %0 by [2]"));
    EXPECT_EQ(others[0].workload(), kernels[0].workload());
  }
}

TEST_F(FallbackTest, WithoutAnyGeneratorTheFirstErrorIsTold) {
  TW_ASSERT_OK_AND_ASSIGN(const TensorGraph graph,
                          ParseText(Families()[0].graph));
  const absl::Status status =
      Compile(ModelOf(graph), *codegen_,
              Refusing({"contraction", "tasks", "plain"}))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("group 'T Y'"));
}

constexpr char kTwoConvolutions[] = R"(
    X: f32[1, 4, 20, 20] = placeholder
    V: f32[4, 4, 3, 3] = placeholder
    W: f32[4, 4, 3, 3] = placeholder
    A: f32[1, 4, 18, 18] = compute (n: 1, o: 4, h: 18, w: 18)
      reduce (c: 4, i: 3, j: 3) sum:f32 {
        X[n, c, h + i, w + j] * V[o, c, i, j] } hint conv
    Y: f32[1, 4, 16, 16] = compute (n: 1, o: 4, h: 16, w: 16)
      reduce (c: 4, i: 3, j: 3) sum:f32 {
        A[n, c, h + i, w + j] * W[o, c, i, j] } hint conv
    return Y)";

TEST_F(FallbackTest, AFusedGroupFallsApart) {
  CompileOptions options;
  options.plan.connect = PlanOptions::Connect::kTileGraph;
  options.connect.evaluate.least_gain = -1e9;
  EXPECT_THAT(KernelsBy(CompileAndVerify(kTwoConvolutions, options), "fused"),
              SizeIs(1));
  options.admit = Refusing({"fused"}).admit;
  const Program program = CompileAndVerify(kTwoConvolutions, options);
  EXPECT_THAT(program.kernels(), SizeIs(2));
  ASSERT_THAT(program.unfused(), SizeIs(1));
  EXPECT_EQ(program.unfused(0).computes(), "A Y");
  EXPECT_EQ(program.unfused(0).why(), "made to fail");
}

// A code generator that does not emit kernels of several tasks.
class OneTaskCodegen : public backends::Codegen {
 public:
  explicit OneTaskCodegen(const backends::Codegen& real) : real_(real) {}
  const DeviceSpec& spec() const override { return real_.spec(); }
  absl::StatusOr<kernel_ir::ScalarKernel> Legalize(
      const kernel_ir::Kernel& kernel) const override {
    return real_.Legalize(kernel);
  }
  absl::StatusOr<backends::Module> Emit(
      absl::Span<const kernel_ir::ScalarKernel> kernels) const override {
    for (const kernel_ir::ScalarKernel& kernel : kernels) {
      if (kernel.num_tasks > 1)
        return absl::UnimplementedError("several tasks");
    }
    return real_.Emit(kernels);
  }
  absl::StatusOr<std::string> Source(
      const kernel_ir::ScalarKernel& kernel) const override {
    return real_.Source(kernel);
  }

 private:
  const backends::Codegen& real_;
};

TEST_F(FallbackTest, AKernelThatIsNotEmittedIsMadeInAnotherWay) {
  const OneTaskCodegen codegen(*codegen_);
  for (const char* what : {"depthwise convolution", "softmax"}) {
    for (const Family& family : Families()) {
      if (std::string(family.what) != what) continue;
      SCOPED_TRACE(what);
      TW_ASSERT_OK_AND_ASSIGN(const TensorGraph graph, ParseText(family.graph));
      const Program program = CompileAndVerify(graph, codegen, {});
      ASSERT_THAT(program.kernels(), SizeIs(1));
      EXPECT_EQ(program.kernels(0).generator(), "plain");
      ASSERT_THAT(program.kernels(0).refused(), SizeIs(2));
      EXPECT_THAT(program.kernels(0).refused(0), StartsWith(family.generator));
      EXPECT_THAT(program.kernels(0).refused(1), "tasks: several tasks");
    }
  }
}

}  // namespace
}  // namespace tilewright
