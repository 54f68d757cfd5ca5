// The whole way, on the CPU: what is compiled computes what the reference
// interpreter computes.
#include "compiler/compile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "compiler/rewrite_model.h"
#include "compiler/test_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/model.h"
#include "runtime/session.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/rewrite/bf16_contractions.h"
#include "tilegraph/rewrite/winograd.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

ImportedModel ModelOf(std::string_view text) {
  absl::StatusOr<TensorGraph> graph = ParseText(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? ModelOf(*std::move(graph)) : ImportedModel();
}

std::vector<HostTensor> RandomInputsOf(const ImportedModel& model,
                                       uint64_t seed) {
  Random random(seed);
  std::vector<HostTensor> inputs;
  for (const Port& port : model.inputs) {
    HostTensor tensor(port.dtype, port.shape);
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      tensor.Set(i, {random.Normal(), random.UniformInt(-4, 4)});
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

std::string Bytes(const HostTensor& tensor) {
  return std::string(tensor.data(), tensor.size_bytes());
}

class CompileTest : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<backends::Codegen> HostCodegen() {
    return *cpu::CreateCpuCodegen(*HostSpec());
  }
  std::shared_ptr<backends::Device> DeviceWith(int threads) {
    return *cpu::CreateCpuDevice({threads});
  }

  void ExpectLikeTheInterpreter(const ImportedModel& model,
                                const CompileOptions& options) {
    TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                            Compile(model, *HostCodegen(), options));
    const std::vector<HostTensor> inputs = RandomInputsOf(model, 1);
    std::map<TensorId, HostTensor> by_tensor;
    for (size_t i = 0; i < inputs.size(); ++i)
      by_tensor[model.inputs[i].tensor] = inputs[i];
    TW_ASSERT_OK_AND_ASSIGN(const auto reference,
                            Interpreter::Create(model.graph, by_tensor, {}));
    std::vector<std::string> first;
    for (const int threads : {1, 2}) {
      TW_ASSERT_OK_AND_ASSIGN(
          const auto loaded,
          threads == 1
              ? Model::FromView(compiled.View(), DeviceWith(threads))
              : Model::FromBytes(compiled.Serialize(), DeviceWith(threads)));
      TW_ASSERT_OK_AND_ASSIGN(const auto session, Session::Create(loaded));
      TW_ASSERT_OK_AND_ASSIGN(const std::vector<HostTensor> outputs,
                              RunSession(*session, model, inputs));
      for (size_t o = 0; o < outputs.size(); ++o) {
        TW_ASSERT_OK_AND_ASSIGN(const HostTensor want,
                                reference->Evaluate(model.outputs[o].tensor));
        for (int64_t i = 0; i < want.num_elements(); ++i) {
          if (!IsFloat(want.dtype())) {
            ASSERT_EQ(outputs[o].Get(i).i, want.Get(i).i)
                << model.outputs[o].name << " " << i;
          } else {
            ASSERT_NEAR(outputs[o].Get(i).f, want.Get(i).f,
                        1e-5 * (1 + std::abs(want.Get(i).f)))
                << model.outputs[o].name << " " << i;
          }
        }
        if (threads == 1) first.push_back(Bytes(outputs[o]));
        EXPECT_EQ(Bytes(outputs[o]), first[o])
            << "bits depend on the number of threads";
      }
    }
  }
};

constexpr char kGemmRelu[] = R"(
    A: f32[64, 32] = placeholder
    B: f32[32, 48] = placeholder
    b: f32[48] = placeholder
    T: f32[64, 48] = compute (m: 64, n: 48) reduce (k: 32) sum:f32 { A[m, k] * B[k, n] }
    U: f32[64, 48] = compute (m: 64, n: 48) { T[m, n] + b[n] }
    Y: f32[64, 48] = compute (m: 64, n: 48) { max(U[m, n], 0) }
    return Y
)";

