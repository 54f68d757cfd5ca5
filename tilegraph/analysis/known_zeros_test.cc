#include "tilegraph/analysis/known_zeros.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using absl::StatusCode;
using Shape = std::vector<int64_t>;

// The known zeros of tensor Y, as text; "" if there are none.
std::string ZerosOfY(const std::string& text) {
  const absl::StatusOr<TensorGraph> graph = ParseText(text + "return Y\n");
  EXPECT_THAT(graph.status(), IsOk());
  const auto zeros = FindKnownZeros(*graph, {});
  const auto known = zeros.find(*graph->Find("Y"));
  return known == zeros.end() ? "" : known->second.ToString();
}

constexpr char kPadded[] = R"(
X: f32[5, 4] = placeholder
P: f32[8, 7] = compute (h: 8, w: 7) { select(h >= 1 && h < 6 && (w - 3 >= 0), X[h - 1, w - 3], 0.0) }
)";

std::string Padded(const std::string& rest) { return kPadded + rest; }

TEST(KnownZerosTest, TextRoundTrips) {
  const KnownZeros zeros{{0, 1}, {12, 0}};
  EXPECT_EQ(zeros.ToString(), "(0,1|12,0)");
  TW_ASSERT_OK_AND_ASSIGN(const KnownZeros back,
                          KnownZeros::Parse("(0,1|12,0)", Shape{12, 1}));
  EXPECT_EQ(back, zeros);
  TW_ASSERT_OK_AND_ASSIGN(const KnownZeros scalar,
                          KnownZeros::Parse("(|)", Shape{}));
  EXPECT_TRUE(scalar.empty());
}

TEST(KnownZerosTest, BadTextIsRefused) {
  for (const char* text : {"", "(", "()", "|", "(1|1", "1|1)", "(1,|1)",
                           "(,1|1)", "(1|1)x", "(a|1)", "(01|1)", "(+1|1)",
                           "( 1|1)", "(1|1|1)", "(99999999999999999999|0)"}) {
    EXPECT_THAT(KnownZeros::Parse(text, Shape{9}),
                StatusIs(StatusCode::kInvalidArgument, "are no known zeros"))
        << text;
  }
  EXPECT_THAT(KnownZeros::Parse("(1|1)", Shape{9, 9}),
              StatusIs(StatusCode::kInvalidArgument, "2 dimensions"));
  EXPECT_THAT(KnownZeros::Parse("(1,1|1)", Shape{9, 9}),
              StatusIs(StatusCode::kInvalidArgument, "2 dimensions"));
  for (const char* text : {"(-1|0)", "(0|-1)", "(10|0)", "(0|10)", "(5|5)",
                           "(9223372036854775807|9223372036854775807)"}) {
    EXPECT_THAT(KnownZeros::Parse(text, Shape{9}),
                StatusIs(StatusCode::kInvalidArgument, "does not fit"))
        << text;
  }
}

TEST(KnownZerosTest, FillingSetsTheEndsOfEveryDimension) {
  HostTensor values(DType::kFloat32, {3, 4});
  for (float& value : values.as<float>()) value = 1;
  FillKnownZeros(KnownZeros{{1, 0}, {0, 2}}, values);
  const std::vector<float> expected = {0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0};
  EXPECT_EQ(
      std::vector<float>(values.as<float>().begin(), values.as<float>().end()),
      expected);
}

TEST(KnownZerosTest, APaddingIsZeroAroundItsSource) {
  EXPECT_EQ(ZerosOfY("X: f32[5, 4] = placeholder\n"
                     "Y: f32[8, 7] = compute (h: 8, w: 7) { select(h >= 1 && h "
                     "< 6 && (w - 3 >= 0), X[h - 1, w - 3], 0.0) }\n"),
            "(1,3|2,0)");
  // Around a padding they add up.
  EXPECT_EQ(ZerosOfY(Padded("Y: f32[10, 7] = compute (h: 10, w: 7) { select(h "
                            ">= 1 && h < 9, P[h - 1, w], 0.0) }\n")),
            "(2,3|3,0)");
}

