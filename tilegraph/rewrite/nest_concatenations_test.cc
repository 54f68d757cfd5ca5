#include "tilegraph/rewrite/nest_concatenations.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/rewrite/rewrite_testing.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Parts of 2 to 5 columns, and `wholes`, lines of text, each of which is summed
// by rows.
TensorGraph WithParts(const std::string& wholes, const std::string& sums,
                      const std::string& outputs) {
  return Parsed(absl::StrCat(
      "X: f32[3, 8] = placeholder\n"
      "A: f32[3, 2] = compute (i: 3, j: 2) { X[i, j] + 1.0 }\n"
      "B: f32[3, 3] = compute (i: 3, j: 3) { X[i, j] * 2.0 }\n"
      "C: f32[3, 4] = compute (i: 3, j: 4) { X[i, j + 1] - 1.0 }\n"
      "D: f32[3, 5] = compute (i: 3, j: 5) { X[i, j + 3] * X[i, j] }\n",
      wholes, sums, "return ", outputs, "\n"));
}

constexpr char kAB[] =
    "AB: f32[3, 5] = compute (i: 3, j: 5) "
    "{ select(j < 2, A[i, j], B[i, j - 2]) }\n";
constexpr char kABC[] =
    "ABC: f32[3, 9] = compute (i: 3, j: 9) "
    "{ select(j < 2, A[i, j], select(j < 5, B[i, j - 2], C[i, j - 5])) }\n";
constexpr char kDABC[] =
    "DABC: f32[3, 14] = compute (i: 3, j: 14) { select(j < 7, select(j < 5, "
    "D[i, j], A[i, j - 5]), select(j < 10, B[i, j - 7], C[i, j - 10])) }\n";
constexpr char kSums[] =
    "S: f32[3] = compute (i: 3) reduce (j: 5) sum:f32 { AB[i, j] }\n"
    "T: f32[3] = compute (i: 3) reduce (j: 9) sum:f32 { ABC[i, j] * ABC[i, 0] "
    "}\n";

TEST(NestConcatenationsTest, TheLongestKnownRunStandsForItsParts) {
  const TensorGraph graph = WithParts(
      absl::StrCat(kAB, kABC, kDABC),
      absl::StrCat(kSums,
                   "U: f32[3] = compute (i: 3) reduce (j: 14) sum:f32 { "
                   "DABC[i, j] * DABC[i, 3] }\n"),
      "S, T, U");
  const RewrittenGraph nested = NestConcatenations(graph);
  const std::string text = PrintText(nested.graph);
  EXPECT_THAT(text, HasSubstr("{ select(j < 5, AB[i, j], C[i, j - 5]) }"))
      << text;
  EXPECT_THAT(text, HasSubstr("{ select(j < 5, D[i, j], ABC[i, j - 5]) }"))
      << text;
  ExpectSameResults(graph, nested);
}

// Seventy rows, one of them the input's own: parts of 32, 32 and 6.
TEST(NestConcatenationsTest, ManyPartsAreFewWholesOfFew) {
  constexpr int kRows = 70;
  std::string text = "X: f32[1, 4] = placeholder\n", whole;
  for (int row = 0; row < kRows - 1; ++row)
    absl::SubstituteAndAppend(
        &text, "R$0: f32[1, 4] = compute (i: 1, j: 4) { X[i, j] * $0.0 }\n",
        row);
  for (int row = 0; row < kRows - 1; ++row)
    absl::SubstituteAndAppend(&whole, "select(i < $1, R$0[i - $0, j], ", row,
                              row + 1);
  const TensorGraph graph = Parsed(absl::Substitute(
      "$0W: f32[$1, 4] = compute (i: $1, j: 4) { $2X[i - $3, j]$4 }\nreturn "
      "W\n",
      text, kRows, whole, kRows - 1, std::string(kRows - 1, ')')));
  const RewrittenGraph nested = NestConcatenations(graph);
  std::vector<std::string> parts;
  for (const Tensor& tensor : nested.graph.tensors()) {
    if (AsConcatenation(nested.graph, tensor.id))
      parts.push_back(absl::StrCat(tensor.name, " ", tensor.shape[0].value()));
  }
  EXPECT_THAT(parts,
              ElementsAre("W.part 32", "W.part_1 32", "W.part_2 6", "W 70"));
  ExpectSameResults(graph, nested);
}

// The text of the graph of such wholes, nested.
std::string Nested(const std::string& wholes, const std::string& sums,
                   const std::string& outputs) {
  return PrintText(NestConcatenations(WithParts(wholes, sums, outputs)).graph);
}

// Results and inputs of the model lie where their owner wants them; what is
// there twice has two places.
TEST(NestConcatenationsTest, WhatHasAnotherPlaceIsNoPart) {
  const std::string both = absl::StrCat(kAB, kABC);
  EXPECT_THAT(Nested(both, kSums, "S, T"), Not(HasSubstr(kABC)));
  EXPECT_THAT(Nested(both, kSums, "S, T, B"), HasSubstr(both));
  EXPECT_THAT(Nested(both, kSums, "S, T, AB"), HasSubstr(both));
  for (const char* twice : {"X[i, j - 2]", "A[i, j - 2]"}) {
    const std::string wholes = absl::Substitute(
        "AB: f32[3, 4] = compute (i: 3, j: 4) "
        "{ select(j < 2, A[i, j], $0) }\n"
        "ABC: f32[3, 8] = compute (i: 3, j: 8) "
        "{ select(j < 2, A[i, j], select(j < 4, $0, C[i, j - 4])) }\n",
        twice);
    EXPECT_THAT(Nested(wholes,
                       "S: f32[3] = compute (i: 3) reduce (j: 4) sum:f32 "
                       "{ AB[i, j] }\n"
                       "T: f32[3] = compute (i: 3) reduce (j: 8) sum:f32 "
                       "{ ABC[i, j] }\n",
                       "S, T"),
                HasSubstr(wholes));
  }
}

}  // namespace
}  // namespace tilewright