// Padding kept as a halo, blocked channels, a residual addition, pooling with
// guards, a reshape view.
constexpr char kSmallNet[] = R"(
    X: f32[1, 3, 9, 11] = placeholder
    V: f32[32, 3] = placeholder
    W: f32[32, 32, 3, 3] = placeholder
    F: f32[32, 10] = placeholder
    C: f32[1, 32, 9, 11] = compute (n: 1, o: 32, h: 9, w: 11) reduce (c: 3) sum:f32 { X[n, c, h, w] * V[o, c] } hint "conv"
    R: f32[1, 32, 9, 11] = compute (n: 1, o: 32, h: 9, w: 11) { max(C[n, o, h, w], 0) }
    P: f32[1, 32, 11, 13] = compute (n: 1, o: 32, h: 11, w: 13) { select(h >= 1 && h < 10 && w >= 1 && w < 12, R[n, o, h - 1, w - 1], 0) } hint "pad"
    D: f32[1, 32, 9, 11] = compute (n: 1, o: 32, h: 9, w: 11) reduce (c: 32, i: 3, j: 3) sum:f32 { P[n, c, h + i, w + j] * W[o, c, i, j] } hint "conv"
    E: f32[1, 32, 9, 11] = compute (n: 1, o: 32, h: 9, w: 11) { D[n, o, h, w] + R[n, o, h, w] }
    M: f32[1, 32, 5, 6] = compute (n: 1, o: 32, h: 5, w: 6) reduce (i: 3, j: 3) max:f32 { select(h * 2 + i >= 1 && h * 2 + i < 10 && w * 2 + j >= 1 && w * 2 + j < 12, E[n, o, h * 2 + i - 1, w * 2 + j - 1], -inf) } hint "pool"
    G: f32[1, 32, 1, 1] = compute (n: 1, o: 32, h: 1, w: 1) reduce (i: 5, j: 6) sum:f32 { M[n, o, i, j] }
    S: f32[1, 32] = compute (n: 1, o: 32) { G[n, o, 0, 0] }
    Y: f32[1, 10] = compute (n: 1, m: 10) reduce (k: 32) sum:f32 { S[n, k] * F[k, m] }
    return Y
)";

constexpr char kTwoOutputs[] = R"(
    A: f32[5, 7] = placeholder
    Y: f32[5, 7] = compute (m: 5, n: 7) { A[m, n] * A[m, n] }
    Z: f32[5] = compute (m: 5) reduce (n: 7) sum:f32 { Y[m, n] }
    return Y, Z
)";

constexpr char kSoftmax[] = R"(
    A: f32[5, 37] = placeholder
    M: f32[5] = compute (m: 5) reduce (n: 37) max:f32 { A[m, n] }
    E: f32[5, 37] = compute (m: 5, n: 37) { exp(A[m, n] - M[m]) }
    S: f32[5] = compute (m: 5) reduce (n: 37) sum:f32 { E[m, n] }
    Y: f32[5, 37] = compute (m: 5, n: 37) { E[m, n] / S[m] }
    return Y
)";

constexpr char kIntegers[] = R"(
    A: i32[6, 20] = placeholder
    T: i32[20, 6] = compute (m: 20, n: 6) { A[n, m] * 3 }
    Y: i64[20] = compute (m: 20) reduce (n: 6) argmax:i32 { T[m, n], n } result 1
    return Y
)";

TEST_P(CompileTest, ComputesWhatTheInterpreterComputes) {
  ExpectLikeTheInterpreter(ModelOf(GetParam()), {});
}

TEST_P(CompileTest, AlsoWithEveryComputeAlone) {
  CompileOptions options;
  options.plan.connect = PlanOptions::Connect::kNone;
  ExpectLikeTheInterpreter(ModelOf(GetParam()), options);
}

TEST_P(CompileTest, TwiceGivesTheSameBytes) {
  const ImportedModel model = ModelOf(GetParam());
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel first,
                          Compile(model, *HostCodegen(), {}));
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel second,
                          Compile(model, *HostCodegen(), {}));
  EXPECT_EQ(first.Serialize(), second.Serialize());
}

