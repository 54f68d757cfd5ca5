// How long a candidate may go without progress while others are measured.
#ifndef TILEWRIGHT_MEASURE_PARALLEL_ADAPTIVE_TIMEOUT_H_
#define TILEWRIGHT_MEASURE_PARALLEL_ADAPTIVE_TIMEOUT_H_

namespace tilewright::measure {

struct AdaptiveTimeoutOptions {
  enum class Curve : unsigned char {
    kPaper,      // equation 2
    kPublished,  // as DOPpler's published code does it; takes no options
  };

  Curve curve = Curve::kPaper;
  int shortest_s = 4;   // eta
  int longest_s = 20;   // iota
  double slope = 0.03;  // phi
};

// In seconds. DOPpler, equation 2, for a degree of parallelism d_p on each of G
// devices:
//
//   floor(max(eta, min(iota, 2 iota tanh(phi d_p G / 2))))
//
// The published code: floor(9.1 tanh(0.06 (c - 20.25)) + 10.9) + 1 with
// c = ceil(G / 2) d_p. REQUIRES: degree and devices are positive.
int AdaptiveTimeoutSeconds(int degree, int devices = 1,
                           const AdaptiveTimeoutOptions& options = {});

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PARALLEL_ADAPTIVE_TIMEOUT_H_
