#include "tilegraph/rewrite/winograd.h"

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

struct Case {
  int64_t batch, in_channels, out_channels, height, width, padding;
};

// X -> padding, if any -> T (3x3) -> Y = relu, and Z, which reads the padded
// data too.
std::string ConvolutionText(const Case& c, Random& random) {
  std::string weights;
  for (int64_t i = 0; i < c.in_channels * c.out_channels * 9; ++i)
    absl::StrAppend(&weights, i == 0 ? "" : ", ",
                    static_cast<int64_t>(random.Index(9)) - 4);
  const int64_t h = c.height, w = c.width, p = c.padding;
  const std::string outside = absl::StrCat(c.batch, ", ", c.in_channels, ", ",
                                           h + 2 * p, ", ", w + 2 * p);
  const std::string result = absl::StrCat(c.batch, ", ", c.out_channels, ", ",
                                          h + 2 * p - 2, ", ", w + 2 * p - 2);
  const std::string axes =
      absl::StrCat("n: ", c.batch, ", o: ", c.out_channels,
                   ", h: ", h + 2 * p - 2, ", w: ", w + 2 * p - 2);
  std::string text = absl::StrCat("X: f32[", c.batch, ", ", c.in_channels, ", ",
                                  h, ", ", w, "] = placeholder\n");
  if (p > 0) {
    absl::StrAppend(&text, "P: f32[", outside, "] = compute (n: ", c.batch,
                    ", c: ", c.in_channels, ", h: ", h + 2 * p,
                    ", w: ", w + 2 * p, ") { select(h - ", p, " >= 0 && h - ",
                    p, " < ", h, " && (w - ", p, " >= 0 && w - ", p, " < ", w,
                    "), X[n, c, h - ", p, ", w - ", p, "], 0.0) } hint pad\n");
  }
  const char* const data = p > 0 ? "P" : "X";
  absl::StrAppend(
      &text, "W: f32[", c.out_channels, ", ", c.in_channels,
      ", 3, 3] = constant { ", weights, " }\nT: f32[", result, "] = compute (",
      axes, ") reduce (c: ", c.in_channels, ", i: 3, j: 3) sum:f32 { ", data,
      "[n, c, h + i, w + j] * W[o, c, i, j] } hint conv\nY: f32[", result,
      "] = compute (", axes, ") { max(T[n, o, h, w], 0.0) }\nreturn Y\n");
  return text;
}

// The marked graph with its convolution as F(m, 3), filters and all.
TensorGraph Filtering(const TensorGraph& marked, int m) {
  const std::optional<WinogradConvolution> convolution = FindWinograd(marked);
  EXPECT_TRUE(convolution.has_value());
  const RewrittenGraph rewritten = ToWinograd(marked, *convolution, m);
  EXPECT_EQ(rewritten.ids.size(), static_cast<size_t>(marked.size()));
  const TensorId filters = rewritten.ids[convolution->weights];
  EXPECT_FALSE(VerifyGraph(rewritten.graph).ok()) << "the filters are not made";
  TensorGraph graph;
  std::vector<TensorId> ids;
  for (const Tensor& tensor : rewritten.graph.tensors()) {
    if (tensor.id == filters) {
      ids.push_back(graph.AddConstant(
          tensor.name, std::make_shared<HostTensor>(WinogradFilters(
                           *marked.tensor(convolution->weights).value, m))));
    } else {
      ids.push_back(CopyTensor(tensor, ids, graph));
    }
  }
  graph.SetOutputs({rewritten.graph.outputs()[0]});
  return graph;
}

HostTensor Evaluated(const TensorGraph& graph, const HostTensor& input) {
  auto interpreter =
      Interpreter::Create(graph, {{*graph.Find("X"), input}}, {});
  EXPECT_THAT(interpreter, IsOk());
  absl::StatusOr<HostTensor> result =
      (*interpreter)->Evaluate(graph.outputs()[0]);
  EXPECT_THAT(result, IsOk());
  return *std::move(result);
}

constexpr Case kCases[] = {
    {1, 1, 1, 4, 4, 0}, {1, 2, 3, 6, 6, 1}, {2, 3, 2, 7, 5, 1},
    {1, 2, 2, 3, 3, 0}, {1, 1, 2, 1, 8, 1}, {2, 2, 1, 9, 11, 0},
};

