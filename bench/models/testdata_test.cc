// The committed test data is what it claims to be. It is made by
// make_testdata.sh; this catches a file that was edited or forgotten.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "bench/ort/ort_session.h"
#include "bench/ort/test_data.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> ModelFolders() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator("testdata")) {
    if (entry.path().filename() == "model.onnx") {
      folders.push_back(entry.path().parent_path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// The number behind "key": in a flat JSON object.
double JsonNumber(const std::string& json, const std::string& key) {
  const size_t at = json.find(absl::StrCat("\"", key, "\": "));
  if (at == std::string::npos) return std::nan("");
  return std::stod(json.substr(at + key.size() + 4));
}

TEST(TestdataTest, AllModelsAreThere) { EXPECT_GE(ModelFolders().size(), 34u); }

TEST(TestdataTest, EveryModelIsUnderOneMegabyte) {
  for (const fs::path& folder : ModelFolders()) {
    uintmax_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) bytes += entry.file_size();
    }
    EXPECT_LT(bytes, 1'000'000u) << folder;
  }
}

TEST(TestdataTest, EveryReferenceIsFloat64AndLively) {
  for (const fs::path& folder : ModelFolders()) {
    absl::StatusOr<TestData> data = ReadTestData(folder / "test_data_set_0");
    ASSERT_TRUE(data.ok()) << data.status();
    for (const OrtTensor& reference : data->references) {
      EXPECT_EQ(reference.data_type, 11) << folder;  // double
      absl::StatusOr<std::vector<double>> values = ToDouble(reference);
      ASSERT_TRUE(values.ok()) << values.status();
      double sum = 0, squares = 0;
      for (double value : *values) {
        sum += value;
        squares += value * value;
      }
      const double n = static_cast<double>(values->size());
      const double deviation = std::sqrt(squares / n - sum / n * sum / n);
      EXPECT_GE(deviation, 0.1) << folder;
      EXPECT_LE(deviation, 10) << folder;
    }
  }
}

TEST(TestdataTest, EveryOutputIsTheReferenceRoundedToFloat32) {
  for (const fs::path& folder : ModelFolders()) {
    const fs::path data = folder / "test_data_set_0";
    absl::StatusOr<OrtTensor> output = ReadTensor(data / "output_0.pb");
    absl::StatusOr<OrtTensor> reference = ReadTensor(data / "reference_0.pb");
    ASSERT_TRUE(output.ok()) << output.status();
    ASSERT_TRUE(reference.ok()) << reference.status();
    EXPECT_EQ(output->data_type, 1) << folder;  // float
    EXPECT_EQ(output->dims, reference->dims) << folder;
    absl::StatusOr<std::vector<double>> y = ToDouble(*output);
    absl::StatusOr<std::vector<double>> r = ToDouble(*reference);
    ASSERT_TRUE(y.ok() && r.ok());
    ASSERT_EQ(y->size(), r->size());
    for (size_t i = 0; i < y->size(); ++i) {
      ASSERT_EQ((*y)[i], static_cast<double>(static_cast<float>((*r)[i])))
          << folder << " element " << i;
    }
  }
}

TEST(TestdataTest, EveryReferenceHasThePeersErrorAndTheLimitThatFollows) {
  for (const fs::path& folder : ModelFolders()) {
    const std::string json =
        ReadFile(folder / "test_data_set_0/peer_error.json");
    const double error = JsonNumber(json, "onnxruntime_error");
    EXPECT_GE(error, 0) << folder;
    const fs::path class_file = folder / "test_data_set_0/class.json";
    if (!fs::exists(class_file)) {
      EXPECT_LT(error, 2e-6) << folder;
      EXPECT_NEAR(JsonNumber(json, "error_limit"), ErrorLimit(error), 1e-8)
          << folder;
      continue;
    }
    const double class_error = JsonNumber(ReadFile(class_file), "class_error");
    EXPECT_LT(class_error, 1e-2) << folder;
    EXPECT_NEAR(JsonNumber(json, "error_limit"), 4 * class_error, 1e-5)
        << folder;
  }
}

TEST(TestdataTest, ExpectedErrorsAreListedForExactlyTheMalformedModels) {
  std::set<std::string> files, listed;
  for (const auto& entry : fs::directory_iterator("testdata/bad")) {
    if (entry.path().extension() == ".onnx") {
      files.insert(entry.path().filename());
    }
  }
  const std::string table = ReadFile("testdata/bad/expected.tsv");
  for (absl::string_view line :
       absl::StrSplit(table, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> columns = absl::StrSplit(line, '\t');
    ASSERT_EQ(columns.size(), 3u) << line;
    listed.insert(columns[0]);
  }
  EXPECT_EQ(files, listed);
  EXPECT_GE(files.size(), 40u);
}

}  // namespace
}  // namespace tilewright::bench
