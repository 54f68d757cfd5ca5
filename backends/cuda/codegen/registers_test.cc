// The registers that kernels are planned with beside those that NVRTC takes:
// within a third, of kernels of one kind each.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/cuda/codegen/cuda_codegen.h"
#include "backends/kernel_ir/analysis/live_registers.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/op.h"
#include "tilegraph/gpu/hardware/taken_registers.h"

namespace tilewright::cuda {
namespace {

using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using kernel_ir::ScalarKernel;

constexpr int64_t kElements = 1 << 22;

class RegistersTest : public testing::Test {
 protected:
  void SetUp() override {
    TW_ASSERT_OK_AND_ASSIGN(spec_, LoadSpec("h100"));
    absl::StatusOr<std::unique_ptr<backends::Codegen>> codegen =
        CreateCudaCodegen(spec_);
    if (!codegen.ok()) GTEST_SKIP() << codegen.status();
    codegen_ = *std::move(codegen);
  }

  void ExpectNear(const ScalarKernel& kernel) {
    TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                            codegen_->Emit({&kernel, 1}));
    const int64_t taken = module.kernels[0].registers.value_or(0);
    const kernel_ir::RegisterNeeds needs = kernel_ir::LiveRegisters(kernel);
    const int64_t planned = TakenRegisters(spec_.unit(), needs.live,
                                           needs.with_loads, kernel.threads);
    EXPECT_LE(3 * std::abs(planned - taken), taken)
        << planned << " planned, " << taken << " taken of "
        << kernel.ToString();
  }

  DeviceSpec spec_;
  std::unique_ptr<backends::Codegen> codegen_;
};

// All loads come first, or those that cost no block.
TEST_F(RegistersTest, LoadsInARow) {
  for (const int threads : {32, 128, 256, 512}) {
    for (const int loads : {2, 4, 8}) {
      ScalarBuilder b("k");
      const int x =
          b.AddArgument("x", DType::kFloat32, Role::kInput, loads * kElements);
      const int y =
          b.AddArgument("y", DType::kFloat32, Role::kOutput, kElements);
      const Reg at = b.Mul(b.AddThreads(threads, 32), b.Int(4));
      const Reg sum = b.Variable(DType::kFloat32, 4);
      b.Assign(sum, b.Float(0, DType::kFloat32, 4));
      for (int i = 0; i < loads; ++i)
        b.AssignOp(sum, Op::kAdd, {sum, b.Load(x, at, i * kElements, 4)});
      b.Store(y, at, 0, sum);
      ExpectNear(std::move(b).Finish());
    }
  }
}

// Sums of both sides of a branch, which begin as zeros before it.
TEST_F(RegistersTest, SumsOfBothSides) {
  ScalarBuilder b("k");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, kElements);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, kElements);
  const Reg thread = b.AddThreads(128, 32);
  const Reg at = b.Mul(thread, b.Int(64));
  std::vector<Reg> sums;
  for (int k = 0; k < 16; ++k) {
    sums.push_back(b.Variable(DType::kFloat32, 4));
    b.Assign(sums[k], b.Float(0, DType::kFloat32, 4));
  }
  const auto side = [&](int first, int64_t constant) {
    const Reg i = b.BeginFor(0, 1000);
    for (int k = first; k < first + 8; ++k) {
      const Reg from = b.Add(at, i);
      b.AssignFma(sums[k], b.Load(x, from, constant + 64 * k, 4),
                  b.Splat(b.Load(x, from, constant), 4), sums[k]);
    }
    b.EndFor();
    for (int k = first; k < first + 8; ++k) b.Store(y, at, 4 * k, sums[k]);
  };
  b.BeginIf(b.Emit(Op::kLt, {b.task(), b.Int(1)}));
  side(0, 0);
  b.BeginElse();
  side(8, 100000);
  b.EndIf();
  ExpectNear(std::move(b).Finish());
}

}  // namespace
}  // namespace tilewright::cuda