TEST(WinogradTest, ComputesWhatTheConvolutionDoes) {
  Random random(7);
  for (const Case& c : kCases) {
    const absl::StatusOr<TensorGraph> graph =
        ParseText(ConvolutionText(c, random));
    ASSERT_THAT(graph, IsOk());
    HostTensor input(DType::kFloat32,
                     {c.batch, c.in_channels, c.height, c.width});
    for (float& x : input.as<float>())
      x = static_cast<float>(random.Index(17)) - 8;
    const HostTensor wanted = Evaluated(*graph, input);
    for (const int m : {2, 4}) {
      int seen = 0;
      const RewrittenGraph marked = MarkWinograd(
          *graph, m == 2 ? ComputeRole::kWinograd2 : ComputeRole::kWinograd4,
          [&](const WinogradCase& shape) {
            ++seen;
            EXPECT_EQ(shape.in_channels, c.in_channels);
            EXPECT_EQ(shape.out_channels, c.out_channels);
            return m;
          });
      EXPECT_EQ(seen, 1);
      ASSERT_THAT(VerifyGraph(marked.graph), IsOk());
      const Tensor& convolution =
          marked.graph.tensor(marked.ids[*graph->Find("T")]);
      EXPECT_EQ(convolution.name, "T");
      EXPECT_EQ(convolution.hint.role(),
                m == 2 ? ComputeRole::kWinograd2 : ComputeRole::kWinograd4);
      EXPECT_THAT(WinogradTiles(marked.graph, *FindWinograd(marked.graph)),
                  Contains(m));
      const HostTensor direct = Evaluated(marked.graph, input);
      for (int64_t i = 0; i < wanted.num_elements(); ++i)
        EXPECT_EQ(direct.Get(i).f, wanted.Get(i).f);
      const TensorGraph filtering = Filtering(marked.graph, m);
      ASSERT_THAT(VerifyGraph(filtering), IsOk());
      const HostTensor given = Evaluated(filtering, input);
      for (int64_t i = 0; i < wanted.num_elements(); ++i) {
        // Quarters of small integers are exact; filters of F(4, 3) are not.
        const double limit =
            m == 2 ? 0 : 1e-4 * (1 + std::fabs(wanted.Get(i).f));
        EXPECT_NEAR(given.Get(i).f, wanted.Get(i).f, limit) << "m " << m;
      }
    }
  }
}

TEST(WinogradTest, LeavesAloneWhatIsNotChosenOrFits) {
  Random random(8);
  const absl::StatusOr<TensorGraph> graph =
      ParseText(ConvolutionText(kCases[1], random));
  ASSERT_THAT(graph, IsOk());
  const RewrittenGraph same = MarkWinograd(
      *graph, ComputeRole::kWinograd4, [](const WinogradCase&) { return 0; });
  EXPECT_EQ(PrintText(same.graph), PrintText(*graph));

  const char* others[] = {
      // Stride 2, 5x5, weights that are no constant.
      "X: f32[1, 1, 5, 5] = placeholder\nW: f32[1, 1, 3, 3] = constant { 1, 2, "
      "3, 4, 5, 6, 7, 8, 9 }\nT: f32[1, 1, 2, 2] = compute (n: 1, o: 1, h: 2, "
      "w: 2) reduce (c: 1, i: 3, j: 3) sum:f32 { X[n, c, h * 2 + i, w * 2 + j] "
      "* W[o, c, i, j] }\nreturn T\n",
      "X: f32[1, 1, 5, 5] = placeholder\nW: f32[1, 1, 3, 3] = placeholder\nT: "
      "f32[1, 1, 3, 3] = compute (n: 1, o: 1, h: 3, w: 3) reduce (c: 1, i: 3, "
      "j: 3) sum:f32 { X[n, c, h + i, w + j] * W[o, c, i, j] }\nreturn T\n",
      "X: f32[1, 2, 5, 5] = placeholder\nW: f32[2, 1, 3, 3] = constant { 1, 2, "
      "3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9 }\nT: f32[1, 2, 3, 3] = "
      "compute (n: 1, o: 2, h: 3, w: 3) reduce (c: 1, i: 3, j: 3) sum:f32 { "
      "X[n, o, h + i, w + j] * W[o, c, i, j] }\nreturn T\n",
  };
  // Marked by hand, it is none still.
  for (const char* text : others) {
    const absl::StatusOr<TensorGraph> marked = ParseText(absl::StrReplaceAll(
        text, {{" }\nreturn", " } hint winograd4\nreturn"}}));
    ASSERT_THAT(marked, IsOk());
    EXPECT_TRUE(MayHaveLargeTiles(*marked));
    EXPECT_FALSE(FindWinograd(*marked).has_value());
    const absl::StatusOr<TensorGraph> other = ParseText(text);
    ASSERT_THAT(other, IsOk());
    const RewrittenGraph rewritten =
        MarkWinograd(*other, ComputeRole::kWinograd2, [](const WinogradCase&) {
          ADD_FAILURE();
          return 2;
        });
    EXPECT_EQ(PrintText(rewritten.graph), PrintText(*other));
  }
}

// Without room for tiles of 4 the mark alone allows none.
TEST(WinogradTest, TilesNeedRoom) {
  Random random(9);
  const absl::StatusOr<TensorGraph> graph = ParseText(absl::StrReplaceAll(
      ConvolutionText(kCases[1], random), {{"hint conv", "hint winograd4"}}));
  ASSERT_THAT(graph, IsOk());
  EXPECT_THAT(WinogradTiles(*graph, *FindWinograd(*graph)), ElementsAre(2));
  const TensorGraph wide =
      MarkWinograd(*graph, ComputeRole::kWinograd4, [](const WinogradCase&) {
        return 4;
      }).graph;
  EXPECT_THAT(WinogradTiles(wide, *FindWinograd(wide)), ElementsAre(2, 4));
}

}  // namespace
}  // namespace tilewright
