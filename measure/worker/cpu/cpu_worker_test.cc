// Candidates of the CPU through builders and workers.
#include "measure/worker/cpu/cpu_worker.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/spec/host_spec.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/record/workload_key.h"
#include "measure/worker/pool/process_pool.h"
#include "measure/worker/run_worker.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/testing/random_schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::cpu {
namespace {

using measure::AdaptiveEvaluatorOptions;
using measure::Measurement;
using measure::Method;
using ::testing::HasSubstr;

constexpr char kGemm[] = R"(A: f32[40, 33] = placeholder
B: f32[33, 48] = placeholder
T: f32[40, 48] = compute (m: 40, n: 48) reduce (k: 33) sum:f32 { A[m, k] * B[k, n] }
Y: f32[40, 48] = compute (m: 40, n: 48) { max(T[m, n], 0) }
return Y
)";

constexpr char kSoftmax[] = R"(X: f32[5, 31] = placeholder
M: f32[5] = compute (r: 5) reduce (k: 31) max:f32 { X[r, k] }
E: f32[5, 31] = compute (r: 5, c: 31) { exp(X[r, c] - M[r]) }
S: f32[5] = compute (r: 5) reduce (k: 31) sum:f32 { E[r, k] }
Y: f32[5, 31] = compute (r: 5, c: 31) { E[r, c] / S[r] }
return Y
)";

// The default schedule, and some at random.
absl::StatusOr<std::vector<sketch::ScheduleProto>> Schedules(
    const sketch::Workload& workload) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, HostSpec());
  TW_ASSIGN_OR_RETURN(const sketch::Schedule first,
                      sketch::DefaultSchedule(workload, spec));
  std::vector<sketch::ScheduleProto> schedules = {first.ToProto()};
  for (uint64_t seed = 0; seed < 3; ++seed) {
    TW_ASSIGN_OR_RETURN(const sketch::Schedule schedule,
                        sketch::RandomSchedule(workload, seed));
    schedules.push_back(schedule.ToProto());
  }
  return schedules;
}

absl::StatusOr<std::vector<Measurement>> Measure(
    const char* text, const Method& method,
    std::vector<sketch::ScheduleProto> more = {}) {
  TW_ASSIGN_OR_RETURN(const sketch::Workload workload,
                      sketch::ParseWorkload(text));
  TW_ASSIGN_OR_RETURN(std::vector<sketch::ScheduleProto> schedules,
                      Schedules(workload));
  schedules.insert(schedules.end(), more.begin(), more.end());
  measure::ProcessPoolOptions options;
  options.backend = "cpu";
  options.method = method;
  options.wait_for_steady_core = true;
  TW_ASSIGN_OR_RETURN(const auto pool, measure::ProcessPool::Create(options));
  measure::ParallelMeasurerOptions how;
  how.repeats = AdaptiveEvaluatorOptions::Fixed(5);
  measure::ParallelMeasurer measurer(pool.get(), how);
  return measurer.Measure(measure::MakeWorkloadKey(workload), schedules);
}

TEST(CpuWorkerTest, MeasuresCandidatesInThreadTime) {
  for (const char* text : {kGemm, kSoftmax}) {
    TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> measurements,
                            Measure(text, {}));
    EXPECT_EQ(measurements.size(), 4);
    for (const Measurement& one : measurements) {
      EXPECT_EQ(one.outcome(), Measurement::OK) << one.message();
      EXPECT_TRUE(one.verification().verified());
      EXPECT_GT(one.latency().median_ns(), 0);
      EXPECT_EQ(one.method().timer(), Method::THREAD_CPU_TIME);
      EXPECT_EQ(one.method().cache(), Method::WARM);
      EXPECT_GT(one.build_ns(), 0);
    }
  }
}

TEST(CpuWorkerTest, MeasuresColdWallTimeOfTwoThreads) {
  Method method;
  method.set_timer(Method::WALL_CLOCK);
  method.set_cache(Method::COLD);
  method.set_threads(2);
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> measurements,
                          Measure(kGemm, method));
  for (const Measurement& one : measurements) {
    EXPECT_EQ(one.outcome(), Measurement::OK) << one.message();
    EXPECT_EQ(one.method().timer(), Method::WALL_CLOCK);
    EXPECT_EQ(one.method().cache(), Method::COLD);
    EXPECT_EQ(one.method().threads(), 2);
  }
}

TEST(CpuWorkerTest, MeasuresWithFreshConstants) {
  Method method;
  method.set_cache(Method::FRESH_CONSTANTS);
  for (const std::string& text :
       {absl::StrCat(kGemm, "#constant B\n"), std::string(kGemm)}) {
    TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> measurements,
                            Measure(text.c_str(), method));
    for (const Measurement& one : measurements) {
      EXPECT_EQ(one.outcome(), Measurement::OK) << one.message();
      EXPECT_EQ(one.method().cache(), Method::FRESH_CONSTANTS);
    }
  }
}

TEST(CpuWorkerTest, ASchedulesMistakeIsABuildError) {
  sketch::ScheduleProto wrong;
  wrong.add_instructions()->set_primitive("nonsense");
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> measurements,
                          Measure(kSoftmax, {}, {wrong}));
  ASSERT_EQ(measurements.size(), 5);
  EXPECT_EQ(measurements[0].outcome(), Measurement::OK);
  EXPECT_EQ(measurements[4].outcome(), Measurement::BUILD_ERROR);
  EXPECT_EQ(measurements[4].fault(), Measurement::CANDIDATE);
  EXPECT_THAT(measurements[4].message(), HasSubstr("nonsense"));
}

TEST(CpuWorkerTest, CandidatesAreBuiltForTheClassThatIsAskedFor) {
  TW_ASSERT_OK_AND_ASSIGN(const sketch::Workload workload,
                          sketch::ParseWorkload(kGemm));
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<sketch::ScheduleProto> schedules,
                          Schedules(workload));
  measure::ProcessPoolOptions options;
  options.backend = "cpu";
  for (const char* cpu_class : {"x86-64-v2", "x86-64-v9"}) {
    options.backend_options = cpu_class;
    TW_ASSERT_OK_AND_ASSIGN(const auto pool,
                            measure::ProcessPool::Create(options));
    measure::ParallelMeasurerOptions how;
    how.repeats = AdaptiveEvaluatorOptions::Fixed(5);
    measure::ParallelMeasurer measurer(pool.get(), how);
    const absl::StatusOr<std::vector<Measurement>> found =
        measurer.Measure(measure::MakeWorkloadKey(workload), schedules);
    const bool exists = std::string(cpu_class) == "x86-64-v2";
    ASSERT_EQ(found.ok() && (*found)[0].outcome() == Measurement::OK, exists)
        << cpu_class;
  }
}

TEST(CpuWorkerTest, ATimerThatTheDeviceHasNotIsAnError) {
  Method method;
  method.set_timer(Method::PROFILER_ACTIVITY);
  EXPECT_THAT(
      Measure(kSoftmax, method).status(),
      StatusIs(absl::StatusCode::kUnavailable, "cpu has no such timer"));
}

}  // namespace
}  // namespace tilewright::cpu

int main(int argc, char** argv) {
  tilewright::measure::RunWorkerIfAsked(argc, argv,
                                        {tilewright::cpu::CpuWorker()});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
