// The search space of a task: the schedules that generators write for one
// workload on one device. A method of search asks for candidates here, and
// never sees a generator.
//
//   TaskSpace space(workload, {generator}, spec, ReplayedStoreFeatures());
//   Random random(seed);
//   absl::StatusOr<Candidate> rule = space.Preferred();
//   absl::StatusOr<Candidate> mutant = space.Mutate(*rule, random);
//
// Equal calls with equal generators of random numbers give equal candidates.
#ifndef TILEWRIGHT_SEARCH_SPACE_H_
#define TILEWRIGHT_SEARCH_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "base/random.h"
#include "costmodel/feature_matrix.h"
#include "search/candidate.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/table.h"

namespace tilewright::search {

// The features of a schedule for a cost model; an error refuses it, because it
// cannot be built.
using Features = std::function<absl::StatusOr<costmodel::FeatureMatrix>(
    const sketch::Workload&, const sketch::Schedule&)>;

// How often mutation takes an entry, in proportion to the others; 0: never.
using Weigh = std::function<double(const Decision&)>;
// By the logarithm of the number of its values. (Ansor's mutations are of tile
// sizes in 90 of 100 cases, its spaces with most values by far.)
double WeighBySize(const Decision& decision);

struct SpaceOptions {
  // Whether what nothing else answers is what the generators prefer, and not
  // random: false to search without rules.
  bool use_rules = true;
  Weigh weigh = WeighBySize;
  // Which decisions are searched, by name; the others are the rules'. Null: all
  // are.
  std::function<bool(const std::string&)> is_searched;
  // Generators before this one have their preferred candidate alone, to compare
  // with: they are neither drawn nor changed.
  size_t first_searched = 0;
  // Runs in a row that may fail to give a new candidate before a search for one
  // is given up.
  int most_vain_runs = 100;
};

// Not thread-safe.
class TaskSpace {
 public:
  // REQUIRES: there is a generator that is searched.
  TaskSpace(sketch::Workload workload,
            std::vector<sketch::Generator> generators, DeviceSpec spec,
            Features features, SpaceOptions options = {});

  const sketch::Workload& workload() const { return workload_; }
  size_t generators() const { return generators_.size(); }
  bool uses_rules() const { return options_.use_rules; }

  // One run of a generator. An error is its refusal, or that of the features,
  // and is counted.
  absl::StatusOr<Candidate> Run(size_t generator, DecisionPolicy& policy);

  // The candidate that the first generator prefers, also without rules.
  absl::StatusOr<Candidate> Preferred();
  // NotFound if there is no generator of that name.
  absl::StatusOr<Candidate> FromAnswers(const std::string& generator,
                                        const Answers& answers);
  // Any generator's, with any answers.
  absl::StatusOr<Candidate> Draw(Random& random);
  // One entry, drawn by weight, takes another value: mostly one that is near
  // (tilegraph/decision/table.h). The others keep theirs, or take the nearest
  // there is. FailedPrecondition if no entry has another value.
  absl::StatusOr<Candidate> Mutate(const Candidate& parent, Random& random);
  // One entry, each as often as any other, takes any other value of its space.
  // FailedPrecondition as above.
  absl::StatusOr<Candidate> Redraw(const Candidate& parent, Random& random);
  // Each entry from one of both, by name. REQUIRES: of one generator.
  absl::StatusOr<Candidate> Cross(const Candidate& a, const Candidate& b,
                                  Random& random);

  // `count` candidates with traces of their own that are not among `excluded`;
  // fewer if `make` fails to give a new one too often in a row.
  std::vector<Candidate> Collect(
      int count, const Traces& excluded,
      const std::function<absl::StatusOr<Candidate>()>& make) const;
  std::vector<Candidate> DrawNew(int count, const Traces& excluded,
                                 Random& random);

  // Runs of generators so far, those refused, and kept values that were outside
  // of a space and became its nearest.
  int64_t runs() const { return runs_; }
  int64_t refused() const { return refused_; }
  int64_t rounded() const { return rounded_; }
  struct Refusal {
    int64_t count = 0;
    std::string first;  // whole message of the first one
  };
  // By reason, in which numbers are '#'.
  const std::map<std::string, Refusal>& refusals() const { return refusals_; }
  // "12 of 40 runs were refused: 10 as '...', 2 as ...", or "".
  std::string RefusalText() const;

 private:
  absl::StatusOr<Candidate> RunWith(size_t generator, const Answers& answers,
                                    uint64_t seed);
  absl::Status Refuse(const sketch::Generator& generator,
                      const absl::Status& why);
  // Whether a search may change this decision of a candidate.
  bool IsOpen(const Candidate& parent, const Decision& entry) const;

  const sketch::Workload workload_;
  const std::vector<sketch::Generator> generators_;
  const DeviceSpec spec_;
  const Features features_;
  const SpaceOptions options_;
  int64_t runs_ = 0, refused_ = 0, rounded_ = 0;
  std::map<std::string, Refusal> refusals_;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_SPACE_H_