INSTANTIATE_TEST_SUITE_P(Models, CompileTest,
                         testing::Values(kGemmRelu, kSmallNet, kTwoOutputs,
                                         kSoftmax, kIntegers));

// Two convolutions of 3x3, padded, with `channels` channels each.
ImportedModel ConvolutionsOf(int64_t channels, int64_t height, int64_t width) {
  Random random(4);
  const std::string shape =
      absl::StrCat("[1, ", channels, ", ", height, ", ", width, "]");
  const std::string axes = absl::StrCat("(n: 1, o: ", channels, ", h: ", height,
                                        ", w: ", width, ")");
  std::string text = absl::StrCat("X: f32", shape, " = placeholder\n");
  std::string data = "X";
  for (const std::string layer : {"1", "2"}) {
    std::string weights;
    for (int64_t i = 0; i < channels * channels * 9; ++i)
      absl::StrAppend(&weights, i == 0 ? "" : ", ", random.UniformInt(-3, 3));
    absl::StrAppend(
        &text, "P", layer, ": f32[1, ", channels, ", ", height + 2, ", ",
        width + 2, "] = compute (n: 1, c: ", channels, ", h: ", height + 2,
        ", w: ", width + 2, ") { select(h - 1 >= 0 && h - 1 < ", height,
        " && (w - 1 >= 0 && w - 1 < ", width, "), ", data,
        "[n, c, h - 1, w - 1], 0.0) } hint pad\nW", layer, ": f32[", channels,
        ", ", channels, ", 3, 3] = constant { ", weights, " }\nC", layer,
        ": f32", shape, " = compute ", axes, " reduce (c: ", channels,
        ", i: 3, j: 3) sum:f32 { P", layer, "[n, c, h + i, w + j] * W", layer,
        "[o, c, i, j] } hint conv\nR", layer, ": f32", shape, " = compute ",
        axes, " { max(C", layer, "[n, o, h, w] * 0.0078125, 0.0) }\n");
    data = absl::StrCat("R", layer);
  }
  return ModelOf(absl::StrCat(text, "return R2\n"));
}

TEST_F(CompileTest, ConvolutionsBecomeMinimalFiltering) {
  for (const auto& [height, width] : {std::pair{16, 16}, {15, 17}}) {
    const ImportedModel model = ConvolutionsOf(16, height, width);
    for (const bool large : {false, true}) {
      CompileOptions options;
      if (large) options.allow = {kAllowWinograd4};
      TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                              Compile(model, *HostCodegen(), options));
      EXPECT_THAT(PrintText(compiled.graph),
                  HasSubstr(large ? "hint winograd4" : "hint winograd2"));
      EXPECT_TRUE(std::any_of(
          compiled.program.kernels().begin(), compiled.program.kernels().end(),
          [](const KernelInfo& kernel) {
            return kernel.generator() == "winograd" && kernel.refused().empty();
          }));
      ExpectLikeTheInterpreter(model, options);
    }
  }
}

