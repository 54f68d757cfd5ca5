#include "sketch/workload.h"

#include <memory>
#include <string>
#include <utility>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/host_tensor.h"
#include "tilegraph/layout.h"
#include "tilegraph/tensor_graph.h"

namespace tilewright::sketch {
namespace {

using absl::StatusCode;

Workload Example(double weight) {
  Workload workload;
  TensorGraph& g = workload.graph;
  TensorId x = g.AddPlaceholder("X", DType::kFloat32, {1, 32, 5, 5});
  auto value =
      std::make_shared<HostTensor>(DType::kFloat32, std::vector<int64_t>{32});
  for (int i = 0; i < 32; ++i) value->Set(i, Scalar{weight, 0});
  TensorId w = g.AddConstant("W", value);
  Compute compute;
  compute.axes = {{"n", 1}, {"c", 32}, {"h", 5}, {"w", 5}};
  std::vector<Expr> all = {Expr::Var(0, "n"), Expr::Var(1, "c"),
                           Expr::Var(2, "h"), Expr::Var(3, "w")};
  compute.body = {Expr::Make(Op::kMul, {g.Load(x, all), g.Load(w, {all[1]})})};
  g.SetOutputs({g.AddCompute("Y", DType::kFloat32, compute)});
  workload.layouts[x] =
      Layout::BlockedLast(std::vector<int64_t>{1, 32, 5, 5}, 1, 16);
  return workload;
}

TEST(WorkloadTest, TextRoundTrips) {
  std::string text = Example(3).Text();
  TW_ASSERT_OK_AND_ASSIGN(Workload back, ParseWorkload(text));
  EXPECT_EQ(back.Text(), text);
  EXPECT_EQ(back.graph.tensor(1).kind, TensorKind::kConstant);
  EXPECT_EQ(back.LayoutOf(0), Example(3).LayoutOf(0));
  EXPECT_EQ(back.LayoutOf(2),
            Layout::RowMajor(std::vector<int64_t>{1, 32, 5, 5}));
}

TEST(WorkloadTest, ValuesOfConstantsDoNotMatterButLayoutsDo) {
  EXPECT_EQ(Example(3).Text(), Example(4).Text());
  Workload plain = Example(3);
  plain.layouts.clear();
  EXPECT_NE(plain.Text(), Example(3).Text());
  // A plain layout says nothing new.
  Workload explicit_plain = plain;
  explicit_plain.layouts[0] = plain.LayoutOf(0);
  EXPECT_EQ(explicit_plain.Text(), plain.Text());
}

TEST(WorkloadTest, BadTextIsRefused) {
  std::string text = Example(3).Text();
  EXPECT_THAT(ParseWorkload("nonsense").status(),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(
      ParseWorkload(text + "#constant Q\n").status(),
      StatusIs(StatusCode::kInvalidArgument, "constant 'Q' is no placeholder"));
  EXPECT_THAT(
      ParseWorkload(text + "#constant Y\n").status(),
      StatusIs(StatusCode::kInvalidArgument, "constant 'Y' is no placeholder"));
  EXPECT_THAT(ParseWorkload(text + "#layout Q (3) [d0]\n").status(),
              StatusIs(StatusCode::kInvalidArgument, "unknown tensor 'Q'"));
  EXPECT_THAT(
      ParseWorkload(text + "#layout Y (3) [d0]\n").status(),
      StatusIs(StatusCode::kInvalidArgument, "does not have its shape"));
  EXPECT_THAT(ParseWorkload(text + "#layout Y\n").status(),
              StatusIs(StatusCode::kInvalidArgument, "a tensor and a layout"));
}

}  // namespace
}  // namespace tilewright::sketch
