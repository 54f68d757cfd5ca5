#include "measure/record/workload_key.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/fingerprint.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::measure {
namespace {

sketch::Workload Relu(int64_t size) {
  sketch::Workload workload;
  TensorGraph& graph = workload.graph;
  const TensorId x = graph.AddPlaceholder("X", DType::kFloat32, {size, 32});
  Compute compute;
  compute.axes = {{"m", size}, {"n", 32}};
  compute.body = {Expr::Make(
      Op::kMax,
      {graph.Load(x, {Expr::Var(0, "m"), Expr::Var(1, "n")}), Expr::Float(0)})};
  graph.SetOutputs({graph.AddCompute("Y", DType::kFloat32, compute)});
  return workload;
}

TEST(WorkloadKeyTest, IsTheTextAndItsFingerprint) {
  const WorkloadKey key = MakeWorkloadKey(Relu(4));
  EXPECT_EQ(key.text(), Relu(4).Text());
  EXPECT_EQ(key.fingerprint(), Fingerprint::Of(key.text()).ToString());
}

TEST(WorkloadKeyTest, ShapesAndLayoutsMakeADifference) {
  const WorkloadKey key = MakeWorkloadKey(Relu(4));
  EXPECT_NE(MakeWorkloadKey(Relu(5)).fingerprint(), key.fingerprint());
  sketch::Workload blocked = Relu(4);
  blocked.layouts[0] = Layout::BlockedLast(std::vector<int64_t>{4, 32}, 1, 16);
  EXPECT_NE(MakeWorkloadKey(blocked).fingerprint(), key.fingerprint());
}

TEST(WorkloadKeyTest, KnownZerosMakeADifference) {
  sketch::Workload padded = Relu(4);
  padded.zeros[0] = {{1, 0}, {1, 0}};
  const WorkloadKey key = MakeWorkloadKey(padded);
  EXPECT_NE(key.fingerprint(), MakeWorkloadKey(Relu(4)).fingerprint());
  TW_ASSERT_OK_AND_ASSIGN(const WorkloadKey parsed,
                          ParseWorkloadKey(key.text()));
  EXPECT_EQ(parsed.fingerprint(), key.fingerprint());
  EXPECT_THAT(ParseWorkloadKey(Relu(4).Text() + "#zeros X (0,0|0,0)\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, "not canonical"));
}

TEST(WorkloadKeyTest, ACanonicalTextRoundTrips) {
  const WorkloadKey key = MakeWorkloadKey(Relu(4));
  TW_ASSERT_OK_AND_ASSIGN(const WorkloadKey parsed,
                          ParseWorkloadKey(key.text()));
  EXPECT_EQ(parsed.SerializeAsString(), key.SerializeAsString());
}

TEST(WorkloadKeyTest, AnotherSpellingOfAWorkloadIsRefused) {
  const std::string text = MakeWorkloadKey(Relu(4)).text();
  EXPECT_THAT(ParseWorkloadKey(text + "\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, "not canonical"));
  EXPECT_THAT(ParseWorkloadKey("nonsense"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace tilewright::measure
