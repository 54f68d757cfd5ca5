#include "tilegraph/fuse/fusion_decision.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tilewright {
namespace {

std::string Percent(double share) {
  return absl::StrFormat("%.0f %%", 100 * share);
}

std::string Kib(double bytes) {
  return absl::StrFormat("%.0f KiB", bytes / 1024);
}

// "12 KiB less".
std::string LessOrMore(double bytes) {
  return absl::StrCat(Kib(std::abs(bytes)), bytes < 0 ? " more" : " less");
}

// "0.412 ms measured, 0.450 apart".
std::string Times(const FusionDecision& decision) {
  return absl::StrFormat(
      "%.3f ms measured on one core%s, %.3f apart",
      1e3 * (*decision.fused_one_core_seconds + decision.left_one_core_seconds),
      decision.interleaved ? " interleaved" : "",
      1e3 * *decision.unfused_one_core_seconds);
}

}  // namespace

std::string WhyNotByEstimate(const FusionDecision& decision) {
  const GroupCost& fused = decision.fused;
  if (!fused.covers) return "tiles of what others read too would overlap";
  if (!fused.fits)
    return absl::StrCat("the smallest tiles keep ",
                        Kib(static_cast<double>(fused.scratch_bytes)),
                        " between stages, more than a core's cache holds");
  const double ratio = (fused.core_seconds + decision.left_core_seconds) /
                       decision.unfused_core_seconds;
  std::string why =
      ratio > 1 ? absl::StrCat("would take ", Percent(ratio - 1), " longer")
                : absl::StrCat("would save only ", Percent(1 - ratio));
  absl::StrAppend(&why, " in tiles of ", fused.plan.ToString());
  const double more = FarBytes(fused) - decision.unfused_bytes;
  if (fused.recompute > 1.02)
    absl::StrAppend(&why, ", computes ",
                    absl::StrFormat("%.2f", fused.recompute), " times as much");
  absl::StrAppend(&why, ", moves ", LessOrMore(-more),
                  more > 0 ? ": what stays apart is read once" : "");
  return why;
}

std::string WhyNotOnOneCore(const GroupCost& fused, double share) {
  return absl::StrCat("would take ", Percent(share),
                      " of the time on one core in tiles of ",
                      fused.plan.ToString());
}

std::string EstimatedGain(const FusionDecision& decision) {
  return absl::StrCat(
      "in tiles of ", decision.fused.plan.ToString(), ": saves ",
      Percent(decision.saved_core_seconds / decision.unfused_core_seconds),
      ", moves ",
      LessOrMore(decision.unfused_bytes - FarBytes(decision.fused)));
}

std::string OutcomeByTime(const FusionDecision& decision) {
  const std::string tiles =
      absl::StrCat("in tiles of ", decision.fused.plan.ToString());
  if (decision.taken)
    return absl::StrCat(
        tiles, ": ", Times(decision), ", moves ",
        LessOrMore(decision.unfused_bytes - FarBytes(decision.fused)));
  const double ratio =
      (*decision.fused_one_core_seconds + decision.left_one_core_seconds) /
      *decision.unfused_one_core_seconds;
  return absl::StrCat(
      ratio > 1 ? absl::StrCat("takes ", Percent(ratio - 1), " longer ")
                : absl::StrCat("saves only ", Percent(1 - ratio), " "),
      tiles, ": ", Times(decision));
}

}  // namespace tilewright
