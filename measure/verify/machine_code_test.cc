// The verifier on machine code: right kernels pass, wrong ones do not, whatever
// they do to memory.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/mutate.h"
#include "backends/lowering/tile/lower.h"
#include "backends/spec/host_spec.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/testing/test_kernels.h"
#include "measure/verify/device_candidate.h"
#include "measure/verify/interpreted_candidate.h"
#include "measure/verify/verifier.h"
#include "sketch/replay/replay.h"
#include "sketch/testing/random_schedule.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::measure {
namespace {

using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using kernel_ir::ScalarKernel;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<backends::Device>> GuardedCpu(int threads,
                                                             GuardSide side) {
  cpu::CpuDeviceOptions options;
  options.num_threads = threads;
  options.scratch_guard = side;
  return cpu::CreateCpuDevice(options);
}

class MachineCodeTest : public testing::Test {
 protected:
  void SetUp() override {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, HostSpec());
    TW_ASSERT_OK_AND_ASSIGN(codegen_, cpu::CreateCpuCodegen(spec));
  }

  absl::StatusOr<Candidate> Emit(const ScalarKernel& kernel) const {
    TW_ASSIGN_OR_RETURN(backends::Module module, codegen_->Emit({kernel}));
    return DeviceCandidate(GuardedCpu,
                           {std::move(module.bytes), module.target, kernel.name,
                            kernel.num_tasks, kernel.scratch_bytes});
  }

  std::unique_ptr<backends::Codegen> codegen_;
};

TEST_F(MachineCodeTest,
       KernelsOfRandomSchedulesPassAndTheirMutantsFailAsInTheInterpreter) {
  int passed = 0, rejected = 0;
  for (const NamedWorkload& one : TestWorkloads()) {
    TW_ASSERT_OK_AND_ASSIGN(const auto verifier,
                            Verifier::Create(one.workload, {}));
    for (uint64_t seed = 0; seed < 2; ++seed) {
      TW_ASSERT_OK_AND_ASSIGN(const sketch::Schedule schedule,
                              sketch::RandomSchedule(one.workload, seed));
      TW_ASSERT_OK_AND_ASSIGN(const sketch::BlockTree tree,
                              sketch::Replay(one.workload, schedule));
      TW_ASSERT_OK_AND_ASSIGN(const kernel_ir::Kernel tile,
                              lowering::Lower(tree, "k"));
      TW_ASSERT_OK_AND_ASSIGN(const ScalarKernel scalar,
                              codegen_->Legalize(tile));
      const Arguments arguments = ArgumentsOf(tree);
      TW_ASSERT_OK_AND_ASSIGN(const Candidate candidate, Emit(scalar));
      TW_ASSERT_OK_AND_ASSIGN(
          const Verdict verdict,
          verifier->Check(arguments, candidate, Isolation::kChild));
      ASSERT_TRUE(verdict.ok)
          << one.name << " seed " << seed << ": " << verdict.reason;
      ++passed;
      for (const kernel_ir::Mutant& mutant :
           kernel_ir::Mutants(scalar, 4, seed)) {
        TW_ASSERT_OK_AND_ASSIGN(
            const Verdict interpreted,
            verifier->Check(arguments, InterpretedCandidate(mutant.kernel),
                            Isolation::kInProcess));
        if (interpreted.ok) continue;  // kill_rate_test says why some are
        // Two tasks that store the same right value to one element do no harm
        // that a run could show; only the interpreter sees it.
        if (absl::StrContains(interpreted.reason, "second task's store"))
          continue;
        TW_ASSERT_OK_AND_ASSIGN(const Candidate wrong, Emit(mutant.kernel));
        TW_ASSERT_OK_AND_ASSIGN(
            const Verdict found,
            verifier->Check(arguments, wrong, Isolation::kChild));
        EXPECT_FALSE(found.ok)
            << one.name << " seed " << seed << ", " << mutant.name
            << ": the interpreter says " << interpreted.reason;
        ++rejected;
      }
    }
  }
  EXPECT_GE(passed, 20);
  EXPECT_GE(rejected, 50);
}

