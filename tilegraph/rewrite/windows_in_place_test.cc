#include "tilegraph/rewrite/windows_in_place.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/rewrite/rewrite_testing.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The windows of 2 x 3 of an image, unfolded to rows, as exporters spell it.
constexpr char kUnfolded[] = R"(
  X: f32[2, 4, 7, 8] = placeholder
  R: f32[2, 4, 2, 6, 8] = compute (n: 2, c: 4, i: 2, h: 6, w: 8) { X[n, c, i + h, w] }
  W: f32[2, 4, 2, 6, 3, 6] = compute (n: 2, c: 4, i: 2, h: 6, j: 3, w: 6) { R[n, c, i, h, j + w] }
  T: f32[2, 4, 2, 3, 6, 6] = compute (n: 2, c: 4, i: 2, j: 3, h: 6, w: 6) { W[n, c, i, h, j, w] }
  U: f32[2, 24, 36] = compute (n: 2, r: 24, p: 36) { T[n, r floordiv 6, r floordiv 3 floormod 2, r floormod 3, p floordiv 6, p floormod 6] }
)";

TEST(WindowsInPlaceTest, ASumOfAMapReadsTheImage) {
  const TensorGraph graph = Parsed(std::string(kUnfolded) + R"(
  K: f32[2, 6, 6, 6] = placeholder
  V: f32[2, 4, 6, 6, 6] = compute (n: 2, c: 4, k: 6, h: 6, w: 6) { U[n, c * 6 + k, h * 6 + w] * K[n, k, h, w] }
  S: f32[2, 4, 6, 6] = compute (n: 2, c: 4, h: 6, w: 6) reduce (k: 6) sum:f32 { V[n, c, k, h, w] }
  return S
)");
  const RewrittenGraph rewritten = ReadWindowsInPlace(graph);
  ExpectSameResults(graph, rewritten);
  const std::string text = PrintText(rewritten.graph);
  EXPECT_THAT(text,
              HasSubstr("reduce (k: 6) sum:f32 { X[n, c, h + k floordiv 3, w + "
                        "k floormod 3] * K[n, k, h, w] }"));
  for (const char* name : {"R: ", "W: ", "T: ", "U: ", "V: "})
    EXPECT_THAT(text, Not(HasSubstr(name)));
}

// With two readers a map is computed once.
TEST(WindowsInPlaceTest, AMapThatIsReadTwiceReadsTheImage) {
  const TensorGraph graph = Parsed(std::string(kUnfolded) + R"(
  V: f32[2, 24, 36] = compute (n: 2, r: 24, p: 36) { U[n, r, p] * 2.0 }
  S: f32[2, 36] = compute (n: 2, p: 36) reduce (r: 24) sum:f32 { V[n, r, p] }
  M: f32[2, 36] = compute (n: 2, p: 36) reduce (r: 24) max:f32 { V[n, r, p] }
  return S, M
)");
  const RewrittenGraph rewritten = ReadWindowsInPlace(graph);
  ExpectSameResults(graph, rewritten);
  const std::string text = PrintText(rewritten.graph);
  EXPECT_THAT(text, HasSubstr("V: f32"));
  EXPECT_THAT(text, Not(HasSubstr("U: f32")));
}

// Products and outputs of the model have their own order.
TEST(WindowsInPlaceTest, WhatIsNoMapReadsTheCopy) {
  const TensorGraph graph = Parsed(std::string(kUnfolded) + R"(
  F: f32[5, 24] = placeholder
  P: f32[2, 5, 36] = compute (n: 2, o: 5, p: 36) reduce (r: 24) sum:f32 { F[o, r] * U[n, r, p] }
  return P, R
)");
  const RewrittenGraph rewritten = ReadWindowsInPlace(graph);
  ExpectSameResults(graph, rewritten);
  EXPECT_EQ(PrintText(rewritten.graph), PrintText(graph));
}

// Neither a transposed matrix nor a broadcast one holds windows.
TEST(WindowsInPlaceTest, OtherMovesStay) {
  const TensorGraph graph = Parsed(R"(
  X: f32[4, 6] = placeholder
  T: f32[6, 4] = compute (i: 6, j: 4) { X[j, i] }
  B: f32[3, 6, 4] = compute (k: 3, i: 6, j: 4) { T[i, j] }
  F: f32[72] = compute (i: 72) { B[i floordiv 24, i floordiv 4 floormod 6, i floormod 4] }
  Y: f32[72] = compute (i: 72) { F[i] + 1.0 }
  return Y
)");
  EXPECT_EQ(PrintText(ReadWindowsInPlace(graph).graph), PrintText(graph));
}

}  // namespace
}  // namespace tilewright
