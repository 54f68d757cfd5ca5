// The results of other runs: where the search for a task begins, and what its
// cost model learns from first.
#ifndef TILEWRIGHT_SEARCH_PRIOR_RECORDS_H_
#define TILEWRIGHT_SEARCH_PRIOR_RECORDS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "search/method.h"
#include "search/score_model.h"
#include "search/space.h"

namespace tilewright::search {

struct PriorRecords {
  // Each candidate once, with the least of its times, infinity if it failed
  // once; in the order in which the store has them.
  std::vector<Trial> trials;
  // Records whose decisions no longer give their trace: neither parents nor
  // training data.
  int stale = 0;
};

// The records of this workload that agree with `header`: device, versions, and
// timer, cache and threads of its measurement's method. Records of the header's
// own seed are left out: a RecordedMeasurer answers with them. Times count that
// nobody verified, too, unless another record says that the candidate fails:
// parents and training data need no more. Errors are the store's.
absl::StatusOr<PriorRecords> ReadPriorRecords(
    measure::Store& store, const measure::WorkloadKey& workload,
    const measure::Record& header, TaskSpace& space);

// Has `model` learn from what was measured of other workloads than these, each
// as a task of its own from number `first_task` on: its features mean the same
// in all of them, so that what is fast elsewhere says what to try first here
// (Chen et al., "Learning to Optimize Tensor Programs", section 4). The latest
// `most` records at the most that agree with `header` as above; those whose
// schedules do not replay any more are passed over. Returns how many there
// were. Errors are the store's.
absl::StatusOr<int> LearnFromOtherTasks(measure::Store& store,
                                        const std::set<std::string>& workloads,
                                        const measure::Record& header,
                                        const Features& features, int most,
                                        int first_task, ScoreModel& model);

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_PRIOR_RECORDS_H_
