#include "tilegraph/gpu/block_remap.h"

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

struct Part {
  explicit Part(const char* text) : graph(*ParseText(text)) {
    std::vector<TensorId> members;
    for (const Tensor& tensor : graph.tensors())
      if (tensor.kind == TensorKind::kCompute) members.push_back(tensor.id);
    part = TileGraph(graph, members).SubgraphOf(members);
    part.outputs = {members.back()};
  }
  absl::StatusOr<BlockRemap> Of(const char* name,
                                const std::vector<int64_t>& tile) const {
    return RemapOf(graph, part, tile, *graph.Find(name));
  }
  TensorGraph graph;
  Subgraph part;
};

TEST(BlockRemapTest, TranspositionsExchangeIndices) {
  const Part part(R"(
    X: f32[2, 48, 64] = placeholder
    A: f32[2, 48, 64] = compute (b: 2, i: 48, j: 64) { X[b, i, j] + 1.0 }
    T: f32[64, 2, 48] = compute (j: 64, b: 2, i: 48) { A[b, i, j] }
    Y: f32[64, 2, 48] = compute (j: 64, b: 2, i: 48) { exp(T[j, b, i]) }
    return Y)");
  TW_ASSERT_OK_AND_ASSIGN(const BlockRemap remap, part.Of("A", {16, 1, 12}));
  EXPECT_EQ(ToString(remap), "[b1, b2, b0]");
  EXPECT_THAT(remap.tile, ElementsAre(1, 12, 16));
  EXPECT_TRUE(remap.partitions);
  EXPECT_EQ(ToString(*part.Of("Y", {16, 1, 12})), "[b0, b1, b2]");
  // A dimension in one tile has no index.
  EXPECT_EQ(ToString(*part.Of("A", {64, 1, 12})), "[b1, b2, 0]");
}

TEST(BlockRemapTest, SharedAndOverlappingTiles) {
  // Every block of columns needs the same rows of H.
  const Part product(R"(
    X: f32[32, 16] = placeholder
    W: f32[16, 64] = placeholder
    H: f32[32, 16] = compute (m: 32, k: 16) { max(X[m, k], 0.0) }
    Y: f32[32, 64] = compute (m: 32, n: 64) reduce (k: 16) sum:f32 {
      H[m, k] * W[k, n] }
    return Y)");
  TW_ASSERT_OK_AND_ASSIGN(const BlockRemap rows, product.Of("H", {8, 16}));
  EXPECT_EQ(ToString(rows), "[b0, 0]");
  EXPECT_TRUE(rows.partitions);
  // Windows of neighbours overlap: not to be written twice.
  const Part window(R"(
    X: f32[34] = placeholder
    A: f32[34] = compute (i: 34) { X[i] * 2.0 }
    Y: f32[32] = compute (i: 32) reduce (k: 3) sum:f32 { A[i + k] }
    return Y)");
  TW_ASSERT_OK_AND_ASSIGN(const BlockRemap halo, window.Of("A", {8}));
  EXPECT_FALSE(halo.partitions);
  EXPECT_THAT(halo.tile, ElementsAre(10));
  // Every other element is never computed.
  const Part strided(R"(
    X: f32[64] = placeholder
    A: f32[64] = compute (i: 64) { X[i] * 2.0 }
    Y: f32[32] = compute (i: 32) { A[i * 2] }
    return Y)");
  const auto gaps = strided.Of("A", {8});
  EXPECT_TRUE(!gaps.ok() || !gaps->partitions);
  EXPECT_THAT(product.Of("W", {8, 16}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace tilewright
