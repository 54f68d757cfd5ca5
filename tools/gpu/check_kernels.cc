#include "tools/gpu/check_kernels.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace tilewright::cuda {
namespace {

using Inputs = std::vector<std::vector<float>>;

constexpr int kThreads = 256;

std::string SizeText(double bytes) {
  if (bytes < 1 << 20) return absl::StrFormat("%.0f KiB", bytes / 1024);
  return absl::StrFormat("%.0f MiB", bytes / (1 << 20));
}

// --- Copies: a block copies a contiguous chunk, a vector of floats a thread
// and step. The number of elements is a multiple of the chunk.

struct CopyRow {
  int64_t elements;
  int width;  // floats a load: 1, 2, 4
  int steps;  // loads a thread
};
constexpr CopyRow kCopies[] = {
    {1 << 10, 1, 1}, {1 << 12, 4, 1}, {1 << 14, 1, 4}, {1 << 14, 4, 1},
    {1 << 16, 2, 1}, {1 << 16, 4, 4}, {1 << 18, 1, 4}, {1 << 18, 4, 1},
    {1 << 20, 1, 1}, {1 << 20, 2, 4}, {1 << 20, 4, 4}, {1 << 22, 1, 4},
    {1 << 22, 4, 1}, {1 << 24, 1, 1}, {1 << 24, 4, 4}, {1 << 25, 2, 1},
    {1 << 26, 4, 1}, {1 << 26, 4, 4}};

constexpr char kCopyText[] = R"(
extern "C" __global__ void __launch_bounds__(256)
NAME(const VECTOR* __restrict__ in, VECTOR* __restrict__ out) {
  const long long first = (long long)blockIdx.x * (256 * STEPS) + threadIdx.x;
#pragma unroll
  for (int step = 0; step < STEPS; ++step)
    out[first + step * 256] = in[first + step * 256];
}
)";

std::string CopyName(const CopyRow& row) {
  return absl::StrCat("copy_", row.elements, "_w", row.width, "_s", row.steps);
}

CheckKernel Copy(const CopyRow& row) {
  CheckKernel kernel;
  kernel.name = CopyName(row);
  kernel.family = "copy";
  kernel.size = absl::StrCat(SizeText(4.0 * row.elements), ", ", 4 * row.width,
                             " bytes a load, ", row.steps, " a thread");
  kernel.num_tasks = row.elements / (int64_t{kThreads} * row.width * row.steps);
  kernel.elements = {row.elements, row.elements};
  kernel.bytes = 8.0 * static_cast<double>(row.elements);
  kernel.expected = [](const Inputs& inputs, int64_t index) {
    return double{inputs[0][static_cast<size_t>(index)]};
  };
  return kernel;
}

// --- Reductions: a block sums a row: each thread every 256th element, then the
// warps, then the block in shared memory.

struct ReduceRow {
  int64_t rows, columns;
};
constexpr ReduceRow kReductions[] = {
    {1, 1 << 12},    {16, 100},       {64, 1000},      {128, 1 << 10},
    {256, 768},      {512, 333},      {1 << 10, 1024}, {1 << 10, 4096},
    {1 << 12, 64},   {1 << 12, 1000}, {1 << 12, 4096}, {1 << 14, 256},
    {1 << 14, 1024}, {1 << 15, 2048}, {1 << 16, 128},  {1 << 16, 1024}};

constexpr char kReduceText[] = R"(
extern "C" __global__ void __launch_bounds__(256)
NAME(const float* __restrict__ in, float* __restrict__ out) {
  extern __shared__ float warps[];
  const float* row = in + (long long)blockIdx.x * COLUMNS;
  float sum = 0.f;
  for (int i = threadIdx.x; i < COLUMNS; i += 256) sum += row[i];
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes >>= 1)
    sum += __shfl_down_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < 8; ++warp) sum += warps[warp];
    out[blockIdx.x] = sum;
  }
}
)";

std::string ReduceName(const ReduceRow& row) {
  return absl::StrCat("reduce_", row.rows, "x", row.columns);
}

CheckKernel Reduction(const ReduceRow& row) {
  CheckKernel kernel;
  kernel.name = ReduceName(row);
  kernel.family = "reduce";
  kernel.size = absl::StrCat(row.rows, " rows of ", row.columns);
  kernel.num_tasks = row.rows;
  kernel.scratch_bytes = 8 * sizeof(float);
  kernel.elements = {row.rows * row.columns, row.rows};
  kernel.flops = static_cast<double>(row.rows * row.columns);
  kernel.bytes = 4.0 * static_cast<double>(row.rows * row.columns + row.rows);
  kernel.expected = [columns = row.columns](const Inputs& inputs,
                                            int64_t index) {
    double sum = 0;
    for (int64_t i = 0; i < columns; ++i) {
      sum += inputs[0][static_cast<size_t>(index * columns + i)];
    }
    return sum;
  };
  // Inputs lie in [-1, 1]; sums of partial sums in f32.
  kernel.tolerance =
      6e-8 * static_cast<double>(row.columns) * (row.columns / 256.0 + 16);
  return kernel;
}

// --- Products C[m, n] = A[m, k] B[k, n]: a block makes a tile x tile part of
// C, 256 threads each a square part of that, from slices of A and B in shared
// memory.

