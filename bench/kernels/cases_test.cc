#include "bench/kernels/cases.h"

#include <set>

#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

TEST(CasesTest, NamesAreDistinctAndWorkIsCounted) {
  std::set<std::string> names;
  for (const Case& one : Cases()) {
    EXPECT_TRUE(names.insert(one.family + " " + Name(one.op)).second)
        << Name(one.op);
    EXPECT_GT(CompulsoryBytes(one.op), 0) << Name(one.op);
  }
}

TEST(CasesTest, CountsOfKnownShapes) {
  EXPECT_EQ(Flops(Gemm{2, 3, 5}), 60);
  EXPECT_EQ(CompulsoryBytes(Gemm{2, 3, 5}), 4 * (6 + 15 + 10));
  EXPECT_EQ(Flops(Conv{8, 16, 7, 3, 2}), 2 * 8 * 16 * 9 * 16);
  EXPECT_EQ(CompulsoryBytes(Conv{8, 8, 4, 1, 1, 8}), 4 * (128 + 8 + 8 + 128));
  EXPECT_EQ(Flops(Softmax{4, 4}), 0);
}

// A model of each family imports and has the shape that the counts assume.
TEST(CasesTest, ModelsImport) {
  for (const Operator& op : std::vector<Operator>{
           Gemm{4, 8, 6}, Conv{16, 32, 14, 3, 2}, Conv{16, 16, 7, 3, 1, 16},
           Softmax{4, 8}, LayerNorm{4, 8}, Transpose{{2, 3, 4}, {2, 0, 1}},
           Pool{"MaxPool", 16, 14, 3, 2}, Pool{"AveragePool", 16, 14, 3, 1},
           Pool{"GlobalAveragePool", 16, 7}, Resize{"nearest", 16, 7},
           Resize{"linear", 16, 7}, Map{"Gelu", 4, 8}, Map{"Add", 4, 8},
           Map{"Sigmoid", 4, 8}}) {
    const absl::StatusOr<ImportedModel> model = ImportModelProto(CaseModel(op));
    TW_ASSERT_OK(model.status()) << Name(op);
    EXPECT_EQ(model->outputs.size(), 1u) << Name(op);
  }
}

}  // namespace
}  // namespace tilewright::bench
