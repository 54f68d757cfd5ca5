#include "measure/verify/verify_run.h"

#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::measure {
namespace {

using ::testing::HasSubstr;
using Values = std::map<TensorId, HostTensor>;

constexpr int kLayers = 12;
constexpr int64_t kSize = 64;

// A product of W after the other: bounds over all of them would be wider than
// the values.
TensorGraph Chain() {
  std::string text = "X: f32[64] = placeholder\nW: f32[64, 64] = placeholder\n";
  std::string before = "X";
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string name = "T" + std::to_string(layer);
    text += name +
            ": f32[64] = compute (i: 64) reduce (k: 64) sum:f32 { W[i, k] * " +
            before + "[k] }\n";
    before = name;
  }
  return ParseText(text + "return " + before + "\n").value();
}

TensorId Id(const TensorGraph& graph, const std::string& name) {
  return *graph.Find(name);
}

// Values without a pattern, sums of products of about unit size.
HostTensor Filled(const std::vector<int64_t>& shape, double size) {
  HostTensor tensor(DType::kFloat32, shape);
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    tensor.Set(i,
               {size * std::sin(1.7 * static_cast<double>(i * i % 1009)), 0});
  return tensor;
}

// Computes the chain in float.
void RunChain(const TensorGraph& graph, Values& inputs, Values& observed) {
  inputs[Id(graph, "X")] = Filled({kSize}, 1);
  inputs[Id(graph, "W")] = Filled({kSize, kSize}, 0.2);
  const HostTensor* before = &inputs[Id(graph, "X")];
  for (int layer = 0; layer < kLayers; ++layer) {
    HostTensor& after = observed[Id(graph, "T" + std::to_string(layer))];
    after = HostTensor(DType::kFloat32, {kSize});
    for (int64_t i = 0; i < kSize; ++i) {
      float sum = 0;
      for (int64_t k = 0; k < kSize; ++k)
        sum += inputs[Id(graph, "W")].as<float>()[i * kSize + k] *
               before->as<float>()[k];
      after.as<float>()[i] = sum;
    }
    before = &after;
  }
}

class VerifyRunTest : public testing::Test {
 protected:
  void SetUp() override { RunChain(graph_, inputs_, observed_); }
  absl::StatusOr<RunVerdict> Verify() {
    return VerifyRun(graph_, inputs_, observed_, {});
  }
  float& Element(const std::string& name, int64_t i) {
    return observed_[Id(graph_, name)].as<float>()[i];
  }

  const TensorGraph graph_ = Chain();
  Values inputs_, observed_;
};

TEST_F(VerifyRunTest, WhatWasComputedIsRight) {
  TW_ASSERT_OK_AND_ASSIGN(const RunVerdict verdict, Verify());
  EXPECT_EQ(verdict.reason, "");
  EXPECT_EQ(verdict.tensors, kLayers);
  EXPECT_EQ(verdict.elements, kLayers * kSize);
  EXPECT_EQ(verdict.unverified, 0);
  EXPECT_GT(verdict.largest_error, 0);
  EXPECT_LE(verdict.largest_error, verdict.limit);
  EXPECT_EQ(verdict.limit, 4);
  EXPECT_EQ(verdict.worst.substr(0, 1), "T");
}

TEST_F(VerifyRunTest, AnErrorIsToldWhereItArises) {
  Element("T7", 3) += 1e-3F;
  TW_ASSERT_OK_AND_ASSIGN(const RunVerdict verdict, Verify());
  EXPECT_THAT(verdict.reason, HasSubstr("'T7'"));
  EXPECT_THAT(verdict.reason, HasSubstr("[3]"));
  EXPECT_GT(verdict.largest_error, verdict.limit);
  EXPECT_EQ(verdict.worst, "T7");
}

