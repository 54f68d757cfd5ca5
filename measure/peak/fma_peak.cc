#include "measure/peak/fma_peak.h"

#include <immintrin.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tilewright::measure {
namespace {

constexpr int kAccumulators = 14;
constexpr int64_t kSteps =
    20000;  // between two looks at the clock: tens of microseconds

// One batch of kSteps · kAccumulators vector multiply-adds; the result keeps
// the loop alive.
using Batch = float (*)();

__attribute__((target("avx512f"))) float BatchAvx512() {
  __m512 acc[kAccumulators];
  for (int i = 0; i < kAccumulators; ++i)
    acc[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(0.001f);
  for (int64_t step = 0; step < kSteps; ++step) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kAccumulators; ++i)
      acc[i] = _mm512_fmadd_ps(acc[i], x, y);
  }
  for (int i = 1; i < kAccumulators; ++i)
    acc[0] = _mm512_add_ps(acc[0], acc[i]);
  return _mm512_reduce_add_ps(acc[0]);
}

__attribute__((target("avx2,fma"))) float BatchAvx2() {
  __m256 acc[kAccumulators];
  for (int i = 0; i < kAccumulators; ++i)
    acc[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
  for (int64_t step = 0; step < kSteps; ++step) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kAccumulators; ++i)
      acc[i] = _mm256_fmadd_ps(acc[i], x, y);
  }
  for (int i = 1; i < kAccumulators; ++i)
    acc[0] = _mm256_add_ps(acc[0], acc[i]);
  return _mm256_cvtss_f32(acc[0]);
}

float BatchSse2() {
  __m128 acc[kAccumulators];
  for (int i = 0; i < kAccumulators; ++i)
    acc[i] = _mm_set1_ps(static_cast<float>(i));
  const __m128 x = _mm_set1_ps(0.999f), y = _mm_set1_ps(0.001f);
  for (int64_t step = 0; step < kSteps; ++step) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kAccumulators; ++i)
      acc[i] = _mm_add_ps(_mm_mul_ps(acc[i], x), y);
  }
  for (int i = 1; i < kAccumulators; ++i) acc[0] = _mm_add_ps(acc[0], acc[i]);
  return _mm_cvtss_f32(acc[0]);
}

struct Loop {
  Batch batch;
  int lanes;
  const char* name;
};

Loop WidestLoop() {
  if (__builtin_cpu_supports("avx512f")) return {BatchAvx512, 16, "AVX-512"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {BatchAvx2, 8, "AVX2"};
  return {BatchSse2, 4, "SSE2 (no FMA)"};
}

double Seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double FmaPeak::Sample(double seconds) {
  const Loop loop = WidestLoop();
  const clockid_t clock =
      threads_ == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  std::atomic<int64_t> batches{0};
  std::atomic<int> ready{0};
  std::atomic<bool> stop{false};
  volatile float sink = 0;
  const auto work = [&] {
    ++ready;
    while (ready < threads_) {  // all start together
    }
    int64_t done = 0;
    for (; !stop; ++done) sink = loop.batch();
    batches += done;
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads_; ++t) others.emplace_back(work);
  ++ready;
  while (ready < threads_) {
  }
  const double start = Seconds(clock);
  double elapsed = 0;
  int64_t own = 0;
  for (; elapsed < seconds; ++own) {
    sink = loop.batch();
    elapsed = Seconds(clock) - start;
  }
  stop = true;
  for (std::thread& other : others) other.join();
  // Batches that others finished after the clock was read are few: one each.
  const double flops = 2.0 * loop.lanes * kAccumulators * kSteps *
                       static_cast<double>(batches + own);
  const double gflops =
      flops / (threads_ == 1 ? elapsed : Seconds(clock) - start) * 1e-9;
  best_gflops_ = std::max(best_gflops_, gflops);
  return gflops;
}

double FmaPeak::Best(int samples) {
  for (int i = 0; i < samples; ++i) Sample();
  return best_gflops_;
}

std::string FmaPeakInstructions() { return WidestLoop().name; }

}  // namespace tilewright::measure
