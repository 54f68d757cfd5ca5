// The throughput that each family of kernels should reach, so that a table
// shows which one does not.
#ifndef TILEWRIGHT_BENCH_KERNELS_TARGETS_H_
#define TILEWRIGHT_BENCH_KERNELS_TARGETS_H_

#include <cstdint>
#include <string>

#include "bench/kernels/cases.h"

namespace tilewright::bench {

// Shares of limits of the same run; 0: not measured.
struct Shares {
  double peak = 0;       // of multiply-adds in registers
  double roofline = 0;   // of max(operations / peak, bytes / bandwidth)
  double memcpy = 0;     // of copying as many bytes
  double ort_speed = 0;  // ONNX Runtime's time over ours
};

enum class Verdict { kNone, kMet, kMissed };

// `cache_bytes`: of the outermost cache; movers are verified beyond it only.
Verdict CompareToTarget(const Case& one, const Shares& shares,
                        int64_t cache_bytes);
// "at least 90 % of the peak", for the head of a family's table; empty if none.
std::string TargetText(const std::string& family);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_KERNELS_TARGETS_H_