// y[i] = 2 x[i], in tasks of one element, through scratch of one element.
struct Doubling {
  static constexpr int64_t kElements = 40;
  Doubling() {
    absl::StatusOr<TensorGraph> graph = ParseText(
        "x: f32[40] = placeholder\ny: f32[40] = compute (i: 40) { x[i] * 2 "
        "}\nreturn y\n");
    EXPECT_THAT(graph.status(), IsOk());
    workload.graph = *std::move(graph);
    for (TensorId id : {0, 1}) {
      arguments.tensors.push_back(id);
      arguments.layouts.push_back(Layout::RowMajor({kElements}));
    }
  }
  // `store_at`, `load_at`: which element of scratch; in registers, so that
  // nothing is checked when the kernel is made.
  static ScalarKernel Kernel(int64_t store_at, int64_t load_at) {
    ScalarBuilder b("doubling", kElements);
    const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, kElements);
    const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, kElements);
    const int s = b.AddScratch("s", DType::kFloat32, 16);
    const Reg twice = b.Mul(b.Load(x, b.task(), 0), b.Float(2));
    const Reg zero = b.Sub(b.task(), b.task());
    b.Store(s, b.Add(zero, b.Int(store_at)), 0, twice);
    b.Store(y, b.task(), 0, b.Load(s, b.Add(zero, b.Int(load_at)), 0));
    return std::move(b).Finish();
  }
  sketch::Workload workload;
  Arguments arguments;
};

TEST_F(MachineCodeTest, ScratchIsUndefinedAtFirstAndGuardedOnBothSides) {
  const Doubling doubling;
  TW_ASSERT_OK_AND_ASSIGN(const auto verifier,
                          Verifier::Create(doubling.workload, {}));
  const auto check = [&](int64_t store_at, int64_t load_at) {
    const absl::StatusOr<Candidate> candidate =
        Emit(Doubling::Kernel(store_at, load_at));
    EXPECT_THAT(candidate.status(), IsOk());
    return *verifier->Check(doubling.arguments, *candidate, Isolation::kChild);
  };
  const Verdict right = check(3, 3);
  EXPECT_TRUE(right.ok) << right.reason;
  const Verdict undefined = check(3, 4);
  EXPECT_FALSE(undefined.ok);
  EXPECT_THAT(undefined.reason, HasSubstr("nan"));
  EXPECT_FALSE(check(16, 16).ok);
  EXPECT_FALSE(check(-1, -1).ok);
}

TEST_F(MachineCodeTest, AccessesOutsideArgumentsNameTheTensor) {
  const Doubling doubling;
  TW_ASSERT_OK_AND_ASSIGN(const auto verifier,
                          Verifier::Create(doubling.workload, {}));
  ScalarBuilder b("far", Doubling::kElements);
  const int x =
      b.AddArgument("x", DType::kFloat32, Role::kInput, Doubling::kElements);
  const int y =
      b.AddArgument("y", DType::kFloat32, Role::kOutput, Doubling::kElements);
  b.Store(y, b.task(), 0,
          b.Mul(b.Load(x, b.Add(b.task(), b.Int(1)), 0), b.Float(2)));
  TW_ASSERT_OK_AND_ASSIGN(const Candidate candidate,
                          Emit(std::move(b).Finish()));
  TW_ASSERT_OK_AND_ASSIGN(
      const Verdict verdict,
      verifier->Check(doubling.arguments, candidate, Isolation::kChild));
  EXPECT_FALSE(verdict.ok);
  EXPECT_THAT(
      verdict.reason,
      HasSubstr("reads outside 'x': at byte 160 of 160 (exact set, 1 thread)"));
}

}  // namespace
}  // namespace tilewright::measure
