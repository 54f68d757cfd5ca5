#include "sketch/trace/workload.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {
namespace {

using absl::StatusCode;

Workload Example(double weight) {
  Workload workload;
  TensorGraph& g = workload.graph;
  TensorId x = g.AddPlaceholder("X", DType::kFloat32, {1, 32, 5, 5});
  auto value =
      std::make_shared<HostTensor>(DType::kFloat32, std::vector<int64_t>{32});
  for (int i = 0; i < 32; ++i) value->Set(i, Scalar{weight, 0});
  TensorId w = g.AddConstant("W", value);
  Compute compute;
  compute.axes = {{"n", 1}, {"c", 32}, {"h", 5}, {"w", 5}};
  std::vector<Expr> all = {Expr::Var(0, "n"), Expr::Var(1, "c"),
                           Expr::Var(2, "h"), Expr::Var(3, "w")};
  compute.body = {Expr::Make(Op::kMul, {g.Load(x, all), g.Load(w, {all[1]})})};
  g.SetOutputs({g.AddCompute("Y", DType::kFloat32, compute)});
  workload.layouts[x] =
      Layout::BlockedLast(std::vector<int64_t>{1, 32, 5, 5}, 1, 16);
  return workload;
}

TEST(WorkloadTest, TextRoundTrips) {
  std::string text = Example(3).Text();
  TW_ASSERT_OK_AND_ASSIGN(Workload back, ParseWorkload(text));
  EXPECT_EQ(back.Text(), text);
  EXPECT_EQ(back.graph.tensor(1).kind, TensorKind::kConstant);
  EXPECT_EQ(back.LayoutOf(0), Example(3).LayoutOf(0));
  EXPECT_EQ(back.LayoutOf(2),
            Layout::RowMajor(std::vector<int64_t>{1, 32, 5, 5}));
}

TEST(WorkloadTest, ValuesOfConstantsDoNotMatterButLayoutsDo) {
  EXPECT_EQ(Example(3).Text(), Example(4).Text());
  Workload plain = Example(3);
  plain.layouts.clear();
  EXPECT_NE(plain.Text(), Example(3).Text());
  // A plain layout says nothing new.
  Workload explicit_plain = plain;
  explicit_plain.layouts[0] = plain.LayoutOf(0);
  EXPECT_EQ(explicit_plain.Text(), plain.Text());
}

TEST(WorkloadTest, KnownZerosArePartOfTheText) {
  Workload padded = Example(3);
  padded.zeros[0] = {{0, 0, 1, 1}, {0, 0, 2, 0}};
  const std::string text = padded.Text();
  EXPECT_EQ(text, Example(3).Text() + "#zeros X (0,0,1,1|0,0,2,0)\n");
  TW_ASSERT_OK_AND_ASSIGN(const Workload back, ParseWorkload(text));
  EXPECT_EQ(back.zeros, padded.zeros);
  EXPECT_EQ(back.Text(), text);
  // No zeros say nothing.
  Workload none = Example(3);
  none.zeros[0] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
  EXPECT_EQ(none.Text(), Example(3).Text());
}

TEST(WorkloadTest, BadKnownZerosAreRefused) {
  const std::string text = Example(3).Text();
  const auto refused = [&](const std::string& line, const std::string& why) {
    EXPECT_THAT(ParseWorkload(text + line).status(),
                StatusIs(StatusCode::kInvalidArgument, why))
        << line;
  };
  refused("#zeros X\n", "a tensor and its zeros");
  refused("#zeros Q (0,0,1,1|0,0,1,1)\n", "'Q', which is no placeholder");
  refused("#zeros W (1|1)\n", "'W', which is no placeholder");
  refused("#zeros Y (0,0,1,1|0,0,1,1)\n", "'Y', which is no placeholder");
  refused("#zeros X 1\n", "'X': '1' are no known zeros");
  refused("#zeros X (0,0,1|0,0,1)\n", "4 dimensions");
  refused("#zeros X (0,0,-1,1|0,0,1,1)\n", "does not fit dimension 2");
  refused("#zeros X (0,0,1,3|0,0,1,3)\n", "does not fit dimension 3");
  refused("#zeros X (0,0,1,1|0,0,1,1)\n#zeros X (0,0,1,1|0,0,1,1)\n",
          "'X' are given twice");
}

// T = sum X·X,  Y = T + 1,  Z = max(Y, 0), in stages {T, Y} and {Z}.
constexpr char kFused[] = R"(
X: f32[4, 8] = placeholder
T: f32[4] = compute (i: 4) reduce (k: 8) sum:f32 { X[i, k] * X[i, k] }
Y: f32[4] = compute (i: 4) { T[i] + 1.0 }
Z: f32[4] = compute (i: 4) { max(Y[i], 0.0) }
return Z
)";

