#include "measure/machine/memory_loops.h"

#include <immintrin.h>
#include <sys/mman.h>

#include <cstring>
#include <numeric>

#include "absl/types/span.h"
#include "base/memory_units.h"
#include "base/random.h"

namespace tilewright::measure {
namespace {

constexpr int64_t kHugePageBytes = int64_t{2} << 20;

// Four vectors at a time; what they compile to depends on whom they are inlined
// into.
template <int kVectorBytes>
struct Loops {
  using Vector __attribute__((vector_size(kVectorBytes))) = uint32_t;

  [[gnu::always_inline]] static int Read(char* memory, int64_t bytes) {
    Vector sum[4] = {};
    for (int64_t at = 0; at < bytes; at += 4 * kVectorBytes) {
#pragma clang loop unroll(full)
      for (int i = 0; i < 4; ++i) sum[i] |= In(memory + at)[i];
    }
    const Vector all = (sum[0] | sum[1]) | (sum[2] | sum[3]);
    int parts[kVectorBytes / sizeof(int)], any = 0;
    std::memcpy(parts, &all, sizeof(all));
    for (const int part : parts) any |= part;
    return any;
  }

  [[gnu::always_inline]] static int Write(char* memory, int64_t bytes) {
    const Vector value = Vector{} + 0x01010101;
    for (int64_t at = 0; at < bytes; at += 4 * kVectorBytes) {
#pragma clang loop unroll(full)
      for (int i = 0; i < 4; ++i) In(memory + at)[i] = value;
    }
    return *memory;
  }

  template <bool kStream>
  [[gnu::always_inline]] static int Copy(char* memory, int64_t bytes) {
    char* const to = memory + bytes / 2;
    for (int64_t at = 0; at < bytes / 2; at += 4 * kVectorBytes) {
#pragma clang loop unroll(full)
      for (int i = 0; i < 4; ++i) {
        if (kStream) {
          __builtin_nontemporal_store(In(memory + at)[i], In(to + at) + i);
        } else {
          In(to + at)[i] = In(memory + at)[i];
        }
      }
    }
    if (kStream) _mm_sfence();
    return *to;
  }

  static Vector* In(char* memory) { return reinterpret_cast<Vector*>(memory); }
};

#define TILEWRIGHT_LOOPS(Class, features, vector_bytes)                \
  __attribute__((target(features))) int Read##Class(char* memory,      \
                                                    int64_t bytes) {   \
    return Loops<vector_bytes>::Read(memory, bytes);                   \
  }                                                                    \
  __attribute__((target(features))) int Write##Class(char* memory,     \
                                                     int64_t bytes) {  \
    return Loops<vector_bytes>::Write(memory, bytes);                  \
  }                                                                    \
  __attribute__((target(features))) int Copy##Class(char* memory,      \
                                                    int64_t bytes) {   \
    return Loops<vector_bytes>::Copy<false>(memory, bytes);            \
  }                                                                    \
  __attribute__((target(features))) int Stream##Class(char* memory,    \
                                                      int64_t bytes) { \
    return Loops<vector_bytes>::Copy<true>(memory, bytes);             \
  }
TILEWRIGHT_LOOPS(Avx512, "avx512f", 64)
TILEWRIGHT_LOOPS(Avx2, "avx2", 32)
TILEWRIGHT_LOOPS(Sse2, "sse2", 16)
#undef TILEWRIGHT_LOOPS

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
