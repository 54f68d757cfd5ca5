// Attention whose keys do not fit into the cache of a core becomes one kernel
// that holds a block of scores.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "compiler/test_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

constexpr int64_t kCoreBytes = 128 << 10;

// A head; T: keys, transposed.
std::string Attention(int tokens, int width) {
  return absl::Substitute(R"(
    Q: f32[1, $0, $1] = placeholder
    T: f32[1, $1, $0] = placeholder
    V: f32[1, $0, $1] = placeholder
    S: f32[1, $0, $0] = compute (h: 1, i: $0, j: $0) reduce (d: $1) sum:f32 {
      Q[h, i, d] * T[h, d, j] }
    C: f32[1, $0, $0] = compute (h: 1, i: $0, j: $0) { S[h, i, j] * 0.25 }
    M: f32[1, $0] = compute (h: 1, i: $0) reduce (j: $0) max:f32 { C[h, i, j] }
    E: f32[1, $0, $0] = compute (h: 1, i: $0, j: $0) {
      exp(C[h, i, j] - M[h, i]) }
    L: f32[1, $0] = compute (h: 1, i: $0) reduce (j: $0) sum:f32 { E[h, i, j] }
    P: f32[1, $0, $0] = compute (h: 1, i: $0, j: $0) { E[h, i, j] / L[h, i] }
    Y: f32[1, $0, $1] = compute (h: 1, i: $0, c: $1) reduce (j: $0) sum:f32 {
      P[h, i, j] * V[h, j, c] }
    return Y
  )",
                          tokens, width);
}

// The group of Y.
const Group& LastGroup(const CompiledModel& compiled) {
  return compiled.plan.groups.back();
}

TEST(AttentionTest, IsOneKernelInBlocksOfKeysAndRight) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec host, HostSpec());
  // The figures of its class: what pays does not depend on this very machine.
  TW_ASSERT_OK_AND_ASSIGN(DeviceSpec spec, LoadSpec(host.target()));
  // As 2,048 tokens beside a megabyte, and scores beside the last cache, with
  // memory so far away that keeping them pays.
  for (MemoryLevel& level : *spec.mutable_levels()) {
    if (level.kind() == MemoryLevel::CACHE) {
      level.set_capacity_bytes(std::min<int64_t>(
          level.capacity_bytes(),
          level.scope() == MemoryLevel::CORE ? kCoreBytes : 2 * kCoreBytes));
    } else if (level.kind() == MemoryLevel::MEMORY) {
      level.set_read_bytes_per_s(level.read_bytes_per_s() / 4);
      level.set_write_bytes_per_s(level.write_bytes_per_s() / 4);
    }
  }
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, cpu::CreateCpuCodegen(spec));
  TW_ASSERT_OK_AND_ASSIGN(TensorGraph graph, ParseText(Attention(512, 64)));
  const ImportedModel model = ModelOf(std::move(graph));
  CompileOptions options;
  options.plan.connect = PlanOptions::Connect::kTileGraph;
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *codegen, options));
  const Group& group = LastGroup(compiled);
  ASSERT_GE(group.stages.size(), 3u) << ToString(compiled.plan, compiled.graph);
  EXPECT_GT(group.tile_plan.reduce_step(), 0);
  // As the generator has decided: the rows of scores follow the blocks.
  EXPECT_TRUE(group.tile_plan.generated);
  EXPECT_TRUE(
      std::any_of(group.tile_plan.stages.begin(), group.tile_plan.stages.end(),
                  [](const StageDecision& stage) { return stage.follows; }));
  EXPECT_LT(
      compiled.program.kernels(compiled.kernel_of_group.back()).scratch_bytes(),
      kCoreBytes);

  Random random(1);
  std::vector<HostTensor> inputs;
  for (const Port& port : model.inputs) {
    HostTensor tensor(port.dtype, port.shape);
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      tensor.Set(i, {random.Normal(), 0});
    inputs.push_back(std::move(tensor));
  }
  TW_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<backends::Device> device,
                          cpu::CreateCpuDevice({2}));
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<HostTensor> found,
                          RunCompiled(compiled, device, model, inputs));
  std::map<TensorId, HostTensor> by_tensor;
  for (size_t i = 0; i < inputs.size(); ++i)
    by_tensor[model.inputs[i].tensor] = inputs[i];
  TW_ASSERT_OK_AND_ASSIGN(const auto reference,
                          Interpreter::Create(model.graph, by_tensor, {}));
  TW_ASSERT_OK_AND_ASSIGN(const HostTensor wanted,
                          reference->Evaluate(model.outputs[0].tensor));
  for (int64_t i = 0; i < wanted.num_elements(); ++i)
    ASSERT_NEAR(found[0].Get(i).f, wanted.Get(i).f, 1e-5) << i;
}

}  // namespace
}  // namespace tilewright
