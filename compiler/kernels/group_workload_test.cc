// Facts that a workload states about its inputs hold for whole models, while
// they run.
#include "compiler/kernels/group_workload.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/host_spec.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "compiler/kernels/kernel_maker.h"
#include "compiler/rewrite_model.h"
#include "compiler/test_model.h"
#include "frontends/onnx/import_model.h"
#include "gtest/gtest.h"
#include "runtime/model.h"
#include "runtime/session.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/plan/canonical_group.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

// Inputs of kernels that were looked at: those with known zeros, and those of
// fused groups among them.
struct Seen {
  int zeros = 0, fused = 0;
};

class KnownZerosTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<DeviceSpec> spec = HostSpec();
    if (!spec.ok()) GTEST_SKIP() << spec.status();
    codegen_ = *cpu::CreateCpuCodegen(*spec);
    device_ = *cpu::CreateCpuDevice({.num_threads = 1});
  }

  // Runs the compiled model once. Internal names a kernel and an argument of it
  // that is not zero where it is known to be, after the kernel has run.
  absl::StatusOr<Seen> CheckZeros(const ImportedModel& model,
                                  const CompiledModel& compiled) {
    TW_ASSIGN_OR_RETURN(const auto loaded,
                        Model::FromBytes(compiled.Serialize(), device_));
    TW_ASSIGN_OR_RETURN(const auto session, Session::Create(loaded));
    Random random(1);
    std::vector<HostTensor> boundary;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    boundary.reserve(model.inputs.size() + model.outputs.size());
    for (const Port& port : model.inputs) {
      HostTensor& values = boundary.emplace_back(port.dtype, port.shape);
      for (int64_t i = 0; i < values.num_elements(); ++i)
        values.Set(i, {random.Uniform(0.5, 1.5), 1});
      inputs.push_back(values.data());
    }
    for (const Port& port : model.outputs)
      outputs.push_back(boundary.emplace_back(port.dtype, port.shape).data());
    Seen seen;
    std::string wrong;
    TW_RETURN_IF_ERROR(session->RunSteps(inputs, outputs, [&](int step) {
      if (!compiled.program.steps(step).has_launch()) return;
      CheckLaunch(compiled, *session, compiled.program.steps(step).launch(),
                  seen, wrong);
    }));
    if (!wrong.empty()) return absl::InternalError(wrong);
    return seen;
  }

  static void CheckLaunch(const CompiledModel& compiled, const Session& session,
                          const Launch& launch, Seen& seen,
                          std::string& wrong) {
    const CompiledKernel& kernel = compiled.kernels[launch.kernel()];
    const sketch::Workload& workload = kernel.workload.workload;
    for (size_t i = 0; i < kernel.arg_tensors.size(); ++i) {
      const auto known = workload.zeros.find(kernel.arg_tensors[i]);
      if (known == workload.zeros.end()) continue;
      const Tensor& tensor = workload.graph.tensor(kernel.arg_tensors[i]);
      const Layout& layout = kernel.arg_layouts[i];
      const HostTensor values = layout.Unpack(
          tensor.dtype, {session.Address(launch.args(static_cast<int>(i))),
                         static_cast<size_t>(layout.physical_elements() *
                                             SizeBytes(tensor.dtype))});
      HostTensor filled = values;
      FillKnownZeros(known->second, filled);
      if (std::string(filled.data(), filled.size_bytes()) !=
          std::string(values.data(), values.size_bytes()))
        wrong = absl::StrCat("argument ", i, " of ", kernel.scalar.name,
                             " is not zero where it is known to be\n",
                             workload.Text());
      ++seen.zeros;
      seen.fused += kernel.workload.wishes.has_value();
    }
  }

  absl::StatusOr<Seen> CompileAndCheck(const ImportedModel& model,
                                       const CompileOptions& options) {
    TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                        Compile(model, *codegen_, options));
    CheckKeys(compiled);
    return CheckZeros(model, compiled);
  }

  // The planner's keys of groups are those of their workloads.
  static void CheckKeys(const CompiledModel& compiled) {
    for (const Plan* plan : {&compiled.plan, &compiled.register_plan}) {
      for (const Group& group : plan->groups)
        EXPECT_EQ(
            KernelKeyOf(compiled.graph, *plan, group).text(),
            MakeGroupWorkload(compiled.graph, *plan, group).workload.Text());
    }
  }

  static CompileOptions Unfused() {
    CompileOptions options;
    options.plan.connect = PlanOptions::Connect::kRegister;
    return options;
  }
  // With every fusion that can be, gain or no gain.
  static CompileOptions Fused() {
    CompileOptions options;
    options.plan.connect = PlanOptions::Connect::kTileGraph;
    options.connect.evaluate.least_gain = -1e9;
    return options;
  }

  std::unique_ptr<backends::Codegen> codegen_;
  std::shared_ptr<backends::Device> device_;
};