TEST(WorkloadTest, StagesArePartOfTheText) {
  TW_ASSERT_OK_AND_ASSIGN(Workload workload, ParseWorkload(kFused));
  const std::string alone = workload.Text();
  EXPECT_TRUE(workload.stages.empty());
  workload.stages = {{1, 2}, {3}};
  const std::string text = workload.Text();
  EXPECT_EQ(text, alone + "#stage T Y\n#stage Z\n");
  TW_ASSERT_OK_AND_ASSIGN(const Workload back, ParseWorkload(text));
  EXPECT_EQ(back.stages, workload.stages);
  EXPECT_EQ(back.Text(), text);
}

TEST(WorkloadTest, BadStagesAreRefused) {
  const auto refused = [&](const std::string& lines, const std::string& why) {
    EXPECT_THAT(ParseWorkload(kFused + lines).status(),
                StatusIs(StatusCode::kInvalidArgument, why))
        << lines;
  };
  refused("#stage T Y\n", "'Z' is in no stage");
  refused("#stage T Y\n#stage Y Z\n", "'Y' of a stage is in another one");
  refused("#stage Y T\n#stage Z\n", "'T' of a stage stands behind a later");
  refused("#stage T T\n", "'T' of a stage stands behind a later");
  refused("#stage X T Y Z\n", "'X' of a stage is no compute");
  refused("#stage T Y Q\n", "'Q' of a stage is no compute");
  refused("#stage \n", "'' of a stage is no compute");
}

// Any text gives a workload or InvalidArgument; what parses prints a text that
// parses to itself.
TEST(WorkloadTest, DamagedTextIsReadOrRefused) {
  Workload padded = Example(3);
  padded.zeros[0] = {{0, 0, 1, 1}, {0, 0, 2, 0}};
  padded.stages = {{2}};
  const std::string text = padded.Text();
  const std::string letters = "0123456789-,|()# \nXWYzerosconstantlayout[]:{}";
  Random random(1);
  int parsed = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = text;
    for (int64_t edits = random.UniformInt(1, 3); edits > 0; --edits) {
      // The last lines as often as all the others.
      const int64_t from =
          random.Bernoulli(0.5) ? static_cast<int64_t>(text.find("#zeros")) : 0;
      const int64_t last = static_cast<int64_t>(damaged.size()) - 1;
      const auto at =
          static_cast<size_t>(random.UniformInt(std::min(from, last), last));
      const char letter = letters[random.Index(letters.size())];
      switch (random.Index(4)) {
        case 0:
          damaged[at] = letter;
          break;
        case 1:
          damaged.insert(at, 1, letter);
          break;
        case 2:
          damaged.erase(at, 1);
          break;
        default:
          damaged += damaged.substr(at);  // lines stand twice
      }
    }
    const absl::StatusOr<Workload> workload = ParseWorkload(damaged);
    if (!workload.ok()) {
      ASSERT_THAT(workload.status(), StatusIs(StatusCode::kInvalidArgument))
          << damaged;
      ++refused;
      continue;
    }
    ++parsed;
    for (const auto& [id, known] : workload->zeros) {
      const std::vector<int64_t> shape =
          workload->graph.tensor(id).static_shape();
      ASSERT_EQ(known.before.size(), shape.size()) << damaged;
      for (size_t d = 0; d < shape.size(); ++d)
        ASSERT_LE(known.before[d] + known.after[d], shape[d]) << damaged;
    }
    TW_ASSERT_OK_AND_ASSIGN(const Workload again,
                            ParseWorkload(workload->Text()));
    ASSERT_EQ(again.Text(), workload->Text()) << damaged;
  }
  EXPECT_GT(parsed, 500);
  EXPECT_GT(refused, 5000);
}

TEST(WorkloadTest, BadTextIsRefused) {
  std::string text = Example(3).Text();
  EXPECT_THAT(ParseWorkload("nonsense").status(),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(
      ParseWorkload(text + "#constant Q\n").status(),
      StatusIs(StatusCode::kInvalidArgument, "constant 'Q' is no placeholder"));
  EXPECT_THAT(
      ParseWorkload(text + "#constant Y\n").status(),
      StatusIs(StatusCode::kInvalidArgument, "constant 'Y' is no placeholder"));
  EXPECT_THAT(ParseWorkload(text + "#layout Q (3) [d0]\n").status(),
              StatusIs(StatusCode::kInvalidArgument, "unknown tensor 'Q'"));
  EXPECT_THAT(
      ParseWorkload(text + "#layout Y (3) [d0]\n").status(),
      StatusIs(StatusCode::kInvalidArgument, "does not have its shape"));
  EXPECT_THAT(ParseWorkload(text + "#layout Y\n").status(),
              StatusIs(StatusCode::kInvalidArgument, "a tensor and a layout"));
}

}  // namespace
}  // namespace tilewright::sketch
