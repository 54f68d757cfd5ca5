#include "measure/peak/memory_peak.h"

#include <immintrin.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace tilewright::measure {
namespace {

constexpr int64_t kPageBytes = 4096;
constexpr int64_t kHugePageBytes = int64_t{2} << 20;
// Between two looks at the clock: tens of microseconds.
constexpr int64_t kBytesPerLook = 1 << 20;

// Passes once over `bytes` of memory, a multiple of 2 * 256; a copy goes from
// the first half to the second. The result keeps the loop alive.
using Pass = int (*)(char* memory, int64_t bytes);

__attribute__((target("avx512f"))) int ReadAvx512(char* memory, int64_t bytes) {
  __m512i sum[4] = {};
  for (int64_t at = 0; at < bytes; at += 256) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; ++i)
      sum[i] = _mm512_or_si512(sum[i], _mm512_load_si512(memory + at + 64 * i));
  }
  return _mm512_reduce_or_epi32(_mm512_or_si512(
      _mm512_or_si512(sum[0], sum[1]), _mm512_or_si512(sum[2], sum[3])));
}

__attribute__((target("avx512f"))) int CopyAvx512(char* memory, int64_t bytes) {
  char* const to = memory + bytes / 2;
  for (int64_t at = 0; at < bytes / 2; at += 256) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 256; i += 64)
      _mm512_store_si512(to + at + i, _mm512_load_si512(memory + at + i));
  }
  return *to;
}

int Memcpy(char* memory, int64_t bytes) {
  std::memcpy(memory + bytes / 2, memory, static_cast<size_t>(bytes / 2));
  return memory[bytes / 2];
}

__attribute__((target("avx512f"))) int StreamAvx512(char* memory,
                                                    int64_t bytes) {
  char* const to = memory + bytes / 2;
  for (int64_t at = 0; at < bytes / 2; at += 256) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 256; i += 64)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at + i),
                          _mm512_load_si512(memory + at + i));
  }
  _mm_sfence();
  return *to;
}

__m128i* Vector(char* at) { return reinterpret_cast<__m128i*>(at); }

int ReadSse2(char* memory, int64_t bytes) {
  __m128i sum[4] = {};
  for (int64_t at = 0; at < bytes; at += 64) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; ++i)
      sum[i] =
          _mm_or_si128(sum[i], _mm_load_si128(Vector(memory + at + 16 * i)));
  }
  return _mm_cvtsi128_si32(
      _mm_or_si128(_mm_or_si128(sum[0], sum[1]), _mm_or_si128(sum[2], sum[3])));
}

int CopySse2(char* memory, int64_t bytes) {
  char* const to = memory + bytes / 2;
  for (int64_t at = 0; at < bytes / 2; at += 64) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 64; i += 16)
      _mm_store_si128(Vector(to + at + i),
                      _mm_load_si128(Vector(memory + at + i)));
  }
  return *to;
}

int StreamSse2(char* memory, int64_t bytes) {
  char* const to = memory + bytes / 2;
  for (int64_t at = 0; at < bytes / 2; at += 64) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 64; i += 16)
      _mm_stream_si128(Vector(to + at + i),
                       _mm_load_si128(Vector(memory + at + i)));
  }
  _mm_sfence();
  return *to;
}

double Seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

// GB/s of `pass` repeated on every thread's part at once.
double Measure(Pass pass, char* memory, int64_t part_bytes, int threads,
               double seconds) {
  const clockid_t clock =
      threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  const int64_t passes_per_look =
      std::max<int64_t>(1, kBytesPerLook / part_bytes);
  std::atomic<int> ready{0};
  std::atomic<bool> stop{false};
  std::atomic<int64_t> looks{0};
  volatile int sink = 0;
  const auto work = [&](int thread) {
    char* const part = memory + thread * part_bytes;
    sink = pass(part, part_bytes);  // warm
    ++ready;
    while (ready < threads) {  // all start together
    }
    const double start = Seconds(clock);
    int64_t done = 0;
    do {
      for (int64_t i = 0; i < passes_per_look; ++i)
        sink = pass(part, part_bytes);
      ++done;
      if (thread == 0 && Seconds(clock) - start >= seconds) stop = true;
    } while (!stop);
    looks += done;
    return Seconds(clock) - start;
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
  double elapsed = work(0);
  const double joining = Seconds(CLOCK_MONOTONIC);
  for (std::thread& other : others) other.join();
  // Others finish the look they are in.
  if (threads > 1) elapsed += Seconds(CLOCK_MONOTONIC) - joining;
  return static_cast<double>(looks * passes_per_look * part_bytes) / elapsed *
         1e-9;
}

}  // namespace

MemoryPeak::MemoryPeak(int threads, int64_t working_set_bytes)
    : threads_(threads),
      part_bytes_(
          std::max<int64_t>(
              1, (working_set_bytes / threads + kPageBytes - 1) / kPageBytes) *
          kPageBytes) {
  const int64_t bytes = (part_bytes_ * threads + kHugePageBytes - 1) /
                        kHugePageBytes * kHugePageBytes;
  memory_ = static_cast<char*>(std::aligned_alloc(kHugePageBytes, bytes));
  if (memory_ == nullptr) std::abort();  // as every other allocation does
  madvise(memory_, bytes, MADV_HUGEPAGE);
  std::memset(memory_, 1, bytes);
}

MemoryPeak::~MemoryPeak() { std::free(memory_); }

double MemoryPeak::Sample(double seconds) {
  const bool wide = __builtin_cpu_supports("avx512f");
  double best = 0;
  for (const Pass pass :
       {wide ? ReadAvx512 : ReadSse2, wide ? CopyAvx512 : CopySse2,
        wide ? StreamAvx512 : StreamSse2}) {
    best = std::max(best,
                    Measure(pass, memory_, part_bytes_, threads_, seconds / 3));
  }
  best_gbytes_per_s_ = std::max(best_gbytes_per_s_, best);
  return best;
}

double MemoryPeak::SampleMemcpy(double seconds) {
  return Measure(Memcpy, memory_, part_bytes_, threads_, seconds);
}

}  // namespace tilewright::measure
