#include "tilegraph/cost/member_lanes.h"

#include <map>
#include <string>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

// All computes of a graph in one nest of loops, tensors plain; by name.
std::map<std::string, int> LanesOf(const std::string& text) {
  const auto graph = ParseText(text);
  const auto spec = LoadSpec("cpu_x86_64_v4");
  EXPECT_TRUE(graph.ok() && spec.ok()) << graph.status();
  Group group;
  for (const Tensor& tensor : graph->tensors()) {
    if (tensor.kind == TensorKind::kCompute) {
      group.members.push_back(tensor.id);
      group.output = tensor.id;
    } else {
      group.inputs.push_back(tensor.id);
    }
  }
  const Plan plan;
  std::map<std::string, int> lanes;
  for (const auto& [id, dim] :
       MemberLanes(*graph, group, TensorLevels(*graph, plan, *spec)))
    lanes[graph->tensor(id).name] = dim;
  return lanes;
}

TEST(MemberLanesTest, LieWhereTheReadersVectorsMove) {
  const auto lanes = LanesOf(R"(
    X: f32[8, 64] = placeholder
    A: f32[8, 64] = compute (i: 8, j: 64) { X[i, j] + X[i, j] }
    Y: f32[64, 8] = compute (j: 64, i: 8) { A[i, j] + A[i, j] }
    return Y
  )");
  EXPECT_EQ(lanes.at("Y"), 1);
  EXPECT_EQ(lanes.at("A"), 0);
}

TEST(MemberLanesTest, SumsAlongMemoryTakeTheirTermsTogether) {
  auto lanes = LanesOf(R"(
    X: f32[8, 64] = placeholder
    A: f32[8, 64] = compute (i: 8, j: 64) { X[i, j] + X[i, j] }
    Y: f32[8] = compute (i: 8) reduce (k: 64) sum:f32 { A[i, k] }
    return Y
  )");
  EXPECT_EQ(lanes.at("A"), 1);
  // Across it results lie side by side.
  lanes = LanesOf(R"(
    X: f32[64, 8] = placeholder
    A: f32[64, 8] = compute (k: 64, i: 8) { X[k, i] + X[k, i] }
    Y: f32[8] = compute (i: 8) reduce (k: 64) sum:f32 { A[k, i] }
    return Y
  )");
  EXPECT_EQ(lanes.at("A"), 1);
  // Lanes lie as the tensor that A reads does, not as A would.
  lanes = LanesOf(R"(
    X: f32[64, 8] = placeholder
    A: f32[8, 64] = compute (i: 8, k: 64) { X[k, i] + X[k, i] }
    Y: f32[8] = compute (i: 8) reduce (k: 64) sum:f32 { A[i, k] }
    return Y
  )");
  EXPECT_EQ(lanes.at("A"), 0);
}

// Windows of each channel: what they read has its vectors along channels, too.
TEST(MemberLanesTest, WindowsReadVectorsOfWhatTheyMake) {
  const auto lanes = LanesOf(R"(
    X: f32[1, 9, 9, 32] = placeholder
    A: f32[1, 32, 9, 9] = compute (n: 1, c: 32, y: 9, x: 9) { X[n, y, x, c] + X[n, y, x, c] }
    P: f32[1, 32, 7, 7] = compute (n: 1, c: 32, y: 7, x: 7) reduce (i: 3, j: 3) max:f32 { A[n, c, y + i, x + j] }
    Y: f32[1, 7, 7, 32] = compute (n: 1, y: 7, x: 7, c: 32) { P[n, c, y, x] }
    return Y
  )");
  EXPECT_EQ(lanes.at("Y"), 3);
  EXPECT_EQ(lanes.at("P"), 1);
  EXPECT_EQ(lanes.at("A"), 1);
}

TEST(MemberLanesTest, OneElementForAVectorHasNone) {
  const auto lanes = LanesOf(R"(
    X: f32[8, 64] = placeholder
    M: f32[8] = compute (i: 8) reduce (k: 64) sum:f32 { X[i, k] }
    Y: f32[8, 64] = compute (i: 8, j: 64) { X[i, j] + M[i] }
    return Y
  )");
  EXPECT_EQ(lanes.at("Y"), 1);
  EXPECT_EQ(lanes.at("M"), -1);
}

}  // namespace
}  // namespace tilewright
