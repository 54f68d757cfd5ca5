// The committed models give their float64 references.
#include <filesystem>
#include <string>

#include "frontends/onnx/test_case.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

void ExpectReference(const std::string& folder) {
  const absl::StatusOr<ImportedModel> model =
      ImportModel(folder + "/model.onnx");
  ASSERT_TRUE(model.ok()) << folder << ": " << model.status();
  const absl::StatusOr<TestCase> data = ReadTestCase(folder);
  ASSERT_TRUE(data.ok()) << folder << ": " << data.status();
  ASSERT_FALSE(data->outputs.empty()) << folder;
  const absl::Status status =
      CheckAgainstInterpreter(*model, data->inputs, data->outputs);
  EXPECT_TRUE(status.ok()) << folder << ": " << status;
}

TEST(TestdataModelsTest, TinyGraphsGiveTheirReference) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("testdata/tiny")) {
    ExpectReference(entry.path().string());
    ++count;
  }
  EXPECT_GE(count, 10);
}

TEST(TestdataModelsTest, ResNet18GivesItsReference) {
  ExpectReference("testdata/resnet18_small");
}

TEST(TestdataModelsTest, MlpsGiveTheirReference) {
  ExpectReference("testdata/mlp64_small");
  ExpectReference("testdata/mlp_odd");
}

TEST(TestdataModelsTest, ExternalDataGivesItsReference) {
  // A copy: what a test sees are symbolic links, and those are refused.
  const std::string copy = testing::TempDir() + "/gemm_external";
  fs::remove_all(copy);
  fs::create_directories(copy + "/test_data_set_0");
  const std::string from = "testdata/external/gemm_external";
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    if (entry.is_directory()) continue;
    fs::copy_file(entry.path(),
                  copy + "/" + entry.path().string().substr(from.size() + 1));
  }
  ExpectReference(copy);
}

}  // namespace
}  // namespace tilewright
