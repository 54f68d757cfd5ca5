// On the fake driver, which runs the emulator's modules: results are real,
// times are the fake's.
#include "tools/gpu/model_report.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cuda/device/cuda_device.h"
#include "base/file.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "compiler/test_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/worker/cuda/fake_cuda_worker.h"
#include "tilegraph/text/text_form.h"
#include "tools/npy.h"

namespace tilewright::cuda {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<CudaDevice> Fake() {
  auto device = CreateFakeCudaDevice();
  TW_EXPECT_OK(device.status());
  return *std::move(device);
}

std::string InTmp(const std::string& name) {
  return absl::StrCat(std::getenv("TEST_TMPDIR"), "/", name);
}

TEST(ModelReportTest, TimesAWholeModelAndItsKernels) {
  const std::shared_ptr<CudaDevice> device = Fake();
  TW_ASSERT_OK_AND_ASSIGN(TensorGraph graph, ParseText(R"(
    X: f32[9, 20] = placeholder
    Y: f32[9, 20] = compute (i: 9, j: 20) { max(X[i, j], 0.0) - X[i, j] }
    return Y
  )"));
  TW_ASSERT_OK_AND_ASSIGN(
      const CompiledModel compiled,
      Compile(ModelOf(std::move(graph)), *FakeCudaCodegen(device->spec()), {}));
  const std::string path = InTmp("negative.tw");
  TW_ASSERT_OK(WriteFileAtomically(path, compiled.Serialize()));
  std::vector<std::string> told;
  const std::vector<TimedModel> models =
      TimeModels({path, InTmp("none.tw")}, {device, device}, 0.01, InTmp(""),
                 [&](const TimedModel& model) { told.push_back(model.path); });
  EXPECT_THAT(told, ElementsAre(path, InTmp("none.tw"), path));
  ASSERT_EQ(models.size(), 2u);
  TW_ASSERT_OK(models[0].status);
  EXPECT_GT(models[0].run_us.min, 0);
  EXPECT_GE(models[0].run_us.median, models[0].run_us.min);
  ASSERT_EQ(models[0].profile.kernels.size(), 1u);
  EXPECT_GT(models[0].profile.kernels[0].wall_us.min, 0);
  EXPECT_GT(models[0].profile.kernels[0].predicted_us, 0);
  EXPECT_FALSE(models[1].status.ok());

  EXPECT_THAT(ModelTable(models),
              ContainsRegex("\\| negative \\| 1 \\| 1 \\| [0-9.]+ \\|"));
  EXPECT_THAT(ModelTable(models), HasSubstr("| none | FAILED: "));
  EXPECT_THAT(ModelDetails(models[0]), HasSubstr("\"model\": \"negative\""));

  TW_ASSERT_OK_AND_ASSIGN(const std::string bytes,
                          ReadFile(InTmp("negative/Y.npy"), 1 << 20));
  TW_ASSERT_OK_AND_ASSIGN(const HostTensor output, tools::ParseNpy(bytes));
  EXPECT_EQ(output.shape(), (std::vector<int64_t>{9, 20}));
  double least = 1, most = 0;
  for (int64_t i = 0; i < output.num_elements(); ++i) {
    least = std::min(least, output.Get(i).f);
    most = std::max(most, output.Get(i).f);
  }
  EXPECT_EQ(least, 0);
  EXPECT_GT(most, 0);
}

}  // namespace
}  // namespace tilewright::cuda
