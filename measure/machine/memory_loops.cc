#include "measure/machine/memory_loops.h"

#include <immintrin.h>
#include <sys/mman.h>

#include <cstring>
#include <numeric>

#include "absl/types/span.h"
#include "base/random.h"

namespace tilewright::measure {
namespace {

constexpr int64_t kLineBytes = 64;
constexpr int64_t kHugePageBytes = int64_t{2} << 20;

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

__attribute__((target("avx512f"))) int WriteAvx512(char* memory,
                                                   int64_t bytes) {
  const __m512i value = _mm512_set1_epi8(1);
  for (int64_t at = 0; at < bytes; at += 256) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 256; i += 64)
      _mm512_store_si512(memory + at + i, value);
  }
  return *memory;
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

__m256i* Wide(char* at) { return reinterpret_cast<__m256i*>(at); }

__attribute__((target("avx2"))) int ReadAvx2(char* memory, int64_t bytes) {
  __m256i sum[4] = {};
  for (int64_t at = 0; at < bytes; at += 128) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; ++i)
      sum[i] = _mm256_or_si256(sum[i],
                               _mm256_load_si256(Wide(memory + at + 32 * i)));
  }
  const __m256i all = _mm256_or_si256(_mm256_or_si256(sum[0], sum[1]),
                                      _mm256_or_si256(sum[2], sum[3]));
  return _mm256_movemask_epi8(all);
}

__attribute__((target("avx2"))) int WriteAvx2(char* memory, int64_t bytes) {
  const __m256i value = _mm256_set1_epi8(1);
  for (int64_t at = 0; at < bytes; at += 128) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 128; i += 32)
      _mm256_store_si256(Wide(memory + at + i), value);
  }
  return *memory;
}

__attribute__((target("avx2"))) int CopyAvx2(char* memory, int64_t bytes) {
  char* const to = memory + bytes / 2;
  for (int64_t at = 0; at < bytes / 2; at += 128) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 128; i += 32)
      _mm256_store_si256(Wide(to + at + i),
                         _mm256_load_si256(Wide(memory + at + i)));
  }
  return *to;
}

__attribute__((target("avx2"))) int StreamAvx2(char* memory, int64_t bytes) {
  char* const to = memory + bytes / 2;
  for (int64_t at = 0; at < bytes / 2; at += 128) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 128; i += 32)
      _mm256_stream_si256(Wide(to + at + i),
                          _mm256_load_si256(Wide(memory + at + i)));
  }
  _mm_sfence();
  return *to;
}

__m128i* Narrow(char* at) { return reinterpret_cast<__m128i*>(at); }

int ReadSse2(char* memory, int64_t bytes) {
  __m128i sum[4] = {};
  for (int64_t at = 0; at < bytes; at += 64) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; ++i)
      sum[i] =
          _mm_or_si128(sum[i], _mm_load_si128(Narrow(memory + at + 16 * i)));
  }
  return _mm_cvtsi128_si32(
      _mm_or_si128(_mm_or_si128(sum[0], sum[1]), _mm_or_si128(sum[2], sum[3])));
}

int WriteSse2(char* memory, int64_t bytes) {
  const __m128i value = _mm_set1_epi8(1);
  for (int64_t at = 0; at < bytes; at += 64) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 64; i += 16)
      _mm_store_si128(Narrow(memory + at + i), value);
  }
  return *memory;
}

int CopySse2(char* memory, int64_t bytes) {
  char* const to = memory + bytes / 2;
  for (int64_t at = 0; at < bytes / 2; at += 64) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 64; i += 16)
      _mm_store_si128(Narrow(to + at + i),
                      _mm_load_si128(Narrow(memory + at + i)));
  }
  return *to;
}

int StreamSse2(char* memory, int64_t bytes) {
  char* const to = memory + bytes / 2;
  for (int64_t at = 0; at < bytes / 2; at += 64) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 64; i += 16)
      _mm_stream_si128(Narrow(to + at + i),
                       _mm_load_si128(Narrow(memory + at + i)));
  }
  _mm_sfence();
  return *to;
}

}  // namespace

std::vector<MemoryLoops> AllMemoryLoops() {
  std::vector<MemoryLoops> loops;
  if (__builtin_cpu_supports("avx512f")) {
    loops.push_back(
        {"AVX-512", ReadAvx512, WriteAvx512, CopyAvx512, StreamAvx512});
  }
  if (__builtin_cpu_supports("avx2")) {
    loops.push_back({"AVX2", ReadAvx2, WriteAvx2, CopyAvx2, StreamAvx2});
  }
  loops.push_back({"SSE2", ReadSse2, WriteSse2, CopySse2, StreamSse2});
  return loops;
}

std::unique_ptr<char, FreeMemory> AllocateTouched(int64_t bytes) {
  const int64_t rounded =
      (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  auto* const memory = static_cast<char*>(
      std::aligned_alloc(kHugePageBytes, static_cast<size_t>(rounded)));
  if (memory == nullptr) std::abort();  // as every other allocation does
  madvise(memory, static_cast<size_t>(rounded), MADV_HUGEPAGE);
  std::memset(memory, 1, static_cast<size_t>(rounded));
  return std::unique_ptr<char, FreeMemory>(memory);
}

void PrepareChase(char* memory, int64_t bytes, uint64_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(bytes / kLineBytes));
  std::iota(order.begin(), order.end(), 0);
  Random random(seed);
  random.Shuffle(absl::MakeSpan(order));
  for (size_t i = 0; i < order.size(); ++i) {
    const char* const next =
        memory + order[(i + 1) % order.size()] * kLineBytes;
    std::memcpy(memory + order[i] * kLineBytes, &next, sizeof(next));
  }
}

const char* Chase(const char* at, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) {
    at = *reinterpret_cast<const char* const volatile*>(at);
  }
  return at;
}

}  // namespace tilewright::measure
