// The search for one task: a method proposes candidates, they are measured, a
// cost model learns, and so on, until a budget is spent or nothing is left.
//
//   Tuner tuner({space, method, &model, 0, measurer, key}, options);
//   absl::StatusOr<TunedTask> tuned = tuner.Run();
//
// The first batch holds the rules' candidate and what was added as a seed. With
// equal measurements, equal seeds propose equal candidates; with a
// RecordedMeasurer an interrupted run goes on where it was.
#ifndef TILEWRIGHT_SEARCH_TUNER_H_
#define TILEWRIGHT_SEARCH_TUNER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "base/random.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"
#include "search/candidate.h"
#include "search/method.h"
#include "search/score_model.h"
#include "search/space.h"

namespace tilewright::search {

struct TunerOptions {
  int trials = 200;
  int batch = 64;
  double seconds = std::numeric_limits<double>::infinity();  // of wall time
  // Trials in a row without a faster candidate that end the search; 0: none do.
  int patience = 0;
  // Candidates that compute other bits than the rules' candidate count as
  // failed (verifier.h, `bits`).
  bool keep_bits = false;
  uint64_t seed = 0;
  Clock* clock = RealClock();
  const Cancellation* cancellation = nullptr;
};

// Candidates that failed, by how.
struct Failure {
  int count = 0;
  std::string first;  // message
};
using Failures = std::map<measure::Measurement::Outcome, Failure>;

// After a batch, and of all so far.
struct TunerReport {
  int trials = 0;  // measured candidates, failed ones among them
  int failed = 0;
  double best_ns = std::numeric_limits<double>::infinity();
  // The rules' candidate's; infinity if there is none, or it failed.
  double rules_ns = std::numeric_limits<double>::infinity();
  double search_s = 0, measure_s = 0;  // wall time
};

class Tuner {
 public:
  // All must outlive it. Without a model the method knows no scores.
  struct Parts {
    TaskSpace& space;
    Method& method;
    ScoreModel* model;
    int task;  // among those that the model learns from
    measure::Measurer& measurer;
    measure::WorkloadKey workload;
  };
  Tuner(Parts parts, const TunerOptions& options);

  // To be measured first, and where populations begin. One that is there
  // already is not added.
  void AddSeed(Candidate candidate);
  // A candidate known from elsewhere: the model learns from it, and methods see
  // it, but it is no trial, and it is not measured again.
  void AddKnown(Candidate candidate, double ns);

  // Proposes and measures one batch, of `most_trials` at most. An error is the
  // measurer's, the method's or the model's; what was measured until then
  // counts.
  absl::Status Round(int most_trials = std::numeric_limits<int>::max());
  // Why there is no further round; "" if there is one: "200 trials", ...
  const std::string& ended() const { return ended_; }
  // Rounds until there are no more, or `after_round` returns an error. Without
  // a candidate that works FailedPrecondition says what went wrong with most.
  absl::Status Run(const std::function<absl::Status()>& after_round = nullptr);

  // In the order in which they were measured, with what was known before them.
  const std::vector<Trial>& trials() const { return trials_; }
  // The fastest; null if none works.
  const Trial* best() const { return best_ ? &trials_[*best_] : nullptr; }
  // The rules' own; null if there is none.
  const Trial* rules() const;
  const Failures& failures() const { return failures_; }
  TunerReport report() const;
  // FailedPrecondition as Run has it; OK if a candidate works.
  absl::Status Outcome() const;

 private:
  absl::StatusOr<std::vector<Candidate>> Propose(int count);
  // A failure instead of a success that does not keep the rules' bits.
  measure::Measurement WithBits(const Candidate& candidate,
                                measure::Measurement measurement);
  void Learn(Candidate candidate, const measure::Measurement& found);
  void AddTrial(Candidate candidate, double ns);
  void EndIfSpent();

  const Parts parts_;
  const TunerOptions options_;
  Random random_;
  std::vector<Candidate> seeds_;
  std::optional<Fingerprint> rules_;  // trace
  std::string rules_bits_;
  Traces visited_;
  std::vector<Trial> trials_;
  std::optional<size_t> best_;
  Failures failures_;
  TunerReport report_;
  int last_gain_ = 0;  // trials when the best was found
  std::optional<int64_t> began_ns_;
  std::string ended_;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_TUNER_H_
