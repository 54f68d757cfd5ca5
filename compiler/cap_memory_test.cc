// Models under a cap: right, within it, and moving what was counted.
#include "compiler/cap_memory.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/host_spec.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "compiler/test_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/model.h"
#include "runtime/session.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// Two convolutions of 16 channels with a ReLU between, on 64 x 24 pixels.
constexpr char kConvolutions[] = R"(
X: f32[1, 16, 64, 24] = placeholder
V: f32[16, 16, 3, 3] = placeholder
W: f32[16, 16, 3, 3] = placeholder
P: f32[1, 16, 66, 26] = compute (n: 1, c: 16, h: 66, w: 26) { select(h - 1 >= 0 && h - 1 < 64 && (w - 1 >= 0 && w - 1 < 24), X[n, c, h - 1, w - 1], 0.0) } hint pad
C: f32[1, 16, 64, 24] = compute (n: 1, o: 16, h: 64, w: 24) reduce (c: 16, i: 3, j: 3) sum:f32 { P[n, c, h + i, w + j] * V[o, c, i, j] } hint conv
R: f32[1, 16, 64, 24] = compute (n: 1, o: 16, h: 64, w: 24) { max(C[n, o, h, w], 0.0) }
Q: f32[1, 16, 66, 26] = compute (n: 1, c: 16, h: 66, w: 26) { select(h - 1 >= 0 && h - 1 < 64 && (w - 1 >= 0 && w - 1 < 24), R[n, c, h - 1, w - 1], 0.0) } hint pad
D: f32[1, 16, 64, 24] = compute (n: 1, o: 16, h: 64, w: 24) reduce (c: 16, i: 3, j: 3) sum:f32 { Q[n, c, h + i, w + j] * W[o, c, i, j] } hint conv
E: f32[1, 16, 64, 24] = compute (n: 1, o: 16, h: 64, w: 24) { D[n, o, h, w] + X[n, o, h, w] }
return E
)";
constexpr int64_t kTensorBytes = 16 * 64 * 24 * 4;

class CapMemoryTest : public testing::Test {
 protected:
  // The bytes that `graph` moves under `cap`; checks values and memory.
  int64_t MovedBytes(const TensorGraph& graph, const CompileOptions& options,
                     uint64_t seed) {
    const ImportedModel model = ModelOf(graph);
    const CapOptions& cap = options.cap;
    const absl::StatusOr<CompiledModel> compiled =
        Compile(model, *codegen_, options);
    EXPECT_THAT(compiled, IsOk());
    if (!compiled.ok()) return -1;
    EXPECT_LE(compiled->program.arena_bytes(), cap.arena_bytes);
    const std::map<TensorId, HostTensor> by_tensor =
        RandomInputs(graph, seed, /*exact_integers=*/true);
    std::vector<HostTensor> inputs;
    for (const Port& port : model.inputs)
      inputs.push_back(by_tensor.at(port.tensor));
    const auto loaded =
        Model::FromBytes(compiled->Serialize(), *cpu::CreateCpuDevice({1}));
    EXPECT_THAT(loaded, IsOk());
    const auto session = Session::Create(*loaded);
    EXPECT_THAT(session, IsOk());
    const absl::StatusOr<std::vector<HostTensor>> outputs =
        RunSession(**session, model, inputs);
    EXPECT_THAT(outputs, IsOk());
    const auto reference = Interpreter::Create(graph, by_tensor, {});
    for (size_t i = 0; i < outputs->size(); ++i) {
      const absl::StatusOr<HostTensor> wanted =
          (*reference)->Evaluate(graph.outputs()[i]);
      EXPECT_THAT(wanted, IsOk());
      EXPECT_EQ(std::string((*outputs)[i].data(), (*outputs)[i].size_bytes()),
                std::string(wanted->data(), wanted->size_bytes()));
    }
    return (*session)->moved_bytes();
  }

  static CompileOptions Under(const CapOptions& cap) {
    CompileOptions options;
    options.plan.connect = PlanOptions::Connect::kRegister;
    options.cap = cap;
    return options;
  }
  // With every fusion that can be, gain or no gain.
  static CompileOptions Fused(const CapOptions& cap) {
    CompileOptions options = Under(cap);
    options.plan.connect = PlanOptions::Connect::kTileGraph;
    options.connect.evaluate.least_gain = -1e9;
    return options;
  }

  const std::unique_ptr<backends::Codegen> codegen_ =
      *cpu::CreateCpuCodegen(*HostSpec());
};

TEST_F(CapMemoryTest, ConvolutionsInAnEighthOfTheirTensors) {
  const absl::StatusOr<TensorGraph> graph = ParseText(kConvolutions);
  ASSERT_THAT(graph, IsOk());
  const int64_t cap_bytes = kTensorBytes;  // 3 tensors and 2 filters at once
  const int64_t together = MovedBytes(*graph, Under({cap_bytes}), 1);
  const int64_t alone = MovedBytes(*graph, Under({cap_bytes, true}), 1);
  EXPECT_GT(together, 0);
  EXPECT_LT(together, alone);
  // The bytes moved do not depend on how the groups of a band are fused.
  EXPECT_EQ(MovedBytes(*graph, Fused({cap_bytes}), 1), together);
  EXPECT_EQ(MovedBytes(*graph, Fused({8 * cap_bytes}), 1),
            MovedBytes(*graph, Under({8 * cap_bytes}), 1));
}

TEST_F(CapMemoryTest, RandomModels) {
  int runs = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraphOptions options;
    options.exact_only = true;
    const TensorGraph graph =
        BuildGraph(RandomChain(seed, 5, 0.3), seed, options);
    int64_t total_bytes = 0;
    for (const Tensor& tensor : graph.tensors())
      total_bytes += tensor.num_bytes() + 512;
    const ImportedModel model = ModelOf(graph);
    if (!CapMemory(model, {total_bytes / 4}).ok()) continue;
    const CapOptions cap = {total_bytes / 2};
    if (!Compile(model, *codegen_, Under(cap)).ok()) continue;
    MovedBytes(graph, Under(cap), seed);
    if (Compile(model, *codegen_, Fused(cap)).ok())
      MovedBytes(graph, Fused(cap), seed);
    ++runs;
  }
  EXPECT_GT(runs, 15);
}

TEST_F(CapMemoryTest, SaysWhatDoesNotFit) {
  const absl::StatusOr<TensorGraph> graph = ParseText(kConvolutions);
  ASSERT_THAT(graph, IsOk());
  CompileOptions options;
  options.cap.arena_bytes = 4096;
  EXPECT_THAT(Compile(ModelOf(*graph), *codegen_, options).status(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("raise the cap")));
}

}  // namespace
}  // namespace tilewright
