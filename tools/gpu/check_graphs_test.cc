// The graphs that check GPUs: every family becomes blocks of threads that NVRTC
// compiles, and rows can be computed alone.
#include "tools/gpu/check_graphs.h"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "backends/codegen.h"
#include "backends/cuda/codegen/cuda_codegen.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/reference/reference.h"
#include "tilegraph/text/text_form.h"
#include "tools/gpu/graph_on_device.h"
#include "tools/gpu/planned_graph.h"

namespace tilewright::cuda {
namespace {

TEST(CheckGraphsTest, EveryFamilyIsThereInBothStorages) {
  for (const CheckSizes sizes : {CheckSizes::kGpu, CheckSizes::kEmulated}) {
    std::map<std::string, std::set<DType>> families;
    for (const CheckGraph& graph : CheckGraphs(sizes)) {
      TW_ASSERT_OK_AND_ASSIGN(const TensorGraph parsed,
                              ParseText(graph.TextOf(graph.rows)));
      families[graph.family].insert(graph.storage);
      for (const Tensor& tensor : parsed.tensors()) {
        if (tensor.kind == TensorKind::kPlaceholder) {
          EXPECT_EQ(tensor.dtype, graph.storage) << graph.name;
        }
      }
      EXPECT_EQ(parsed.tensor(parsed.outputs()[0]).dtype, graph.storage);
    }
    EXPECT_EQ(families.size(), 11u);
    for (const auto& [family, storages] : families)
      EXPECT_EQ(storages.size(), 2u) << family;
  }
}

// The first rows of a graph's inputs give the first rows of its outputs.
TEST(CheckGraphsTest, RowsDoNotDependOnEachOther) {
  for (const CheckGraph& graph : CheckGraphs(CheckSizes::kEmulated)) {
    SCOPED_TRACE(graph.family + " " + graph.name);
    TW_ASSERT_OK_AND_ASSIGN(const TensorGraph all,
                            ParseText(graph.TextOf(graph.rows)));
    TW_ASSERT_OK_AND_ASSIGN(const TensorGraph one, ParseText(graph.TextOf(1)));
    const std::map<TensorId, HostTensor> inputs = RandomInputs(all);
    std::map<TensorId, HostTensor> first;
    for (const auto& [id, values] : inputs) {
      HostTensor& some =
          first
              .emplace(
                  id, HostTensor(values.dtype(), one.tensor(id).static_shape()))
              .first->second;
      for (int64_t i = 0; i < some.num_elements(); ++i)
        some.Set(i, values.Get(i));
    }
    TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult whole,
                            EvaluateReference(all, inputs, {}));
    TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult row,
                            EvaluateReference(one, first, {}));
    for (const auto& [id, tensor] : row.outputs) {
      const auto begin = whole.outputs.at(id).value.begin();
      EXPECT_EQ(tensor.value,
                std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(
                                                       tensor.value.size())));
    }
  }
}

class CheckGraphsOn
    : public testing::TestWithParam<std::tuple<const char*, DType>> {};

TEST_P(CheckGraphsOn, CompileInBlocksOfThreads) {
  const auto& [name, storage] = GetParam();
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(name));
  const auto codegen = CreateCudaCodegen(spec);
  if (!codegen.ok()) GTEST_SKIP() << codegen.status().message();
  for (const CheckGraph& graph : CheckGraphs(CheckSizes::kGpu)) {
    if (graph.storage != storage) continue;
    SCOPED_TRACE(graph.family + " " + graph.name);
    TW_ASSERT_OK_AND_ASSIGN(const PlannedGraph planned,
                            PlanGraph(graph.TextOf(graph.rows), **codegen));
    for (const PlannedKernel& kernel : planned.kernels) {
      EXPECT_EQ(kernel.kernel.generator, "simt");
      ASSERT_NE(kernel.tiles, nullptr);
      EXPECT_GT(kernel.tiles->cost.seconds, 0);
      EXPECT_EQ(kernel.kernel.report.spill_bytes, 0);
      std::cout << graph.family << ", " << graph.name << ": "
                << kernel.kernel.scalar.num_tasks << " blocks of "
                << kernel.kernel.scalar.threads << ", "
                << kernel.kernel.report.registers.value_or(0) << " registers, "
                << kernel.kernel.report.spill_bytes.value_or(0)
                << " bytes spilled\n";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Specs, CheckGraphsOn,
                         testing::Combine(testing::Values("t4", "a100", "h100"),
                                          testing::Values(DType::kFloat32,
                                                          DType::kFloat16)));

}  // namespace
}  // namespace tilewright::cuda
