#include "tilegraph/plan/canonical_group.h"

#include <cstdint>
#include <string>

#include "absl/strings/substitute.h"
#include "base/fingerprint.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

// Y1 and Y2 are the same of inputs that are numbered the other way round.
constexpr char kTwice[] = R"(
    A1: f32[8, 32] = placeholder
    B1: f32[32, 16] = placeholder
    B2: f32[32, 16] = placeholder
    A2: f32[8, 32] = placeholder
    T1: f32[8, 16] = compute (m: 8, n: 16) reduce (k: 32) sum:f32
      { A1[m, k] * B1[k, n] }
    Y1: f32[8, 16] = compute (m: 8, n: 16) { tanh(T1[m, n]) }
    T2: f32[8, 16] = compute (m: 8, n: 16) reduce (k: 32) sum:f32
      { A2[m, k] * B2[k, n] }
    Y2: f32[8, 16] = compute (m: 8, n: 16) { tanh(T2[m, n]) }
    return Y1, Y2
)";

class CanonicalGroupTest : public testing::Test {
 protected:
  void SetUp() override {
    graph_ = *ParseText(kTwice);
    plan_ = MakePlan(graph_, {});
    ASSERT_EQ(plan_.groups.size(), 2);
  }
  TensorId Id(const std::string& name) const { return *graph_.Find(name); }
  KernelKey Key(int group) const {
    return KernelKeyOf(graph_, plan_, plan_.groups[group]);
  }

  TensorGraph graph_;
  Plan plan_;
};

TEST_F(CanonicalGroupTest, NumbersAndNamesOfTheModelDoNotCount) {
  EXPECT_EQ(Key(0), Key(1));
  EXPECT_EQ(Key(0).text(), R"(i0: f32[8, 32] = placeholder
i1: f32[32, 16] = placeholder
t0: f32[8, 16] = compute (m: 8, n: 16) reduce (k: 32) sum:f32 { i0[m, k] * i1[k, n] }
t1: f32[8, 16] = compute (m: 8, n: 16) { tanh(t0[m, n]) }
return t1
)");
  EXPECT_EQ(Key(0).fingerprint(), Fingerprint::Of(Key(0).text()));
  const CanonicalGroup second = Canonicalize(graph_, plan_, plan_.groups[1]);
  EXPECT_THAT(second.tensors,
              ElementsAre(Id("A2"), Id("B2"), Id("T2"), Id("Y2")));
  EXPECT_EQ(second.Name(1), "i1");
  EXPECT_EQ(second.Name(2), "t0");
}

TEST_F(CanonicalGroupTest, LayoutsZerosAndStagesCount) {
  const KernelKey plain = Key(0);
  plan_.layouts[Id("A1")] = Layout::BlockedLast({8, 32}, 0, 8);
  const KernelKey blocked = Key(0);
  EXPECT_NE(blocked, plain);
  plan_.zeros[Id("A1")] = {{0, 1}, {0, 0}};
  const KernelKey zeros = Key(0);
  EXPECT_NE(zeros, blocked);
  Group& group = plan_.groups[0];
  group.stages = {{{Id("T1")}}, {{Id("Y1")}}};
  const KernelKey stages = Key(0);
  EXPECT_NE(stages, zeros);
  // Decisions about the stages do not.
  group.tile_plan.tile = {4, 16};
  group.tile_plan.stages.resize(2);
  group.tile_plan.stages[1].reduce_step = 2;
  EXPECT_EQ(Key(0), stages);
  plan_.layouts[Id("T1")] = Layout::RowMajor({8, 16});
  group.side_outputs = {Id("T1")};
  EXPECT_NE(Key(0), stages);
}

TEST_F(CanonicalGroupTest, ThePlaceInALargerBufferDoesNotCount) {
  // Rows of 16 in a buffer of rows of 128, from column `first` on.
  const auto part = [](int64_t first) {
    return *Layout::Strided({8, 16}, {0, 0}, {0, 0}, {{0, 1, 8}, {1, 1, 16}},
                            {128, 1}, first, 8 * 128, Layout::Fill::kUndefined);
  };
  plan_.layouts[Id("Y1")] = part(32);
  plan_.layouts[Id("Y2")] = part(64);
  EXPECT_EQ(Key(0), Key(1));
  EXPECT_EQ(
      Canonicalize(graph_, plan_, plan_.groups[1]).offset_bytes.at(Id("Y2")),
      64 * 4);
  // Beside a multiple of 64 bytes it does.
  plan_.layouts[Id("Y2")] = part(65);
  EXPECT_NE(Key(0), Key(1));
}

TEST(CanonicalConstantsTest, ComeLastAndCountByShape) {
  const auto key = [](const char* values) {
    const TensorGraph graph = *ParseText(absl::Substitute(R"(
        W: f32[2] = constant { $0 }
        X: f32[2] = placeholder
        Y: f32[2] = compute (i: 2) { W[i] * X[i] }
        return Y
    )",
                                                          values));
    const Plan plan = MakePlan(graph, {});
    return KernelKeyOf(graph, plan, plan.groups[0]);
  };
  EXPECT_EQ(key("1.0, 2.0"), key("3.0, 4.0"));
  EXPECT_EQ(key("1.0, 2.0").text(), R"(i0: f32[2] = placeholder
c0: f32[2] = placeholder
t0: f32[2] = compute (i: 2) { c0[i] * i0[i] }
return t0
#constant c0
)");
}

}  // namespace
}  // namespace tilewright
