#include "tilegraph/ir/tensor_graph.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

TensorGraph MustParse(std::string_view text) {
  absl::StatusOr<TensorGraph> graph = ParseText(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : TensorGraph();
}

constexpr std::string_view kText = R"(unused: f32[4] = placeholder
A: f32[4, 8] = placeholder
w: f32[2] = constant { 1.0, 2.0 }
T: f32[4] = compute (m: 4) reduce (k: 8) sum:f32 { A[m, k] * w[0] } hint dot
dead: f32[4] = compute (m: 4) { T[m] + unused[m] }
Y: f32[4] = compute (m: 4) { max(T[m] + A[m, 0], T[3 - m]) }
return Y, dead
)";

TEST(TensorGraphTest, InputsAndConsumersFollowTheLoads) {
  const TensorGraph graph = MustParse(kText);
  EXPECT_THAT(graph.Inputs(*graph.Find("Y")),
              ElementsAre(*graph.Find("T"), *graph.Find("A")));
  EXPECT_THAT(graph.Inputs(*graph.Find("A")), ElementsAre());
  EXPECT_THAT(graph.Consumers()[*graph.Find("T")],
              ElementsAre(*graph.Find("dead"), *graph.Find("Y")));
  EXPECT_FALSE(graph.Find("nothing").has_value());
}

TEST(TensorGraphTest, TakenNamesGetSuffixesAndEmptyOnesAName) {
  TensorGraph graph;
  graph.AddPlaceholder("x", DType::kFloat32, {1});
  graph.AddPlaceholder("x_1", DType::kFloat32, {1});
  const TensorId third = graph.AddPlaceholder("x", DType::kFloat32, {1});
  const TensorId fourth = graph.AddPlaceholder("", DType::kFloat32, {1});
  EXPECT_EQ(graph.tensor(third).name, "x_2");
  EXPECT_EQ(graph.tensor(fourth).name, "t");
  EXPECT_EQ(graph.Find("x_2"), third);
}

TEST(TensorGraphTest, ExtractKeepsWhatTheOutputsNeedWithNamesAndOrder) {
  const TensorGraph graph = MustParse(kText);
  const TensorGraph part = Extract(graph, {*graph.Find("Y")});
  EXPECT_EQ(PrintText(part), R"(A: f32[4, 8] = placeholder
w: f32[2] = constant { 1.0, 2.0 }
T: f32[4] = compute (m: 4) reduce (k: 8) sum:f32 { A[m, k] * w[0] } hint dot
Y: f32[4] = compute (m: 4) { max(T[m] + A[m, 0], T[3 - m]) }
return Y
)");
  EXPECT_EQ(PrintText(Extract(graph, graph.outputs())), kText);
  EXPECT_EQ(Extract(graph, {}).size(), 0);
}

}  // namespace
}  // namespace tilewright
