// Hand-written kernels of the scalar tier, for tests and benchmarks of what the
// code generator makes of them.
#ifndef TILEWRIGHT_BACKENDS_CPU_MICRO_KERNELS_H_
#define TILEWRIGHT_BACKENDS_CPU_MICRO_KERNELS_H_

#include <cstdint>
#include <string>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::cpu {

// C[m, n] = A[m, k] * B[k, n] in f32 for one packed panel: n = vectors * lanes.
// Arguments: A (row-major), B (row-major), C (row-major). Register tiles of
// `rows` rows; B's rows are loaded as vectors, A's elements broadcast.
struct GemmPanel {
  int rows = 8;     // of the register tile; divides m
  int vectors = 3;  // of the register tile
  int lanes = 16;
  int64_t m = 64;
  int64_t k = 128;
  int unroll = 4;  // of the loop over k
  bool fma = true;

  int64_t n() const { return int64_t{vectors} * lanes; }
  int64_t flops() const { return 2 * m * n() * k; }
  std::string name() const;  // "gemm_8x3"
};
kernel_ir::ScalarKernel MakeGemmPanel(const GemmPanel& panel);

// `accumulators` independent chains of multiply-adds in registers: the peak.
// Arguments: an input of 3 * lanes f32, an output of lanes f32.
struct PeakLoop {
  int accumulators = 24;
  int lanes = 16;
  int64_t iterations = 10000;

  int64_t flops() const { return 2 * iterations * accumulators * lanes; }
};
kernel_ir::ScalarKernel MakePeakLoop(const PeakLoop& loop);

// Reads (and sums) `elements` f32 `passes` times: the bandwidth of the level
// they fit. Arguments: an input of `elements`, an output of lanes f32.
struct ReadLoop {
  int64_t elements = 0;  // a multiple of 8 * lanes
  int lanes = 16;
  int64_t passes = 1;

  int64_t bytes() const { return 4 * elements * passes; }
};
kernel_ir::ScalarKernel MakeReadLoop(const ReadLoop& loop);

// `tasks` tasks that store one element each: the cost of a launch.
kernel_ir::ScalarKernel MakeEmptyTasks(int64_t tasks);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_MICRO_KERNELS_H_