TEST_F(CompileTest, OperandsAreRoundedToBf16OnlyWhereAllowed) {
  std::string weights;
  for (int i = 0; i < 64 * 48; ++i)
    absl::StrAppend(&weights, i == 0 ? "" : ", ", i * 7 % 11 - 5);
  const ImportedModel model = ModelOf(absl::StrCat(
      "A: f32[33, 64] = placeholder\nB: f32[64, 48] = constant { ", weights,
      R"( }
    T: f32[33, 48] = compute (m: 33, n: 48) reduce (k: 64) sum:f32 {
      A[m, k] * B[k, n] } hint matmul
    Y: f32[33, 48] = compute (m: 33, n: 48) { max(T[m, n], 0.0) }
    return Y
  )"));
  CompileOptions options;
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel exact,
                          Compile(model, *HostCodegen(), options));
  EXPECT_EQ(PrintText(exact.graph).find("bf16"), std::string::npos);
  options.allow = {kAllowBf16};
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *HostCodegen(), options));
  if (PrintText(compiled.graph).find("bf16") == std::string::npos)
    GTEST_SKIP() << "this CPU does not multiply bf16";

  const RewrittenGraph rounded = RoundContractionsToBf16(model.graph);
  const std::vector<HostTensor> inputs = RandomInputsOf(model, 1);
  Interpreter::Options every_edge;
  every_edge.round_floats = true;
  TW_ASSERT_OK_AND_ASSIGN(
      const auto reference,
      Interpreter::Create(rounded.graph,
                          {{rounded.ids[model.inputs[0].tensor], inputs[0]}},
                          every_edge));
  TW_ASSERT_OK_AND_ASSIGN(
      const HostTensor want,
      reference->Evaluate(rounded.ids[model.outputs[0].tensor]));
  TW_ASSERT_OK_AND_ASSIGN(
      const auto loaded, Model::FromBytes(compiled.Serialize(), DeviceWith(2)));
  TW_ASSERT_OK_AND_ASSIGN(const auto session, Session::Create(loaded));
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<HostTensor> outputs,
                          RunSession(*session, model, inputs));
  for (int64_t i = 0; i < want.num_elements(); ++i)
    ASSERT_NEAR(outputs[0].Get(i).f, want.Get(i).f, 1e-4) << i;
}

TEST_F(CompileTest, OlderClassesOfCpuComputeTheSame) {
  const ImportedModel model = ModelOf(kSmallNet);
  const std::vector<HostTensor> inputs = RandomInputsOf(model, 3);
  std::vector<HostTensor> first;
  for (const char* spec : {"cpu_x86_64_v2", "cpu_x86_64_v3"}) {
    TW_ASSERT_OK_AND_ASSIGN(const auto codegen,
                            cpu::CreateCpuCodegen(*LoadSpec(spec)));
    TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                            Compile(model, *codegen, {}));
    const auto loaded = Model::FromBytes(compiled.Serialize(), DeviceWith(1));
    if (absl::IsFailedPrecondition(loaded.status()))
      GTEST_SKIP() << loaded.status();
    TW_ASSERT_OK_AND_ASSIGN(const auto session, Session::Create(*loaded));
    TW_ASSERT_OK_AND_ASSIGN(const std::vector<HostTensor> outputs,
                            RunSession(*session, model, inputs));
    if (first.empty()) first = outputs;
    for (int64_t i = 0; i < outputs[0].num_elements(); ++i) {
      EXPECT_NEAR(outputs[0].Get(i).f, first[0].Get(i).f,
                  1e-5 * (1 + std::abs(first[0].Get(i).f)));
    }
  }
}

TEST_F(CompileTest, AHundredRunsGiveTheSameBits) {
  const ImportedModel model = ModelOf(kSmallNet);
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *HostCodegen(), {}));
  TW_ASSERT_OK_AND_ASSIGN(
      const auto loaded, Model::FromBytes(compiled.Serialize(), DeviceWith(2)));
  TW_ASSERT_OK_AND_ASSIGN(const auto session, Session::Create(loaded));
  const std::vector<HostTensor> inputs = RandomInputsOf(model, 2);
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<HostTensor> first,
                          RunSession(*session, model, inputs));
  for (int run = 1; run < 100; ++run) {
    TW_ASSERT_OK_AND_ASSIGN(const std::vector<HostTensor> outputs,
                            RunSession(*session, model, inputs));
    ASSERT_EQ(Bytes(outputs[0]), Bytes(first[0])) << run;
  }
}