// A tensor of 16 channels and its axes.
std::string Image(int64_t h, int64_t w) {
  return absl::StrCat("f32[1, 16, ", h, ", ", w,
                      "] = compute (n: 1, c: 16, h: ", h, ", w: ", w, ") ");
}

// A convolution over a padding that a kernel writes, and one of stride 2 over a
// padding that is its source's halo, behind the last row and column only.
TensorGraph Convolutions(int64_t h, int64_t w) {
  const std::string conv = "reduce (d: 16, i: 3, j: 3) sum:f32 ",
                    filter = ": f32[16, 16, 3, 3] = placeholder\n";
  absl::StatusOr<TensorGraph> graph = ParseText(absl::StrCat(
      "X: f32[1, 16, ", h, ", ", w, "] = placeholder\nV", filter, "W", filter,
      "P: ", Image(h + 2, w + 2), "{ select(h - 1 >= 0 && h - 1 < ", h,
      " && (w - 1 >= 0 && w - 1 < ", w,
      "), X[n, c, h - 1, w - 1], 0.0) } hint pad\nC: ", Image(h, w), conv,
      "{ P[n, d, h + i, w + j] * V[c, d, i, j] } hint conv\nR: ", Image(h, w),
      "{ max(C[n, c, h, w], 0.0) }\nQ: ", Image(h + 1, w + 1), "{ select(h < ",
      h, " && w < ", w,
      ", R[n, c, h, w], 0.0) } hint pad\nD: ", Image(h / 2, w / 2), conv,
      "{ Q[n, d, h * 2 + i, w * 2 + j] * W[c, d, i, j] } hint conv\nreturn "
      "D\n"));
  EXPECT_THAT(graph.status(), IsOk());
  return *std::move(graph);
}

std::string ZerosLines(const CompiledModel& compiled) {
  std::string lines;
  for (const CompiledKernel& kernel : compiled.kernels) {
    const std::string text = kernel.workload.workload.Text();
    const size_t begin = text.find("#zeros");
    if (begin != std::string::npos) lines += text.substr(begin);
  }
  return lines;
}

class SharedKernelsTest : public KnownZerosTest {};

// Three times two products in a row, each a part of one output.
TensorGraph PairsOfProducts() {
  std::string text;
  for (const char* name : {"X0", "X1", "X2", "V", "W"})
    absl::StrAppend(&text, name, ": f32[", *name == 'X' ? 16 : 32,
                    ", 32] = placeholder\n");
  const std::string product =
      ": f32[16, 32] = compute (m: 16, n: 32) reduce (k: 32) sum:f32 ";
  for (int i = 0; i < 3; ++i) {
    absl::StrAppend(&text, "A", i, product, "{ X", i,
                    "[m, k] * V[k, n] } hint matmul\nB", i, product, "{ A", i,
                    "[m, k] * W[k, n] } hint matmul\n");
  }
  absl::StatusOr<TensorGraph> graph = ParseText(absl::StrCat(
      text,
      "Y: f32[48, 32] = compute (m: 48, n: 32) { select(m < 16, B0[m, n], "
      "select(m < 32, B1[m - 16, n], B2[m - 32, n])) } hint concat\n"
      "return Y\n"));
  EXPECT_THAT(graph.status(), IsOk());
  return *std::move(graph);
}

