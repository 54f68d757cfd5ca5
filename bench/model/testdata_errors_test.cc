// The committed models, verified: e(ours) is within its limit (error_limit.h)
// against the committed float64 references, with the same bits at one and two
// threads and in every run. With the default options, and with all groups
// fused into fused ones that can be.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/status_matchers.h"
#include "bench/model/error_limit.h"
#include "bench/model/own_model.h"
#include "bench/ort/test_data.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

std::vector<std::string> ModelFolders() {
  std::vector<std::string> folders;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator("testdata")) {
    if (entry.path().filename() == "model.onnx")
      folders.push_back(entry.path().parent_path().string());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<std::string> Bits(const OwnModel& model) {
  std::vector<std::string> bits;
  for (const OrtTensor& output : model.Outputs()) bits.push_back(output.bytes);
  return bits;
}

TEST(TestdataErrorsTest, AllModelsAreThere) {
  EXPECT_GE(ModelFolders().size(), 34u);
}

class TestdataErrorsTest
    : public testing::TestWithParam<std::tuple<std::string, bool>> {};

TEST_P(TestdataErrorsTest, ErrorIsWithinTheLimitAndBitsDependOnNothing) {
  const auto& [folder, fused] = GetParam();
  const std::string data_folder = folder + "/test_data_set_0";
  const CompileOptions options = fused ? FuseEverything() : FuseInRegisters();
  TW_ASSERT_OK_AND_ASSIGN(const TestData data, ReadTestData(data_folder));
  TW_ASSERT_OK_AND_ASSIGN(const PeerError peer, ReadPeerError(data_folder));
  TW_ASSERT_OK_AND_ASSIGN(const CompiledBytes compiled,
                          CompileForHost(folder + "/model.onnx", options));
  std::vector<std::string> first;
  for (const int threads : {1, 2}) {
    TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<OwnModel> model,
                            OwnModel::Load(compiled.tw, threads));
    TW_ASSERT_OK(model->Bind(data.inputs));
    for (int run = 0; run < 3; ++run) {
      TW_ASSERT_OK(model->Run());
      if (first.empty()) first = Bits(*model);
      ASSERT_EQ(Bits(*model), first) << threads << " threads, run " << run;
    }
    TW_ASSERT_OK_AND_ASSIGN(const double error,
                            Error(model->Outputs(), data.references));
    EXPECT_LE(error, peer.error_limit)
        << "ONNX Runtime errs by " << peer.peer_error;
  }
}

std::string CaseName(
    const testing::TestParamInfo<std::tuple<std::string, bool>>& info) {
  const auto& [folder, fused] = info.param;
  std::string name = folder.substr(folder.find('/') + 1);
  std::replace(name.begin(), name.end(), '/', '_');
  return fused ? name + "_joined" : name;
}

INSTANTIATE_TEST_SUITE_P(Models, TestdataErrorsTest,
                         testing::Combine(testing::ValuesIn(ModelFolders()),
                                          testing::Bool()),
                         CaseName);

}  // namespace
}  // namespace tilewright::bench