struct GemmRow {
  int64_t m, n, k;
  int tile;   // 32, 64, 128
  int slice;  // of k
};
constexpr GemmRow kProducts[] = {
    {64, 64, 64, 32, 16},        {128, 128, 128, 32, 32},
    {128, 128, 1024, 64, 16},    {256, 256, 256, 64, 8},
    {256, 1024, 64, 64, 16},     {512, 512, 512, 32, 16},
    {512, 512, 512, 64, 16},     {512, 512, 512, 128, 8},
    {1024, 1024, 128, 128, 8},   {1024, 1024, 1024, 64, 16},
    {1024, 1024, 1024, 128, 8},  {1024, 1024, 1024, 128, 16},
    {2048, 2048, 512, 128, 8},   {2048, 2048, 2048, 64, 8},
    {2048, 2048, 2048, 128, 16}, {4096, 4096, 1024, 128, 8}};

constexpr char kGemmText[] = R"(
extern "C" __global__ void __launch_bounds__(256)
NAME(const float* __restrict__ a, const float* __restrict__ b,
     float* __restrict__ c) {
  extern __shared__ float shared[];
  float* sa = shared;                // SLICE x TILE, A transposed
  float* sb = shared + SLICE * TILE;  // SLICE x TILE
  const int per = TILE / 16;
  const int across = N / TILE;
  const int row0 = (blockIdx.x / across) * TILE;
  const int col0 = (blockIdx.x % across) * TILE;
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  float sum[TILE / 16][TILE / 16];
#pragma unroll
  for (int i = 0; i < per; ++i)
#pragma unroll
    for (int j = 0; j < per; ++j) sum[i][j] = 0.f;
  for (int k0 = 0; k0 < K; k0 += SLICE) {
    for (int at = threadIdx.x; at < TILE * SLICE; at += 256) {
      const int row = at / SLICE, k = at % SLICE;
      sa[k * TILE + row] = a[(long long)(row0 + row) * K + k0 + k];
      const int kb = at / TILE, col = at % TILE;
      sb[at] = b[(long long)(k0 + kb) * N + col0 + col];
    }
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < SLICE; ++k) {
      float left[TILE / 16], right[TILE / 16];
#pragma unroll
      for (int i = 0; i < per; ++i) {
        left[i] = sa[k * TILE + ty + 16 * i];
        right[i] = sb[k * TILE + tx + 16 * i];
      }
#pragma unroll
      for (int i = 0; i < per; ++i)
#pragma unroll
        for (int j = 0; j < per; ++j)
          sum[i][j] = fmaf(left[i], right[j], sum[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < per; ++i)
#pragma unroll
    for (int j = 0; j < per; ++j)
      c[(long long)(row0 + ty + 16 * i) * N + col0 + tx + 16 * j] = sum[i][j];
}
)";

std::string GemmName(const GemmRow& row) {
  return absl::StrCat("gemm_", row.m, "x", row.n, "x", row.k, "_t", row.tile,
                      "_k", row.slice);
}

CheckKernel Gemm(const GemmRow& row) {
  CheckKernel kernel;
  kernel.name = GemmName(row);
  kernel.family = "gemm";
  kernel.size = absl::StrCat(row.m, " x ", row.n, " x ", row.k, ", tile ",
                             row.tile, ", slice ", row.slice);
  kernel.num_tasks = row.m / row.tile * (row.n / row.tile);
  kernel.scratch_bytes = int64_t{2} * row.tile * row.slice * 4;
  kernel.elements = {row.m * row.k, row.k * row.n, row.m * row.n};
  kernel.flops = 2.0 * static_cast<double>(row.m * row.n * row.k);
  kernel.bytes =
      4.0 * static_cast<double>(row.m * row.k + row.k * row.n + row.m * row.n);
  kernel.expected = [n = row.n, k = row.k](const Inputs& inputs,
                                           int64_t index) {
    const int64_t i = index / n, j = index % n;
    double sum = 0;
    for (int64_t at = 0; at < k; ++at) {
      sum += double{inputs[0][static_cast<size_t>(i * k + at)]} *
             double{inputs[1][static_cast<size_t>(at * n + j)]};
    }
    return sum;
  };
  // k roundings of partial sums of at most k.
  kernel.tolerance =
      6e-8 * static_cast<double>(row.k) * std::sqrt(static_cast<double>(row.k));
  return kernel;
}

}  // namespace

std::vector<CheckKernel> CheckKernels() {
  std::vector<CheckKernel> kernels;
  for (const CopyRow& row : kCopies) kernels.push_back(Copy(row));
  for (const ReduceRow& row : kReductions) kernels.push_back(Reduction(row));
  for (const GemmRow& row : kProducts) kernels.push_back(Gemm(row));
  return kernels;
}

std::string CheckKernelsText() {
  std::string text;
  for (const CopyRow& row : kCopies) {
    text += absl::StrReplaceAll(
        kCopyText,
        {{"NAME", CopyName(row)},
         {"VECTOR", row.width == 1 ? std::string("float")
                                   : absl::StrCat("float", row.width)},
         {"STEPS", absl::StrCat(row.steps)}});
  }
  for (const ReduceRow& row : kReductions) {
    text += absl::StrReplaceAll(
        kReduceText,
        {{"NAME", ReduceName(row)}, {"COLUMNS", absl::StrCat(row.columns)}});
  }
  for (const GemmRow& row : kProducts) {
    // Whole words: the text has no other capitals.
    text += absl::StrReplaceAll(kGemmText,
                                {{"NAME", GemmName(row)},
                                 {"TILE", absl::StrCat(row.tile)},
                                 {"SLICE", absl::StrCat(row.slice)},
                                 {" N ", absl::StrCat(" ", row.n, " ")},
                                 {"* N + ", absl::StrCat("* ", row.n, " + ")},
                                 {"= N /", absl::StrCat("= ", row.n, " /")},
                                 {"* K + ", absl::StrCat("* ", row.k, " + ")},
                                 {"< K;", absl::StrCat("< ", row.k, ";")}});
  }
  return text;
}

}  // namespace tilewright::cuda