TEST_F(SharedKernelsTest, FusedGroupsMayWriteAnyPartBehindTheFirst) {
  TW_ASSERT_OK_AND_ASSIGN(
      const CompiledModel compiled,
      Compile(ModelOf(PairsOfProducts()), *codegen_, Fused()));
  ASSERT_EQ(compiled.plan.groups.size(), 3U);
  for (const Group& group : compiled.plan.groups)
    EXPECT_EQ(group.stages.size(), 2U);
  EXPECT_EQ(compiled.kernels.size(), 2U);
}

TEST_F(KnownZerosTest, PaddedConvolutionsKnowThem) {
  const ImportedModel model = ModelOf(Convolutions(12, 10));
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *codegen_, Unfused()));
  EXPECT_EQ(ZerosLines(compiled),
            "#zeros i0 (0,0,1,1|0,0,1,1)\n#zeros i0 (0,0,0,0|0,0,1,1)\n");
  TW_ASSERT_OK_AND_ASSIGN(const Seen seen, CheckZeros(model, compiled));
  EXPECT_EQ(seen.zeros, 2);
}

// The columns of every band, the rows of the first and the last.
TEST_F(KnownZerosTest, BandsUnderACapKeepThem) {
  const ImportedModel model = ModelOf(Convolutions(64, 24));
  for (CompileOptions options : {Unfused(), Fused()}) {
    options.cap.arena_bytes = 16 * 64 * 24 * 4;
    TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                            Compile(model, *codegen_, options));
    EXPECT_GT(compiled.graph.size(), model.graph.size());  // bands
    TW_ASSERT_OK_AND_ASSIGN(const Seen seen, CheckZeros(model, compiled));
    EXPECT_GE(seen.zeros, 2);
  }
}

TEST_F(KnownZerosTest, ZerosOfRandomModelsAreTrue) {
  Seen seen;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    constexpr int kBlocks[] = {0, 2, 4, 16};
    CompileOptions options = seed % 2 == 0 ? Fused() : Unfused();
    options.plan.channel_block = kBlocks[seed / 2 % 4];
    if (seed % 11 == 0) options.plan.connect = PlanOptions::Connect::kNone;
    RandomGraphOptions drawn;
    drawn.exact_only = true;
    const TensorGraph graph =
        BuildGraph(RandomChain(seed, 6, 0.5), seed, drawn);
    const absl::StatusOr<Seen> one = CompileAndCheck(ModelOf(graph), options);
    ASSERT_TRUE(one.ok()) << "seed " << seed << ": " << one.status() << "\n"
                          << PrintText(graph);
    seen.zeros += one->zeros;
    seen.fused += one->fused;
  }
  EXPECT_GT(seen.zeros, 20);
  EXPECT_GT(seen.fused, 2);
}

TEST_F(KnownZerosTest, ZerosOfNetworksAreTrue) {
  for (const std::string name : {"resnet18_small", "mobilenet_v2_small_fp16",
                                 "resnet18_small_int8", "unet_small"}) {
    TW_ASSERT_OK_AND_ASSIGN(
        const ImportedModel model,
        ImportModel(absl::StrCat("testdata/", name, "/model.onnx")));
    CompileOptions rounded = Unfused();
    rounded.allow = {kAllowWinograd4, kAllowBf16};
    // Fused groups pad inside: fewer tensors between kernels have halos.
    const std::pair<CompileOptions, int> kCases[] = {{rounded, 3},
                                                     {Fused(), 1}};
    for (const auto& [options, least] : kCases) {
      TW_ASSERT_OK_AND_ASSIGN(const Seen seen, CompileAndCheck(model, options));
      EXPECT_GE(seen.zeros, least) << name;
    }
  }
}

}  // namespace
}  // namespace tilewright
