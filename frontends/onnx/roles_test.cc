// Roles in the committed networks: convolutions have theirs, and nothing else
// is taken for one.
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_matchers.h"
#include "frontends/onnx/check_roles.h"
#include "frontends/onnx/import_model.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(RolesTest, OfNetworks) {
  int convolutions = 0, contractions = 0;
  for (const std::string name :
       {"resnet18_small", "resnet18_small_int8", "mobilenet_v2_small",
        "bert_small", "swin_small", "unet_small", "restormer_small",
        "conformer_small"}) {
    TW_ASSERT_OK_AND_ASSIGN(
        const ImportedModel model,
        ImportModel(absl::StrCat("testdata/", name, "/model.onnx")));
    TW_ASSERT_OK_AND_ASSIGN(const RoleCounts counts, CheckRoles(model.graph));
    EXPECT_EQ(counts.convolutions, counts.imported_convolutions) << name;
    convolutions += counts.convolutions;
    contractions += counts.contractions;
  }
  EXPECT_GT(convolutions, 100);
  EXPECT_GT(contractions, 100);
}

}  // namespace
}  // namespace tilewright
