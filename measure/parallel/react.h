// How many candidates are measured at the same time: DOPpler's REACT policy
// (section 4.3, equations 6 and 7), after TCP's binary increase congestion
// control (Xu et al., 2004).
#ifndef TILEWRIGHT_MEASURE_PARALLEL_REACT_H_
#define TILEWRIGHT_MEASURE_PARALLEL_REACT_H_

namespace tilewright::measure {

struct ReactOptions {
  int initial_degree = 1;
  int initial_max = 64;  // alpha
  int max_degree = 64;   // never more: the workers there are
  double beta = 0.2;
  int gamma_min = 2;
  int gamma_max = 12;
  double tau = 0.05;
  // Equation 6 with the mean delta in place of beta where it is larger. Of d_p
  // candidates that are slowed down so that 1 - delta is left, d_p (1 - delta)
  // would have had the device for themselves: no rounds on the way down to
  // them.
  bool decrease_by_delta = false;
  // Algorithm 2 to the letter: lines 15 and 16 follow a decrease as well. Else
  // a round that decreases does not also increase, as in DOPpler's published
  // code.
  bool increase_after_decrease = false;
  // 0: every good round increases, as in the paper. Otherwise, when an increase
  // was followed by a decrease, as many good rounds pass before the next
  // increase; twice as many each time that it fails again, and none any more
  // once one was good. For programs that fill the device, where every attempt
  // costs repetitions and gains nothing.
  int backoff_rounds = 0;

  // The constants of DOPpler's published code: gamma_max 7, alpha 128.
  static ReactOptions AsPublished();
};

// Per tuning task: what is too much for one program is nothing for another.
class React {
 public:
  // REQUIRES: 1 <= initial_degree <= max_degree, initial_max and gamma_min
  // positive.
  explicit React(const ReactOptions& options);

  // d_p: candidates to measure at the same time in the next round.
  int degree() const { return degree_; }
  // A: the degree up to which it has not been too much yet.
  int adaptive_max() const { return adaptive_max_; }

  // After a round at degree(): with `mean_delta` the mean relative difference
  // between parallel measurements and those repeated alone (equation 4), and
  // `failures` candidates that failed in parallel and succeeded alone.
  //
  //   if mean_delta > tau, or failures > tau d_p:           (decrease)
  //     A   <- floor(d_p (2 - beta) / 2) if d_p < A, else d_p
  //     d_p <- floor(d_p (1 - beta))
  //   otherwise, or with increase_after_decrease in any case: (increase)
  //     gamma <- (A - d_p) / 2 if d_p < A, else d_p - A; into [gamma_min,
  //              gamma_max]
  //     d_p <- floor(d_p + gamma)
  //
  // and d_p stays within [1, max_degree]. Rounding down makes sure that a
  // decrease decreases. A keeps its value between rounds: algorithm 2 sets it
  // to alpha in each (line 11), which section 4.3 ("initialized by") does not.
  // A mean_delta of NaN (nothing could be repeated) counts as too large.
  void Update(double mean_delta, int failures);

 private:
  void Decrease(double beta);
  void Increase();

  ReactOptions options_;
  int degree_;
  int adaptive_max_;
  bool raised_ = false;     // by the last update
  int backoff_length_ = 0;  // of the current back-off
  int rounds_to_wait_ = 0;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PARALLEL_REACT_H_
