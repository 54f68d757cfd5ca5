#include "tilegraph/rewrite/widen_data.h"

#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Rewritten(const std::string& text) {
  const absl::StatusOr<TensorGraph> graph = ParseText(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const DType narrow[] = {DType::kFloat16};
  const RewrittenGraph rewritten = WidenReusedData(*graph, narrow);
  const absl::Status verified = VerifyGraph(rewritten.graph);
  EXPECT_TRUE(verified.ok()) << verified;
  return PrintText(rewritten.graph);
}

// Each element of X is taken by 16 columns.
TEST(WidenDataTest, ReusedDataAreConvertedOnce) {
  const std::string text = Rewritten(R"(
      X: f16[2, 4] = placeholder
      T: f32[2, 16] = compute (m: 2, n: 16) reduce (k: 4) sum:f32 { cast:f32(X[m, k]) * cast:f32(X[m, 0]) }
      return T
  )");
  EXPECT_THAT(text, HasSubstr("X.f32: f32[2, 4] = compute (d0: 2, d1: 4) { "
                              "cast:f32(X[d0, d1]) }"));
  EXPECT_THAT(text, HasSubstr("X.f32[m, k] * X.f32[m, 0]"));
}

// What is behind the frame of zeros is converted, so that the frame can stay
// memory that is never written.
TEST(WidenDataTest, FramesOfZerosAreOfConvertedData) {
  const std::string text = Rewritten(R"(
      X: f16[8] = placeholder
      P: f16[10] = compute (i: 10) { select(i - 1 >= 0 && i - 1 < 8, X[i - 1], 0) }
      T: f32[20, 8] = compute (n: 20, i: 8) reduce (k: 3) sum:f32 { cast:f32(P[i + k]) }
      return T
  )");
  EXPECT_THAT(text, HasSubstr("X.f32: f32[8] = compute"));
  EXPECT_THAT(text, HasSubstr("P.f32: f32[10] = compute (i: 10) { select("));
  EXPECT_THAT(text, HasSubstr("{ P.f32[i + k] }"));
  EXPECT_THAT(text, Not(HasSubstr("P: f16")));
}

TEST(WidenDataTest, OfConstantsThoseOfConvolutions) {
  for (const auto& [columns, dims, index, wide] :
       {std::tuple<const char*, const char*, const char*, bool>{
            "n: 1, o: 4, h: 6, w: 6", "1, 4, 6, 6", "n, c, h, w", true},
        {"m: 36, o: 4", "36, 4", "m, c", false}}) {
    const std::string text = Rewritten(absl::StrCat(
        "X: f32[", wide ? "1, 2, 6, 6" : "36, 2",
        "] = placeholder\n"
        "W: f16[4, 2] = constant { 1, 2, 3, 4, 5, 6, 7, 8 }\n"
        "T: f32[",
        dims, "] = compute (", columns, ") reduce (c: 2) sum:f32 { X[", index,
        "] * cast:f32(W[o, c]) }\nreturn T\n"));
    EXPECT_EQ(text.find("W.f32: f32[4, 2] = constant") != std::string::npos,
              wide)
        << text;
  }
}

TEST(WidenDataTest, OtherDataStay) {
  // Used 15 times; of another type; not cast in one place.
  for (const char* text :
       {"X: f16[2, 4] = placeholder\n"
        "T: f32[2, 15] = compute (m: 2, n: 15) reduce (k: 4) sum:f32 "
        "{ cast:f32(X[m, k]) }\n"
        "return T\n",
        "X: bf16[2, 4] = placeholder\n"
        "T: f32[2, 16] = compute (m: 2, n: 16) reduce (k: 4) sum:f32 "
        "{ cast:f32(X[m, k]) }\n"
        "return T\n",
        "X: f16[2, 4] = placeholder\n"
        "T: f32[2, 16] = compute (m: 2, n: 16) reduce (k: 4) sum:f32 "
        "{ cast:f32(X[m, k]) * cast:f32(neg(X[m, k])) }\n"
        "return T\n"})
    EXPECT_THAT(Rewritten(text), Not(HasSubstr(".f32"))) << text;
}

}  // namespace
}  // namespace tilewright
