// Every kernel of the committed models passes the verifier of kernels.
#include "bench/model/kernel_verifier.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

TEST(KernelVerifierTest, EveryKernelOfTheCommittedModelsPasses) {
  std::vector<std::string> models;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator("testdata")) {
    if (entry.path().filename() == "model.onnx")
      models.push_back(entry.path().string());
  }
  std::sort(models.begin(), models.end());
  ASSERT_GE(models.size(), 19u);
  int kernels = 0, exact = 0;
  for (const std::string& model : models) {
    TW_ASSERT_OK_AND_ASSIGN(const std::vector<VerifiedKernel> verified,
                            VerifyKernels(model, 2));
    for (const VerifiedKernel& kernel : verified) {
      EXPECT_TRUE(kernel.verdict.ok)
          << model << ", " << kernel.name << " (" << kernel.label
          << "): " << kernel.verdict.reason;
      ++kernels;
      exact += kernel.verdict.exact_checked;
    }
  }
  EXPECT_GE(kernels, 35);
  EXPECT_GE(exact, 30);  // averages alone are no ring operations
}

}  // namespace
}  // namespace tilewright::bench
