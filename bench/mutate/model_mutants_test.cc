#include "bench/mutate/model_mutants.h"

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/status_matchers.h"
#include "bench/model/error_limit.h"
#include "bench/model/own_model.h"
#include "bench/ort/test_data.h"
#include "compiler/compile.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

class ModelMutantsTest
    : public testing::TestWithParam<std::tuple<std::string, bool>> {};

TEST_P(ModelMutantsTest, TheVerifierRejectsAHarmedOutputOfEveryGroup) {
  const auto& [name, fuse] = GetParam();
  const std::string folder = "testdata/" + name,
                    data_folder = folder + "/test_data_set_0";
  TW_ASSERT_OK_AND_ASSIGN(const TestData data, ReadTestData(data_folder));
  TW_ASSERT_OK_AND_ASSIGN(const PeerError peer, ReadPeerError(data_folder));
  TW_ASSERT_OK_AND_ASSIGN(
      const CompiledBytes compiled,
      CompileForHost(folder + "/model.onnx",
                     fuse ? FuseEverything() : FuseInRegisters()));
  EXPECT_EQ(compiled.fused_groups > 0, fuse);
  TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<OwnModel> model,
                          OwnModel::Load(compiled.tw, 2));
  TW_ASSERT_OK(model->Bind(data.inputs));
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<ModelMutant> mutants,
      VerifyMutants(*model, data.references, peer.error_limit));
  EXPECT_GE(mutants.size(), fuse ? 2u : 8u);
  for (const ModelMutant& mutant : mutants) {
    EXPECT_TRUE(mutant.rejected || !mutant.excuse.empty())
        << "step " << mutant.step << " (" << mutant.label << ") "
        << Name(mutant.harm) << ": error " << mutant.error << "; "
        << mutant.excuse;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, ModelMutantsTest,
    testing::Combine(testing::Values("resnet18_small", "mlp64_small",
                                     "mobilenet_v2_small", "bert_small",
                                     "convnext_small", "unet_small"),
                     testing::Bool()),
    [](const testing::TestParamInfo<std::tuple<std::string, bool>>& info) {
      return std::get<0>(info.param) +
             (std::get<1>(info.param) ? "_fused" : "");
    });

}  // namespace
}  // namespace tilewright::bench
