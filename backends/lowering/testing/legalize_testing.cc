#include "backends/lowering/testing/legalize_testing.h"

#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::lowering::legalize_testing {
namespace {

int64_t Elements(const kernel_ir::Buffer& b) {
  return b.layout.physical_elements();
}

}  // namespace

std::vector<std::string> Arguments(const Kernel& kernel) {
  std::vector<std::string> args;
  for (const kernel_ir::Buffer& b : kernel.buffers) {
    if (b.level != Level::kGlobal) continue;
    HostTensor t(b.dtype, {Elements(b)});
    for (int64_t i = 0; i < Elements(b); ++i) {
      const int64_t v = (i * 7 + b.id * 3) % 11 - 5;
      t.Set(i, {static_cast<double>(v), v});
    }
    args.emplace_back(t.data(), t.size_bytes());
  }
  return args;
}

ScalarKernel ExpectSame(const Kernel& kernel, LegalizeReport* report) {
  TW_EXPECT_OK(kernel_ir::VerifyTileKernel(kernel)) << kernel.ToString();
  std::vector<std::string> expected = Arguments(kernel);
  TW_EXPECT_OK(InterpretTileKernel(kernel, absl::MakeSpan(expected)))
      << kernel.ToString();
  ScalarKernel result;
  for (int bytes : {4, 16, 32, 64}) {
    VectorTarget target;
    target.vector_bytes = bytes;
    target.permutes_bytes = bytes == 64;
    absl::StatusOr<ScalarKernel> scalar = Legalize(kernel, target, report);
    TW_EXPECT_OK(scalar.status()) << kernel.ToString();
    if (!scalar.ok()) continue;
    std::vector<std::string> args = Arguments(kernel);
    TW_EXPECT_OK(InterpretScalarKernel(*scalar, absl::MakeSpan(args), 0,
                                       scalar->num_tasks))
        << kernel.ToString() << scalar->ToString();
    EXPECT_TRUE(args == expected) << bytes << " bytes\n"
                                  << kernel.ToString() << scalar->ToString();
    result = *std::move(scalar);
  }
  return result;
}

}  // namespace tilewright::lowering::legalize_testing
