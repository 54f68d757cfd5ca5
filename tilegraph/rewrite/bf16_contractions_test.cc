#include "tilegraph/rewrite/bf16_contractions.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/intrinsics.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Rewritten(const std::string& text) {
  const absl::StatusOr<TensorGraph> graph = ParseText(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const RewrittenGraph rewritten = RoundContractionsToBf16(*graph);
  EXPECT_TRUE(VerifyGraph(rewritten.graph).ok());
  EXPECT_EQ(rewritten.ids.size(), static_cast<size_t>(graph->size()));
  for (const TensorId id : graph->outputs()) EXPECT_GE(rewritten.ids[id], 0);
  for (const Tensor& tensor : rewritten.graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute || !tensor.compute.combiner)
      continue;
    const auto term =
        MatchDotTerm(*tensor.compute.combiner, tensor.compute.body[0]);
    const bool narrow =
        PrintText(rewritten.graph).find("bf16") != std::string::npos;
    EXPECT_EQ(term.has_value(), narrow);
  }
  return PrintText(rewritten.graph);
}

TEST(Bf16ContractionsTest, AMatrixProductIsRounded) {
  const std::string text = Rewritten(
      "A: f32[2, 4] = placeholder\n"
      "B: f32[4, 1] = constant { 1.00390625, 2, 3, 4 }\n"
      "T: f32[2, 1] = compute (m: 2, n: 1) reduce (k: 4) sum:f32 "
      "{ A[m, k] * B[k, n] } hint matmul\n"
      "return T\n");
  EXPECT_THAT(text, HasSubstr("A.bf16: bf16[2, 4] = compute"));
  EXPECT_THAT(text, HasSubstr("bf16[4, 1] = constant"));
  EXPECT_THAT(text, Not(HasSubstr("B: f32")));
  // Half to even.
  EXPECT_THAT(text, HasSubstr("{ 1.0, 2.0, 3.0, 4.0 }"));
}

TEST(Bf16ContractionsTest, OtherProductsStay) {
  // No whole group; no constant; terms that do not lie side by side.
  for (const char* text :
       {"A: f32[2, 3] = placeholder\n"
        "B: f32[3, 1] = constant { 1, 2, 3 }\n"
        "T: f32[2, 1] = compute (m: 2, n: 1) reduce (k: 3) sum:f32 "
        "{ A[m, k] * B[k, n] } hint matmul\n"
        "return T\n",
        "A: f32[2, 4] = placeholder\n"
        "B: f32[4, 1] = placeholder\n"
        "T: f32[2, 1] = compute (m: 2, n: 1) reduce (k: 4) sum:f32 "
        "{ A[m, k] * B[k, n] } hint matmul\n"
        "return T\n",
        "A: f32[4, 2] = placeholder\n"
        "B: f32[4, 1] = constant { 1, 2, 3, 4 }\n"
        "T: f32[2, 1] = compute (m: 2, n: 1) reduce (k: 4) sum:f32 "
        "{ A[k, m] * B[k, n] } hint matmul\n"
        "return T\n"})
    EXPECT_THAT(Rewritten(text), Not(HasSubstr("bf16")));
}

}  // namespace
}  // namespace tilewright
