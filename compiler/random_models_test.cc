// Random graphs through the whole compiler, on the CPU: views, destinations,
// layouts and fusion give what the reference interpreter gives.
//
// TILEWRIGHT_RANDOM_CASES sets the number of cases over all shards (400 by
// default), TILEWRIGHT_RANDOM_SEED the first seed.
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/host_spec.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "compiler/compile.h"
#include "compiler/test_model.h"
#include "gtest/gtest.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

constexpr int kParts = 8;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// Up to twelve computes; more moves than arithmetic.
TensorGraph DrawGraph(uint64_t seed) {
  Random random(seed);
  const GraphShape shape = RandomChain(
      random.Next(), static_cast<int>(random.UniformInt(2, 12)), 0.5);
  RandomGraphOptions options;
  options.exact_only = true;
  return BuildGraph(shape, random.Next(), options);
}

PlanOptions DrawPlanOptions(uint64_t seed) {
  constexpr int kBlocks[] = {0, 2, 4, 16};
  PlanOptions options;
  options.channel_block = kBlocks[seed % 4];
  if (seed % 11 == 0) options.connect = PlanOptions::Connect::kNone;
  if (seed % 3 == 0) options.connect = PlanOptions::Connect::kTileGraph;
  return options;
}

class RandomModelsTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    absl::StatusOr<DeviceSpec> spec = HostSpec();
    if (!spec.ok()) GTEST_SKIP() << spec.status();
    codegen_ = *cpu::CreateCpuCodegen(*spec);
    for (const int threads : {1, 2})
      devices_.push_back(*cpu::CreateCpuDevice({.num_threads = threads}));
  }

  absl::Status RunCase(const TensorGraph& graph, uint64_t seed) {
    const ImportedModel model = ModelOf(graph);
    CompileOptions options;
    options.plan = DrawPlanOptions(seed);
    // Small graphs gain nothing: fuse whatever can be.
    options.connect.evaluate.least_gain = -1e9;
    if (seed % 2 == 0) options.connect.search = ConnectSearch::kGreedy;
    TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                        Compile(model, *codegen_, options));
    fused_ += static_cast<int>(compiled.connected.fusions.size());
    for (const Group& group : compiled.plan.groups)
      side_outputs_ += static_cast<int>(group.side_outputs.size());
    const std::map<TensorId, HostTensor> by_tensor =
        RandomInputs(graph, seed, /*exact_integers=*/true);
    std::vector<HostTensor> inputs;
    for (const Port& port : model.inputs)
      inputs.push_back(by_tensor.at(port.tensor));
    TW_ASSIGN_OR_RETURN(
        const std::vector<HostTensor> outputs,
        RunCompiled(compiled, devices_[seed % devices_.size()], model, inputs));
    TW_ASSIGN_OR_RETURN(const auto reference,
                        Interpreter::Create(graph, by_tensor, {}));
    for (size_t o = 0; o < outputs.size(); ++o) {
      TW_ASSIGN_OR_RETURN(const HostTensor want,
                          reference->Evaluate(model.outputs[o].tensor));
      for (int64_t i = 0; i < want.num_elements(); ++i) {
        const Scalar got = outputs[o].Get(i), wanted = want.Get(i);
        if (got.f == wanted.f && got.i == wanted.i) continue;
        return absl::InternalError(
            absl::StrCat(model.outputs[o].name, "[", i, "] is ", got.f + got.i,
                         ", not ", wanted.f + wanted.i, "\n",
                         ToString(compiled.plan, compiled.graph)));
      }
    }
    return absl::OkStatus();
  }

  std::unique_ptr<backends::Codegen> codegen_;
  std::vector<std::shared_ptr<backends::Device>> devices_;
  int fused_ = 0, side_outputs_ = 0;
};

TEST_P(RandomModelsTest, ComputeWhatTheInterpreterComputes) {
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 400);
  const int64_t first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 1);
  const int64_t begin = first + cases * GetParam() / kParts,
                end = first + cases * (GetParam() + 1) / kParts;
  for (int64_t seed = begin; seed < end; ++seed) {
    const TensorGraph graph = DrawGraph(static_cast<uint64_t>(seed));
    const absl::Status status = RunCase(graph, static_cast<uint64_t>(seed));
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status << "\n"
                             << PrintText(graph);
  }
  if (end - begin >= 50) {
    EXPECT_GE(fused_, 5);
    EXPECT_GE(side_outputs_, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomModelsTest, ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright
