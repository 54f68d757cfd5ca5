#include "measure/machine/peak_loops.h"

#include <immintrin.h>

#include <cstdint>

namespace tilewright::measure {
namespace {

constexpr int kAccumulators = 14;
constexpr int64_t kSteps = 20000;

// A batch of kSteps times kAccumulators steps. `first` makes an accumulator of
// a number, `step` adds a product of the operands x and y, `add` adds two
// accumulators, `value` takes a float from one.
#define TILEWRIGHT_BATCH(name, features, Vector, first, x_value, y_value,   \
                         step, add, value)                                  \
  __attribute__((target(features))) float name() {                          \
    Vector acc[kAccumulators];                                              \
    for (int i = 0; i < kAccumulators; ++i) acc[i] = first;                 \
    const auto x = x_value, y = y_value;                                    \
    for (int64_t s = 0; s < kSteps; ++s) {                                  \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < kAccumulators; \
                                              ++i) acc[i] = step;           \
    }                                                                       \
    for (int i = 1; i < kAccumulators; ++i) acc[0] = add(acc[0], acc[i]);   \
    return static_cast<float>(value(acc[0]));                               \
  }

TILEWRIGHT_BATCH(F32Avx512, "avx512f", __m512,
                 _mm512_set1_ps(static_cast<float>(i)), _mm512_set1_ps(0.999f),
                 _mm512_set1_ps(0.001f), _mm512_fmadd_ps(acc[i], x, y),
                 _mm512_add_ps, _mm512_reduce_add_ps)
TILEWRIGHT_BATCH(F32Avx2, "avx2,fma", __m256,
                 _mm256_set1_ps(static_cast<float>(i)), _mm256_set1_ps(0.999f),
                 _mm256_set1_ps(0.001f), _mm256_fmadd_ps(acc[i], x, y),
                 _mm256_add_ps, _mm256_cvtss_f32)
TILEWRIGHT_BATCH(F32Sse2, "sse2", __m128, _mm_set1_ps(static_cast<float>(i)),
                 _mm_set1_ps(0.999f), _mm_set1_ps(0.001f),
                 _mm_add_ps(_mm_mul_ps(acc[i], x), y), _mm_add_ps,
                 _mm_cvtss_f32)
TILEWRIGHT_BATCH(F64Avx512, "avx512f", __m512d,
                 _mm512_set1_pd(static_cast<double>(i)), _mm512_set1_pd(0.999),
                 _mm512_set1_pd(0.001), _mm512_fmadd_pd(acc[i], x, y),
                 _mm512_add_pd, _mm512_reduce_add_pd)
TILEWRIGHT_BATCH(F64Avx2, "avx2,fma", __m256d,
                 _mm256_set1_pd(static_cast<double>(i)), _mm256_set1_pd(0.999),
                 _mm256_set1_pd(0.001), _mm256_fmadd_pd(acc[i], x, y),
                 _mm256_add_pd, _mm256_cvtsd_f64)
TILEWRIGHT_BATCH(F64Sse2, "sse2", __m128d, _mm_set1_pd(static_cast<double>(i)),
                 _mm_set1_pd(0.999), _mm_set1_pd(0.001),
                 _mm_add_pd(_mm_mul_pd(acc[i], x), y), _mm_add_pd,
                 _mm_cvtsd_f64)
// Pairs of bf16 into f32; quadruples of bytes into int32.
TILEWRIGHT_BATCH(Bf16Avx512, "avx512f,avx512bf16", __m512,
                 _mm512_set1_ps(static_cast<float>(i)),
                 reinterpret_cast<__m512bh>(_mm512_set1_epi16(0x3c00)),
                 reinterpret_cast<__m512bh>(_mm512_set1_epi16(0x3c01)),
                 _mm512_dpbf16_ps(acc[i], x, y), _mm512_add_ps,
                 _mm512_reduce_add_ps)
TILEWRIGHT_BATCH(I8Avx512, "avx512f,avx512vnni", __m512i, _mm512_set1_epi32(i),
                 _mm512_set1_epi8(3), _mm512_set1_epi8(1),
                 _mm512_dpbusd_epi32(acc[i], x, y), _mm512_add_epi32,
                 _mm512_reduce_add_epi32)
#undef TILEWRIGHT_BATCH

PeakLoop Loop(const char* dtype, const char* instructions, float (*batch)(),
              double ops_per_step) {
  return {dtype, instructions, batch, ops_per_step * kAccumulators * kSteps};
}

}  // namespace

std::vector<PeakLoop> PeakLoops(int most_vector_bytes) {
  const bool avx512 =
      most_vector_bytes >= 64 && __builtin_cpu_supports("avx512f");
  const bool avx2 = most_vector_bytes >= 32 && __builtin_cpu_supports("avx2") &&
                    __builtin_cpu_supports("fma");
  std::vector<PeakLoop> loops;
  if (avx512) {
    loops = {Loop("f32", "AVX-512", F32Avx512, 32),
             Loop("f64", "AVX-512", F64Avx512, 16)};
  } else if (avx2) {
    loops = {Loop("f32", "AVX2", F32Avx2, 16), Loop("f64", "AVX2", F64Avx2, 8)};
  } else {
    loops = {Loop("f32", "SSE2 (no FMA)", F32Sse2, 8),
             Loop("f64", "SSE2 (no FMA)", F64Sse2, 4)};
  }
  if (avx512 && __builtin_cpu_supports("avx512bf16")) {
    loops.push_back(Loop("bf16", "AVX512-BF16", Bf16Avx512, 64));
  }
  if (avx512 && __builtin_cpu_supports("avx512vnni")) {
    loops.push_back(Loop("i8", "AVX512-VNNI", I8Avx512, 128));
  }
  return loops;
}

}  // namespace tilewright::measure