TEST(KnownZerosTest, WhatOnlyMovesOrCastsElementsKeepsThem) {
  EXPECT_EQ(
      ZerosOfY(Padded("Y: f32[7, 8] = compute (w: 7, h: 8) { P[h, w] }\n")),
      "(3,1|0,2)");
  EXPECT_EQ(ZerosOfY(Padded("Y: f32[6, 7] = compute (h: 6, w: 7) { P[h + 1, w] "
                            "}\n")),
            "(0,3|1,0)");
  EXPECT_EQ(ZerosOfY(Padded("Y: f32[4, 7] = compute (h: 4, w: 7) { P[h * 2, w] "
                            "}\n")),
            "(1,3|1,0)");
  EXPECT_EQ(ZerosOfY(Padded("Y: bf16[8, 7] = compute (h: 8, w: 7) { "
                            "cast:bf16(P[h, w]) }\n")),
            "(1,3|2,0)");
  // Two rows of three columns: the first and, of these, the first column.
  EXPECT_EQ(ZerosOfY(Padded("Y: f32[4, 2, 7] = compute (a: 4, b: 2, w: 7) { "
                            "P[a * 2 + b, w] }\n")),
            "(0,0,3|1,0,0)");
  EXPECT_EQ(ZerosOfY(Padded("Y: f32[3, 7] = compute (h: 3, w: 7) { P[0, w] "
                            "}\n")),
            "(3,7|0,0)");
}

TEST(KnownZerosTest, NothingIsKnownOfWhatMayNotBeZero) {
  for (const char* rest : {
           // Infinity times zero is none.
           "Y: f32[8, 7] = compute (h: 8, w: 7) { P[h, w] * X[0, 0] }\n",
           "Y: f32[8, 7] = compute (h: 8, w: 7) { P[h, w] + 1.0 }\n",
           "Y: f32[8, 7] = compute (h: 8, w: 7) { P[7 - h, w] + X[0, 0] }\n",
           "Y: f32[7] = compute (w: 7) reduce (h: 8) sum:f32 { P[h, w] }\n",
           "Y: f32[6] = compute (i: 6) { select(i >= 1, X[0, 0], -0.0) }\n",
           "Y: f32[6] = compute (i: 6) { select(i >= 1, X[0, 0], 1.0) }\n",
           "Y: f32[6] = compute (i: 6) { select(X[0, 0] > 0.0, X[1, 1], 0.0) "
           "}\n",
       })
    EXPECT_EQ(ZerosOfY(Padded(rest)), "") << rest;
}

TEST(KnownZerosTest, WhatIsGivenOfPlaceholdersIsPassedOn) {
  TW_ASSERT_OK_AND_ASSIGN(
      const TensorGraph graph,
      ParseText("X: f32[5, 4] = placeholder\nZ: f32[4] = placeholder\n"
                "Y: f32[4, 3] = compute (w: 4, h: 3) { X[h, w] }\n"
                "return Y\n"));
  const TensorId x = *graph.Find("X"), y = *graph.Find("Y");
  const auto zeros = FindKnownZeros(graph, {{x, {{1, 0}, {2, 1}}}});
  EXPECT_EQ(zeros.size(), 2u);
  EXPECT_EQ(zeros.at(x).ToString(), "(1,0|2,1)");
  EXPECT_EQ(zeros.at(y).ToString(), "(0,1|1,0)");
}

// The interpreter finds zeros wherever they are known, and they are known of
// every padding.
TEST(KnownZerosTest, OfRandomGraphsTheyAreTrue) {
  int paddings = 0, others = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const TensorGraph graph = BuildGraph(RandomChain(seed, 5, 0.6), seed, {});
    const auto zeros = FindKnownZeros(graph, {});
    TW_ASSERT_OK_AND_ASSIGN(
        const auto interpreter,
        Interpreter::Create(graph, RandomInputs(graph, seed, false), {}));
    for (const auto& [id, known] : zeros) {
      TW_ASSERT_OK_AND_ASSIGN(const HostTensor value,
                              interpreter->Evaluate(id));
      HostTensor filled = value;
      FillKnownZeros(known, filled);
      ASSERT_EQ(std::string(filled.data(), filled.size_bytes()),
                std::string(value.data(), value.size_bytes()))
          << "seed " << seed << ": " << graph.tensor(id).name << " "
          << known.ToString() << "\n"
          << PrintText(graph);
    }
    for (const Tensor& tensor : graph.tensors()) {
      const std::optional<ZeroPadding> padding =
          tensor.kind == TensorKind::kCompute ? AsZeroPadding(graph, tensor.id)
                                              : std::nullopt;
      if (!padding) {
        others += static_cast<int>(zeros.count(tensor.id));
        continue;
      }
      if (KnownZeros{padding->before, padding->after}.empty()) continue;
      ASSERT_EQ(zeros.count(tensor.id), 1u) << PrintText(graph);
      for (size_t d = 0; d < padding->before.size(); ++d) {
        ASSERT_GE(zeros.at(tensor.id).before[d], padding->before[d]);
        ASSERT_GE(zeros.at(tensor.id).after[d], padding->after[d]);
      }
      ++paddings;
    }
  }
  EXPECT_GT(paddings, 50);
  EXPECT_GT(others, 10);
}

}  // namespace
}  // namespace tilewright
