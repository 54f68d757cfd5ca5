// The table at the end of a comparison of several models.
#ifndef TILEWRIGHT_BENCH_COMPARE_SUMMARY_H_
#define TILEWRIGHT_BENCH_COMPARE_SUMMARY_H_

#include <string>
#include <vector>

namespace tilewright::bench {

struct SummaryRow {
  std::string model;
  int threads = 1;
  double own_ms = 0;
  double peer_ms = 0;  // 0: not measured
  enum class Verdict {
    kNotVerified,
    kOk,
    kTooLarge
  } verdict = Verdict::kNotVerified;

  double speed() const { return peer_ms / own_ms; }  // 1: as fast as the peer
};

// One line a row, in Markdown; then, for each thread count, the geometric mean
// of the speeds and the lowest. Empty if no row has a peer.
std::string SummaryText(const std::vector<SummaryRow>& rows);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_COMPARE_SUMMARY_H_
