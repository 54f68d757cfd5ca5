// Keeps the times of groups that are known while a plan is made: from a
// PlanCache, and as far as that does not tell, from a PlanProfiler.
//
// The planner never waits for a measurement: it plans by what is known, says
// what it would have liked to know and what is at stake, has the most important
// of that measured, and plans anew. So the plan depends on what is known alone,
// not on when it came to be known, and measuring can end at any time.
#ifndef TILEWRIGHT_TILEGRAPH_FUSE_MEASURED_TIMES_H_
#define TILEWRIGHT_TILEGRAPH_FUSE_MEASURED_TIMES_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/cost/estimate_key.h"
#include "tilegraph/cost/group_cost_model.h"
#include "tilegraph/fuse/plan_cache.h"
#include "tilegraph/fuse/plan_profiler.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// A group in its tiles and the plan that it belongs to.
struct PlannedGroup {
  std::shared_ptr<const Plan> plan;
  Group group;
};

struct MeasuringOptions {
  // Both must outlive the planner. Without a profiler estimates decide; without
  // a cache everything is measured.
  PlanProfiler* profiler = nullptr;
  PlanCache* cache = nullptr;
  // Groups in tiles that a planner has measured in all, equal ones once.
  int most_measured = 650;
  // Groups with less than this share of the model's time at stake are not
  // measured.
  double least_stake = 0.001;
};

class MeasuredTimes {
 public:
  // `model` and `options` must outlive it.
  MeasuredTimes(const GroupCostModel& model, const MeasuringOptions& options,
                GenerateTiles generate);

  bool is_on() const { return options_.profiler != nullptr; }

  // Seconds of one core. NotFound: they are not known; another error: there is
  // no right kernel.
  absl::StatusOr<double> Of(const PlannedGroup& group);
  std::optional<std::vector<double>> Interleaved(
      absl::Span<const PlannedGroup> groups);

  // A decision with so much at stake would need the times of all of these:
  // `parts`, and of the variants of one group as many as can be had. What equal
  // decisions have at stake adds up. False if nothing of it can become known.
  bool Want(absl::Span<const PlannedGroup> parts,
            absl::Span<const PlannedGroup> variants, double stake_seconds);
  void WantInterleaved(absl::Span<const PlannedGroup> groups,
                       double stake_seconds);

  // Has measured what was wanted since it was last called: first what has most
  // at stake, of that down to a quarter. False if nothing could be: what is not
  // known by now stays unknown. `all_core_seconds`: of the whole model.
  bool Measure(double all_core_seconds);

 private:
  using Keys = std::vector<EstimateKey>;
  struct Question {
    std::vector<PlannedGroup> parts, variants;
    bool interleaved = false;
    double stake_seconds = 0;
  };

  Keys KeysOf(absl::Span<const PlannedGroup> groups) const;
  bool Want(Question question, Keys keys);
  // The variants of one group that nobody was asked about.
  void Ask(absl::Span<const PlannedGroup> variants);
  void AskInterleaved(const Keys& keys, absl::Span<const PlannedGroup> groups);

  const GroupCostModel& model_;
  const MeasuringOptions& options_;
  const GenerateTiles generate_;
  std::map<EstimateKey, absl::StatusOr<double>> times_;  // NotFound: unknown
  std::map<Keys, std::optional<std::vector<double>>> interleaved_;
  std::set<Keys> asked_;  // the profiler was, of one or interleaved
  std::map<Keys, Question> questions_;
  int measured_ = 0;
  bool over_ = false;  // the time for measuring
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_FUSE_MEASURED_TIMES_H_
