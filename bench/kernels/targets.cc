#include "bench/kernels/targets.h"

#include <variant>

namespace tilewright::bench {
namespace {

constexpr double kSmallGemm = 0.88, kLargeGemm = 0.82;
constexpr double kConv = 0.90, kStridedConv = 0.75;
constexpr double kDepthwiseRoofline = 0.60, kDepthwiseSpeed = 2;
constexpr double kMover = 0.80;

Verdict AtLeast(double share, double target) {
  return share >= target ? Verdict::kMet : Verdict::kMissed;
}

// Square, and of at most 1024: what stays in cache.
bool IsSmall(const Gemm& g) { return g.m == g.n && g.m == g.k && g.m <= 1024; }

}  // namespace

Verdict CompareToTarget(const Case& one, const Shares& shares,
                        int64_t cache_bytes) {
  if (const Gemm* gemm = std::get_if<Gemm>(&one.op))
    return AtLeast(shares.peak, IsSmall(*gemm) ? kSmallGemm : kLargeGemm);
  if (one.family == "depthwise") {
    return shares.roofline >= kDepthwiseRoofline ||
                   shares.ort_speed >= kDepthwiseSpeed
               ? Verdict::kMet
               : Verdict::kMissed;
  }
  if (const Conv* conv = std::get_if<Conv>(&one.op))
    return AtLeast(shares.peak, conv->stride > 1 ? kStridedConv : kConv);
  if (CompulsoryBytes(one.op) > static_cast<double>(cache_bytes))
    return AtLeast(shares.memcpy, kMover);
  return Verdict::kNone;
}

std::string TargetText(const std::string& family) {
  if (family == "gemm")
    return "88 % of the peak for squares up to 1024, 82 % beyond";
  if (family == "conv") return "90 % of the peak, 75 % with a stride";
  if (family == "depthwise")
    return "60 % of its roofline or twice the speed of ONNX Runtime";
  return "80 % of memcpy at sizes beyond the cache";
}

}  // namespace tilewright::bench