TEST_F(VerifyRunTest, BoundsStayThoseOfAKernelHoweverDeepTheModelIs) {
  const float right = Element("T11", 0);
  Element("T11", 0) *= 1 + 3e-5F;
  TW_ASSERT_OK_AND_ASSIGN(const RunVerdict narrow, Verify());
  EXPECT_THAT(narrow.reason, HasSubstr("'T11'"));
  // Where nothing between is observed, bounds are those of all layers.
  HostTensor last = observed_[Id(graph_, "T11")];
  observed_ = {{Id(graph_, "T11"), last}};
  TW_ASSERT_OK_AND_ASSIGN(const RunVerdict wide, Verify());
  EXPECT_EQ(wide.reason, "");
  EXPECT_EQ(wide.tensors, 1);
  EXPECT_EQ(wide.wide, kSize);
  EXPECT_EQ(narrow.wide, 0);
  // A value that is far off shows still.
  Element("T11", 0) = 2 * right + 1;
  TW_ASSERT_OK_AND_ASSIGN(const RunVerdict far, Verify());
  EXPECT_THAT(far.reason, HasSubstr("of the largest value"));
}

// The mean of what has its mean taken away is nothing but rounding.
TEST(VerifyRunOfNoiseTest, WhatIsLeftWhereTermsCancelIsVerifiedByItsBound) {
  const TensorGraph graph = ParseText(R"(
      X: f32[64] = placeholder
      S: f32[] = compute () reduce (k: 64) sum:f32 { X[k] }
      C: f32[64] = compute (k: 64) { X[k] - S[] / 64.0 }
      M: f32[] = compute () reduce (k: 64) sum:f32 { C[k] }
      return M
  )")
                                .value();
  const Values inputs = {{Id(graph, "X"), Filled({kSize}, 1)}};
  HostTensor centred = Filled({kSize}, 1), mean(DType::kFloat32, {});
  float sum = 0;
  for (const float x : centred.as<float>()) sum += x;
  double left = 0;
  for (float& x : centred.as<float>()) left += x -= sum / 64;
  for (const double by : {0.0, 1e-6, 1e-3}) {
    mean.as<float>()[0] = static_cast<float>(left + by);
    TW_ASSERT_OK_AND_ASSIGN(
        const RunVerdict verdict,
        VerifyRun(graph, inputs,
                  {{Id(graph, "C"), centred}, {Id(graph, "M"), mean}}, {}));
    EXPECT_EQ(verdict.reason.empty(), by < 1e-4) << verdict.reason;
    EXPECT_EQ(verdict.wide, by < 1e-4 ? 1 : 0);
  }
  // Bounds of less exact classes are wide where nothing cancels.
  VerifyRunOptions options;
  options.unit = 0x1p-9;
  mean.as<float>()[0] = static_cast<float>(left + 1e-3);
  TW_ASSERT_OK_AND_ASSIGN(
      const RunVerdict verdict,
      VerifyRun(graph, inputs,
                {{Id(graph, "C"), centred}, {Id(graph, "M"), mean}}, options));
  EXPECT_THAT(verdict.reason, HasSubstr("of the largest value"));
}

TEST_F(VerifyRunTest, AResultThatReachesTheWrongReaderShows) {
  // As if T5 had read X: every sum is right, of the wrong terms.
  observed_[Id(graph_, "T5")] = observed_[Id(graph_, "T0")];
  TW_ASSERT_OK_AND_ASSIGN(const RunVerdict verdict, Verify());
  EXPECT_THAT(verdict.reason, HasSubstr("'T5'"));
}

TEST_F(VerifyRunTest, LessExactClassesHaveWiderBounds) {
  Element("T7", 3) *= 1 + 1e-3F;
  VerifyRunOptions options;
  options.unit = 0x1p-9;
  TW_ASSERT_OK_AND_ASSIGN(const RunVerdict verdict,
                          VerifyRun(graph_, inputs_, observed_, options));
  EXPECT_EQ(verdict.reason, "");
  options = {};
  options.bound_scale = 16;
  TW_ASSERT_OK_AND_ASSIGN(const RunVerdict scaled,
                          VerifyRun(graph_, inputs_, observed_, options));
  EXPECT_EQ(scaled.limit, 64);
}

TEST_F(VerifyRunTest, WhatIsMissingOrDoesNotFitIsAnError) {
  Values without = observed_;
  without.erase(Id(graph_, "T11"));
  EXPECT_THAT(VerifyRun(graph_, inputs_, without, {}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no value for 'T11'")));
  EXPECT_THAT(VerifyRun(graph_, {}, observed_, {}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no value for 'X'")));
  observed_[Id(graph_, "T2")] = HostTensor(DType::kFloat32, {kSize + 1});
  EXPECT_THAT(Verify().status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'T2'")));
}

}  // namespace
}  // namespace tilewright::measure
