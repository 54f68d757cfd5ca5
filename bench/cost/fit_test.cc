#include "bench/cost/fit.h"

#include <cmath>
#include <string>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "bench/cost/error_table.h"
#include "bench/cost/kernel_sample.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/cost/kernel_seconds.h"

namespace tilewright::bench {
namespace {

using ::testing::HasSubstr;

// Kernels of one compute, large and small, that take what `spec` says.
std::vector<KernelSample> Synthetic(const DeviceSpec& spec) {
  constexpr ArithmeticKind kKinds[] = {
      ArithmeticKind::kContraction, ArithmeticKind::kWindow,
      ArithmeticKind::kRow, ArithmeticKind::kElementwise};
  Random random(3);
  const KernelTimer timer(spec);
  std::vector<KernelSample> samples;
  for (int i = 0; i < 200; ++i) {
    KernelSample& sample = samples.emplace_back();
    sample.model = "model" + std::to_string(i % 10);
    sample.name = "kernel" + std::to_string(i);
    sample.family = "synthetic";
    ComputeFeatures compute;
    compute.kind = kKinds[i % 4];
    compute.operations.simple = 2;
    compute.points = std::pow(10, 4 + 4 * random.Uniform());
    compute.terms = 512;
    compute.rows = 8;
    const double bytes = compute.points * static_cast<double>(random.Index(9));
    sample.features.stages = {
        {{compute}, {{bytes, 0, 0}, {bytes, bytes / 2, 0}, {bytes, 0, 0}}}};
    sample.features.tasks = 1 + static_cast<double>(random.Index(40));
    sample.us = timer.Of(sample.features).total() * 1e6;
  }
  return samples;
}

TEST(FitTest, RecoversTheConstantsThatSamplesWereMadeWith) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec truth,
                          LoadSpec("cpu_x86_64_v4_bf16"));
  const std::vector<KernelSample> samples = Synthetic(truth);
  DeviceSpec start = truth;
  start.mutable_cost_model()->set_contraction_peak_share(0.5);
  start.mutable_cost_model()->set_window_peak_share(0.4);
  start.mutable_cost_model()->set_elementwise_peak_share(0.6);
  EXPECT_GT(FitError(samples, start), 0.1);

  const DeviceSpec fitted = FitSpec(samples, start, "a test");
  EXPECT_LT(FitError(samples, fitted), 0.01);
  const auto expect_near = [](double value, double wanted) {
    EXPECT_NEAR(value, wanted, 0.05 * wanted);
  };
  const CostModel& model = fitted.cost_model();
  expect_near(model.contraction_peak_share(),
              truth.cost_model().contraction_peak_share());
  expect_near(model.window_peak_share(),
              truth.cost_model().window_peak_share());
  expect_near(model.elementwise_peak_share(),
              truth.cost_model().elementwise_peak_share());
}

TEST(FitTest, WhatWasFittedSaysSoAndTheSpecIsValid) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec truth,
                          LoadSpec("cpu_x86_64_v4_bf16"));
  DeviceSpec start = truth;
  start.mutable_cost_model()->set_window_peak_share(0.4);
  const DeviceSpec fitted = FitSpec(Synthetic(truth), start, "a test");
  TW_EXPECT_OK(ValidateSpec(fitted));
  std::vector<std::string> fields;
  for (const Source& source : fitted.cost_model().sources()) {
    if (source.kind() != Source::FITTED) continue;
    EXPECT_EQ(source.detail(), "a test");
    fields.insert(fields.end(), source.fields().begin(), source.fields().end());
  }
  EXPECT_THAT(fields, testing::Contains("window_peak_share"));
  // Nothing here depends on it.
  EXPECT_THAT(fields, testing::Not(testing::Contains("erf_operations")));
}

TEST(FitTest, OneKernelThatNothingExplainsBendsNoConstant) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec truth,
                          LoadSpec("cpu_x86_64_v4_bf16"));
  std::vector<KernelSample> samples = Synthetic(truth);
  samples[0].us *= 50;
  const DeviceSpec fitted = FitSpec(samples, truth, "a test");
  EXPECT_NEAR(fitted.cost_model().contraction_peak_share(),
              truth.cost_model().contraction_peak_share(), 0.01);
}

// Which of a kernel's tiles is best tells of the tiles alone: neither how long
// they take outside of a model nor what all of them share.
TEST(FitTest, TilesOfAKernelAreComparedWithEachOther) {
  TW_ASSERT_OK_AND_ASSIGN(DeviceSpec truth, LoadSpec("cpu_x86_64_v4_bf16"));
  truth.mutable_cost_model()->set_task_ns(300);
  std::vector<KernelSample> samples = Synthetic(truth);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i].features.tasks = std::pow(4, i % 6);
    samples[i].us = KernelTimer(truth).Of(samples[i].features).total() * 1e6;
  }
  EXPECT_LT(FitError(samples, truth), 1e-9);
  // One kernel, in as many tiles as there are numbers of tasks.
  std::vector<KernelSample> tiles(samples.begin(), samples.begin() + 1);
  tiles.resize(6, tiles[0]);
  for (size_t i = 0; i < tiles.size(); ++i) {
    tiles[i].name = "kernel@" + std::to_string(i);
    tiles[i].features.tasks = std::pow(4, i);
    tiles[i].us = 3e6 * KernelTimer(truth).Of(tiles[i].features).total();
  }
  EXPECT_LT(FitError(tiles, truth), 1e-9);
  DeviceSpec other = truth;
  other.mutable_cost_model()->set_task_ns(3000);
  EXPECT_GT(FitError(tiles, other), 0.01);
}

TEST(KernelSampleTest, SamplesReadBackAsTheyWere) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec,
                          LoadSpec("cpu_x86_64_v4_bf16"));
  std::vector<KernelSample> samples = Synthetic(spec);
  samples[1].features.has_stages = true;
  ComputeFeatures& compute = samples[1].features.stages[0].computes[0];
  compute.kind = ArithmeticKind::kWinograd;
  compute.winograd_m = 4;
  compute.input_tiles = 12;
  compute.register_tile_slowdown = 1.25;
  compute.is_fused = compute.terms_are_neighbours = true;
  const std::string text = ToText(samples);
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<KernelSample> read,
                          ParseSamples(text));
  EXPECT_EQ(ToText(read), text);
  ASSERT_EQ(read.size(), samples.size());
  const ComputeFeatures& same = read[1].features.stages[0].computes[0];
  EXPECT_EQ(same.kind, ArithmeticKind::kWinograd);
  EXPECT_EQ(same.winograd_m, 4);
  EXPECT_EQ(same.input_tiles, 12);
  EXPECT_EQ(same.register_tile_slowdown, 1.25);
  EXPECT_TRUE(same.is_fused && same.terms_are_neighbours);
  EXPECT_TRUE(read[1].features.has_stages);
}

TEST(KernelSampleTest, ALineThatIsNoneIsNamed) {
  EXPECT_THAT(ParseSamples("kernel m f 1 2.5 n\nlevels 1 2 3\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("line 2 is no line of kernel samples")));
  EXPECT_THAT(
      ParseSamples("kernel m f 1 2.5 n extra\n"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 1")));
}

TEST(ErrorTableTest, ErrorsAreOfMeasuredTimes) {
  const ErrorSummary summary = Summarize({1.1, 0.5, 1.2, 1});
  EXPECT_EQ(summary.kernels, 4);
  EXPECT_NEAR(summary.median_percent, 20, 1e-9);
  EXPECT_NEAR(summary.p90_percent, 50, 1e-9);
}

}  // namespace
}  // namespace tilewright::bench
