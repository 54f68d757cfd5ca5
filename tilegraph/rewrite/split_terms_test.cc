#include "tilegraph/rewrite/split_terms.h"

#include <string>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/rewrite/rewrite_testing.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

TEST(SplitTermsTest, TheLongestAxisIsCut) {
  const TensorGraph graph = Parsed(
      "X: f16[1, 12, 5, 6] = placeholder\n"
      "W: f16[8, 12, 3] = placeholder\n"
      "T: f16[1, 8, 5, 4] = compute (n: 1, o: 8, h: 5, w: 4) "
      "reduce (c: 12, k: 3) sum:f32 "
      "{ cast:f32(X[n, c, h, w + k]) * cast:f32(W[o, c, k]) } hint conv\n"
      "return T\n");
  const RewrittenGraph split = SplitTerms(graph, [](const Tensor& tensor) {
    return CanSplitTerms(tensor, 3) ? 3 : 1;
  });
  EXPECT_THAT(VerifyGraph(split.graph), IsOk());
  const std::string text = PrintText(split.graph);
  EXPECT_THAT(text, HasSubstr("T.slices: f32[3, 1, 8, 5, 4] = compute (slice: "
                              "3, n: 1, o: 8, h: 5, w: 4) reduce (c: 4, k: 3)"))
      << text;
  EXPECT_THAT(text, HasSubstr("T: f16[1, 8, 5, 4] = compute (n: 1, o: 8, h: 5, "
                              "w: 4) reduce (slice: 3) sum:f32 { "
                              "T.slices[slice, n, o, h, w] }"))
      << text;
}

TEST(SplitTermsTest, OnlySumsOfEvenSlicesAreCut) {
  const TensorGraph graph = Parsed(
      "A: f32[2, 12] = placeholder\n"
      "S: f32[2] = compute (m: 2) reduce (k: 12) sum:f32 { A[m, k] }\n"
      "M: f32[2] = compute (m: 2) reduce (k: 12) max:f32 { A[m, k] }\n"
      "return S, M\n");
  EXPECT_TRUE(CanSplitTerms(graph.tensor(*graph.Find("S")), 4));
  EXPECT_FALSE(CanSplitTerms(graph.tensor(*graph.Find("S")), 5));
  EXPECT_FALSE(CanSplitTerms(graph.tensor(*graph.Find("S")), 12));
  EXPECT_FALSE(CanSplitTerms(graph.tensor(*graph.Find("M")), 4));
  EXPECT_FALSE(CanSplitTerms(graph.tensor(*graph.Find("A")), 2));
}

// In whole numbers, so that no order of the terms matters.
TEST(SplitTermsTest, ResultsStayTheSame) {
  int cut = 0;
  RandomGraphOptions options;
  options.exact_only = true;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const TensorGraph graph = BuildGraph(RandomChain(seed, 3), seed, options);
    const RewrittenGraph split = SplitTerms(graph, [&](const Tensor& tensor) {
      for (const int64_t slices : {2, 3, 4, 13, 17}) {
        if (!CanSplitTerms(tensor, slices)) continue;
        ++cut;
        return slices;
      }
      return int64_t{1};
    });
    ExpectSameResults(graph, split, seed);
  }
  EXPECT_GT(cut, 50);
}

}  // namespace
}  // namespace tilewright
