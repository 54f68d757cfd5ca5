#include "tilegraph/ir/join_parts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tilegraph/analysis/access.h"

namespace tilewright {
namespace {

int Depth(const Expr& e) {
  int depth = 0;
  for (const Expr& operand : e.operands())
    depth = std::max(depth, Depth(operand));
  return depth + 1;
}

TEST(JoinPartsTest, AreFoundAgainAndDoNotNestDeeply) {
  for (const int count : {1, 2, 3, 8, 1000}) {
    TensorGraph graph;
    std::vector<TensorId> parts;
    std::vector<int64_t> offsets;
    int64_t end = 0;
    for (int i = 0; i < count; ++i) {
      const int64_t columns = 1 + i % 3;
      parts.push_back(graph.AddPlaceholder(absl::StrCat("p", i),
                                           DType::kFloat32, {4, columns}));
      offsets.push_back(end);
      end += columns;
    }
    Compute compute;
    compute.axes = {{"i", 4}, {"j", end}};
    const std::vector<Expr> index = {Expr::Var(0, "i"), Expr::Var(1, "j")};
    compute.body = {
        JoinParts(offsets, 1, index, [&](size_t part, std::vector<Expr> at) {
          return graph.Load(parts[part], std::move(at));
        })};
    EXPECT_LE(Depth(compute.body[0]), 16) << count;
    const TensorId whole =
        graph.AddCompute("whole", DType::kFloat32, std::move(compute));
    const auto found = AsConcatenation(graph, whole);
    if (count == 1) continue;
    ASSERT_TRUE(found.has_value()) << count;
    EXPECT_EQ(found->axis, 1);
    ASSERT_EQ(found->parts.size(), parts.size());
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(found->parts[i].source, parts[i]);
      EXPECT_EQ(found->parts[i].offset, offsets[i]);
    }
  }
}

}  // namespace
}  // namespace tilewright