TEST_F(CompileTest, SessionsOverOneModelRunConcurrently) {
  const ImportedModel model = ModelOf(kSmallNet);
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *HostCodegen(), {}));
  TW_ASSERT_OK_AND_ASSIGN(
      const auto loaded, Model::FromBytes(compiled.Serialize(), DeviceWith(2)));
  std::vector<std::string> wanted(4), got(4);
  for (int i = 0; i < 4; ++i) {
    TW_ASSERT_OK_AND_ASSIGN(const auto session, Session::Create(loaded));
    TW_ASSERT_OK_AND_ASSIGN(
        const auto outputs,
        RunSession(*session, model, RandomInputsOf(model, i)));
    wanted[i] = Bytes(outputs[0]);
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const auto session = *Session::Create(loaded);
      const std::vector<HostTensor> inputs = RandomInputsOf(model, i);
      for (int run = 0; run < 20; ++run) {
        const auto outputs = RunSession(*session, model, inputs);
        got[i] = outputs.ok() ? Bytes((*outputs)[0])
                              : std::string(outputs.status().message());
        if (got[i] != wanted[i]) return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, wanted);
}

TEST_F(CompileTest, EqualGroupsShareAKernel) {
  const ImportedModel model = ModelOf(R"(
      A: f32[8, 8] = placeholder
      S: f32[8, 8] = compute (m: 8, n: 8) reduce (k: 8) sum:f32 { A[m, k] * A[k, n] }
      T: f32[8, 8] = compute (m: 8, n: 8) reduce (k: 8) sum:f32 { S[m, k] * S[k, n] }
      Y: f32[8, 8] = compute (m: 8, n: 8) reduce (k: 8) sum:f32 { T[m, k] * T[k, n] }
      return Y
  )");
  CompileOptions apart;
  apart.plan.connect = PlanOptions::Connect::kRegister;
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *HostCodegen(), apart));
  EXPECT_EQ(compiled.kernel_of_group.size(), 3u);
  EXPECT_EQ(compiled.kernels.size(), 1u);
}

TEST_F(CompileTest, EqualPartsOfAConcatenationShareAKernel) {
  const ImportedModel model = ModelOf(R"(
      X: f32[3, 32] = placeholder
      Z: f32[3, 32] = placeholder
      B: f32[3, 32] = compute (i: 3, j: 32) { exp(X[i, j]) * X[i, 31 - j] }
      C: f32[3, 32] = compute (i: 3, j: 32) { exp(Z[i, j]) * Z[i, 31 - j] }
      W: f32[3, 64] = compute (i: 3, j: 64) { select(j < 32, B[i, j], C[i, j - 32]) }
      S: f32[3] = compute (i: 3) reduce (j: 64) sum:f32 { W[i, j] * W[i, 63 - j] }
      return S
  )");
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *HostCodegen(), {}));
  EXPECT_EQ(compiled.kernel_of_group.size(), 3u);
  EXPECT_EQ(compiled.kernels.size(), 2u);
  const Launch& second = compiled.program.steps(1).launch();
  EXPECT_EQ(second.args(second.args_size() - 1).offset_bytes(), 32 * 4);
  ExpectLikeTheInterpreter(model, {});
}

TEST_F(CompileTest, AModelForANewerCpuIsRefusedByName) {
  const ImportedModel model = ModelOf(kGemmRelu);
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen,
                          cpu::CreateCpuCodegen(*LoadSpec("cpu_x86_64_v4")));
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *codegen, {}));
  cpu::CpuDeviceOptions old;
  old.num_threads = 1;
  const DeviceSpec v3 = *LoadSpec("cpu_x86_64_v3");
  old.pretend_features.assign(v3.features().begin(), v3.features().end());
  const auto loaded =
      Model::FromBytes(compiled.Serialize(), *cpu::CreateCpuDevice(old));
  EXPECT_THAT(loaded.status(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                        HasSubstr("avx512f")));
}

TEST_F(CompileTest, WrongNumbersOfTensorsAreRefused) {
  const ImportedModel model = ModelOf(kGemmRelu);
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *HostCodegen(), {}));
  TW_ASSERT_OK_AND_ASSIGN(
      const auto loaded, Model::FromBytes(compiled.Serialize(), DeviceWith(1)));
  TW_ASSERT_OK_AND_ASSIGN(const auto session, Session::Create(loaded));
  EXPECT_THAT(session->Run({}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("3 inputs and 1 outputs, got 0 and 0")));
}

}  // namespace
}  // namespace tilewright
