// Candidates of a GPU through builders and workers, on the fake driver: results
// are real, times are the fake's.
#include "measure/worker/cuda/cuda_worker.h"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/record/workload_key.h"
#include "measure/worker/cuda/fake_cuda_worker.h"
#include "measure/worker/pool/process_pool.h"
#include "measure/worker/run_worker.h"
#include "sketch/rules/generator.h"
#include "sketch/simt/simt_schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::cuda {
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

DeviceSpec Spec() {
  const absl::StatusOr<DeviceSpec> spec = LoadSpec("h100");
  TW_EXPECT_OK(spec);
  return *spec;
}

// In blocks of 8 x `columns` elements.
absl::StatusOr<sketch::ScheduleProto> Schedule(const sketch::Workload& workload,
                                               int64_t columns) {
  sketch::BlockTile tile;
  tile.tile = {8, columns};
  tile.threads = {4, 4};
  tile.step = 8;
  TW_ASSIGN_OR_RETURN(
      const sketch::Schedule schedule,
      sketch::GeneratePreferred(sketch::SimtGenerator(tile), workload, Spec()));
  return schedule.ToProto();
}

struct Measured {
  std::vector<Measurement> results;
  measure::PoolStats stats;
};

absl::StatusOr<Measured> Measure(
    const Method& method, const std::vector<sketch::ScheduleProto>& more = {},
    const std::string& options_text = SpecText(Spec())) {
  TW_ASSIGN_OR_RETURN(const sketch::Workload workload,
                      sketch::ParseWorkload(kGemm));
  std::vector<sketch::ScheduleProto> schedules;
  for (const int64_t columns : {8, 16}) {
    TW_ASSIGN_OR_RETURN(schedules.emplace_back(), Schedule(workload, columns));
  }
  schedules.insert(schedules.end(), more.begin(), more.end());
  measure::ProcessPoolOptions options;
  options.backend = "cuda";
  options.backend_options = options_text;
  options.workers = 1;
  options.method = method;
  TW_ASSIGN_OR_RETURN(const auto pool, measure::ProcessPool::Create(options));
  measure::ParallelMeasurerOptions how;
  how.repeats = AdaptiveEvaluatorOptions::Fixed(5);
  measure::ParallelMeasurer measurer(pool.get(), how);
  Measured measured;
  TW_ASSIGN_OR_RETURN(
      measured.results,
      measurer.Measure(measure::MakeWorkloadKey(workload), schedules));
  measured.stats = pool->stats();
  return measured;
}

TEST(CudaWorkerTest, MeasuresCandidatesByRecords) {
  TW_ASSERT_OK_AND_ASSIGN(const Measured measured, Measure({}));
  ASSERT_EQ(measured.results.size(), 2u);
  for (const Measurement& one : measured.results) {
    EXPECT_EQ(one.outcome(), Measurement::OK) << one.message();
    EXPECT_TRUE(one.verification().verified());
    EXPECT_GT(one.latency().median_ns(), 0);
    EXPECT_EQ(one.method().timer(), Method::PROFILER_ACTIVITY);
    EXPECT_GT(one.build_ns(), 0);
  }
  EXPECT_EQ(measured.stats.worker_restarts, 0);
}

TEST(CudaWorkerTest, MeasuresColdWallTime) {
  Method method;
  method.set_timer(Method::WALL_CLOCK);
  method.set_cache(Method::COLD);
  TW_ASSERT_OK_AND_ASSIGN(const Measured measured, Measure(method));
  for (const Measurement& one : measured.results) {
    EXPECT_EQ(one.outcome(), Measurement::OK) << one.message();
    EXPECT_EQ(one.method().timer(), Method::WALL_CLOCK);
    EXPECT_EQ(one.method().cache(), Method::COLD);
  }
}

std::string LoseARecordFile() {
  return absl::StrCat(std::getenv("TEST_TMPDIR"), "/lose_a_record");
}

// A worker whose clock changed under a candidate is started again, and no value
// of the other clock is kept.
TEST(CudaWorkerTest, ALostRecordStartsTheWorkerAgain) {
  std::ofstream(LoseARecordFile()) << "1";
  TW_ASSERT_OK_AND_ASSIGN(const Measured measured, Measure({}));
  for (const Measurement& one : measured.results) {
    EXPECT_EQ(one.outcome(), Measurement::OK) << one.message();
    EXPECT_EQ(one.method().timer(), Method::PROFILER_ACTIVITY);
  }
  EXPECT_EQ(measured.stats.worker_restarts, 1);
  EXPECT_FALSE(std::ifstream(LoseARecordFile()).good());
}

TEST(CudaWorkerTest, ASchedulesMistakeIsABuildError) {
  sketch::ScheduleProto wrong;
  wrong.add_instructions()->set_primitive("nonsense");
  TW_ASSERT_OK_AND_ASSIGN(const Measured measured, Measure({}, {wrong}));
  EXPECT_EQ(measured.results[0].outcome(), Measurement::OK);
  EXPECT_EQ(measured.results[2].outcome(), Measurement::BUILD_ERROR);
  EXPECT_THAT(measured.results[2].message(), HasSubstr("nonsense"));
}

TEST(CudaWorkerTest, WhatHasNoMeaningOnAGpuIsRefused) {
  Method method;
  method.set_threads(2);
  EXPECT_THAT(Measure(method).status(),
              StatusIs(absl::StatusCode::kUnavailable,
                       "candidates on a GPU have one thread of the host"));
  Method cpu_time;
  cpu_time.set_timer(Method::THREAD_CPU_TIME);
  EXPECT_THAT(Measure(cpu_time).status(),
              StatusIs(absl::StatusCode::kUnavailable, "no such timer"));
  EXPECT_THAT(Measure({}, {}, "no spec").status(),
              StatusIs(absl::StatusCode::kUnavailable,
                       "the options of the backend 'cuda'"));
}

// A kernel that faults leaves an error in the context, and a new process goes
// on.
TEST(CudaWorkerTest, AStickyErrorEndsTheWorkerAndAnotherGoesOn) {
  TW_ASSERT_OK_AND_ASSIGN(const sketch::Workload workload,
                          sketch::ParseWorkload(kGemm));
  TW_ASSERT_OK_AND_ASSIGN(const sketch::ScheduleProto faults,
                          Schedule(workload, 4));
  TW_ASSERT_OK_AND_ASSIGN(const Measured measured, Measure({}, {faults}));
  EXPECT_EQ(measured.results[0].outcome(), Measurement::OK)
      << measured.results[0].message();
  EXPECT_EQ(measured.results[1].outcome(), Measurement::OK)
      << measured.results[1].message();
  EXPECT_EQ(measured.results[2].outcome(), Measurement::RUN_ERROR);
  EXPECT_EQ(measured.results[2].fault(), Measurement::CANDIDATE);
  EXPECT_THAT(measured.results[2].message(),
              HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_GE(measured.stats.worker_restarts, 1);
}

}  // namespace
}  // namespace tilewright::cuda

int main(int argc, char** argv) {
  tilewright::cuda::FakeCudaFaults faults;
  // Workers have the environment of the test.
  const char* const folder = std::getenv("TEST_TMPDIR");
  faults.lose_a_record =
      std::string(folder == nullptr ? "/tmp" : folder) + "/lose_a_record";
  // Of blocks of 8 x 4 elements.
  faults.faulting_blocks = 5 * 12;
  tilewright::measure::RunWorkerIfAsked(
      argc, argv, {tilewright::cuda::FakeCudaWorker(faults)});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
