// The times measured are those that the tables show.

#include <cmath>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "bench/costmodel/feature_times.h"
#include "bench/costmodel/model_times.h"
#include "costmodel/cost_model.h"
#include "costmodel/feature_matrix.h"
#include "gtest/gtest.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {
namespace {

TEST(TimesTest, CoverEveryCandidateOnceAndEveryModel) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu_x86_64_v3"));
  TW_ASSERT_OK_AND_ASSIGN(const sketch::Workload workload,
                          sketch::ParseWorkload(R"(
i0: f32[64, 48] = placeholder
t0: f32[64, 48] = compute (m: 64, n: 48) { max(i0[m, n], 0.0) }
return t0
)"));
  costmodel::CandidateFeatures candidates{costmodel::FeatureMatrix(164)};
  FeatureTimes times = TimeFeatures(workload, spec, 30, 1, candidates);
  EXPECT_EQ(times.candidates + times.refused, 30);
  EXPECT_EQ(candidates.size(), times.candidates);
  EXPECT_EQ(candidates.rows.rows(), times.blocks);
  times.Add(times);
  EXPECT_EQ(candidates.size() * 2, times.candidates);
  TW_ASSERT_OK_AND_ASSIGN(const auto models, TimeModels(candidates));
  EXPECT_EQ(models.size(), 6U);
  for (const ModelTimes& model : models) {
    EXPECT_TRUE(std::isfinite(model.fit_ms)) << model.model;
  }
}

}  // namespace
}  // namespace tilewright::bench
