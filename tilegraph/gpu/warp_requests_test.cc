#include "tilegraph/gpu/warp_requests.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

// The index of the only load of `name` in the body of `reader`.
AffineIndex IndexIn(const TensorGraph& graph, const std::string& reader,
                    const std::string& name) {
  const Compute& compute = graph.tensor(*graph.Find(reader)).compute;
  std::optional<AffineIndex> index;
  for (const Expr& body : compute.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() == Op::kLoad && e.source() == *graph.Find(name))
        index = AffineIndexOf(compute, e);
    });
  }
  return *index;
}

// Rows of 64 by 96 terms, in tiles of 4 by 8 elements, one for a thread or for
// `lanes` threads.
WarpNest Product(int64_t lanes) {
  WarpNest nest;
  nest.shape = {64, 64, 96};
  nest.extents = {4, 8, 96};
  nest.grid = {16, 8};
  nest.tile.threads = {4, 8};
  nest.tile.elements = {1, 1};
  nest.tile.reduce_threads = lanes;
  nest.threads = 32 * lanes;
  return nest;
}

class WarpRequestsTest : public testing::Test {
 protected:
  double Of(const WarpNest& nest, const std::string& operand) const {
    return RequestedSectors(
        nest, IndexIn(graph_, "C", operand),
        Layout::RowMajor(graph_.tensor(*graph_.Find(operand)).static_shape()),
        4, 32);
  }

  const TensorGraph graph_ = *ParseText(R"(
    A: f32[64, 96] = placeholder
    B: f32[96, 64] = placeholder
    C: f32[64, 64] = compute (m: 64, n: 64) reduce (k: 96) sum:f32 {
      A[m, k] * B[k, n] }
    return C)");
};

TEST_F(WarpRequestsTest, LanesThatReadOneElementAskForItOnce) {
  const double terms = 16 * 8 * 96;
  EXPECT_EQ(Of(Product(1), "A"), terms * 4);  // rows
  EXPECT_EQ(Of(Product(1), "B"), terms * 1);  // eight side by side
}

// 8 threads by 4 lanes a warp: rows and columns of B that lie apart are sectors
// of their own, terms of A lie side by side.
TEST_F(WarpRequestsTest, LanesThatShareASumReadNeighbouringTerms) {
  const double terms = 16 * 8 * (96 / 4) * 4;  // and warps
  EXPECT_EQ(Of(Product(4), "A"), terms * 1);
  EXPECT_EQ(Of(Product(4), "B"), terms * 4);
}

TEST_F(WarpRequestsTest, ElementsOutsideTheTensorAreNotRead) {
  WarpNest nest = Product(1);
  nest.shape = {62, 64, 1};  // the last tile has two rows
  nest.extents[2] = 1;
  EXPECT_EQ(Of(nest, "A"), (15 * 4 + 2) * 8);
}

// 16 bytes at once, if every row begins at a multiple of them.
TEST_F(WarpRequestsTest, VectorsAreWholeWhereTheyAreAligned) {
  const TensorGraph maps = *ParseText(R"(
    X: f32[32, 64] = placeholder
    Z: f32[32, 63] = placeholder
    Y: f32[32, 60] = compute (m: 32, n: 60) { X[m, n] + Z[m, n] }
    return Y)");
  WarpNest nest;
  nest.shape = {32, 60};
  nest.extents = {4, 60};
  nest.grid = {8, 1};
  nest.tile.threads = {4, 8};
  nest.tile.vector = 4;
  nest.tile.elements = {1, 8};
  nest.threads = 32;
  // Two vectors a thread: 8 of a row, and the 7 that are left.
  EXPECT_EQ(RequestedSectors(nest, IndexIn(maps, "Y", "X"),
                             Layout::RowMajor({32, 64}), 4, 32),
            8 * (4 * 4 + 4 * 4));
  // Element by element each sector is asked for four times, and rows begin
  // inside of one.
  EXPECT_GT(RequestedSectors(nest, IndexIn(maps, "Y", "Z"),
                             Layout::RowMajor({32, 63}), 4, 32),
            4 * 8 * (4 * 4 + 4 * 4));
}

// The padding is written into the sum: it reads X through it, and nothing
// around it.
TEST_F(WarpRequestsTest, IndicesGoThroughMaps) {
  const TensorGraph window = *ParseText(R"(
    X: f32[32] = placeholder
    P: f32[34] = compute (i: 34) {
      select(i >= 1 && i < 33, X[i - 1], 0.0) }
    Y: f32[32] = compute (o: 32) reduce (r: 3) sum:f32 { P[o + r] }
    return Y)");
  const AffineIndex index =
      Through(IndexIn(window, "Y", "P"), IndexIn(window, "P", "X"));
  EXPECT_EQ(index.base, std::vector<int64_t>{-1});
  WarpNest nest;
  nest.shape = nest.extents = {32, 3};
  nest.grid = {1};
  nest.tile.threads = {32};
  nest.tile.elements = {1};
  nest.threads = 32;
  // X[-1 .. 30], X[0 .. 31], X[1 .. 32].
  EXPECT_EQ(RequestedSectors(nest, index, Layout::RowMajor({32}), 4, 32),
            4 + 4 + 4);
  // With zeros around X all lanes read, and its elements lie one further on:
  // 0 .. 31, 1 .. 32, 2 .. 33 of 34.
  const Layout halo =
      Layout::RowMajor({32}).WithHalo({1}, {1}, Layout::Fill::kZero);
  EXPECT_EQ(RequestedSectors(nest, index, halo, 4, 32), 4 + 5 + 5);
}

TEST_F(WarpRequestsTest, IndicesOfDataAreNotAffine) {
  const TensorGraph gather = *ParseText(R"(
    I: i64[8] = placeholder
    X: f32[32] = placeholder
    Y: f32[8] = compute (o: 8) { X[I[o]] }
    return Y)");
  const Compute& compute = gather.tensor(*gather.Find("Y")).compute;
  Visit(compute.body[0], [&](const Expr& e) {
    if (e.op() == Op::kLoad && e.source() == *gather.Find("X"))
      EXPECT_FALSE(AffineIndexOf(compute, e).has_value());
  });
}

// More accesses than are counted one by one.
TEST_F(WarpRequestsTest, SamplesComeNearAllAccesses) {
  WarpNest nest = Product(1);
  ASSERT_GT(16 * 8 * 96, kExactAccesses);
  nest.shape[0] = 61;  // the last tile has one row
  const double exact = (15.0 * 4 + 1) * 8 * 96;
  EXPECT_NEAR(Of(nest, "A"), exact, exact * 0.02);
}

}  // namespace
}  // namespace tilewright
