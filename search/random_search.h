// Random search: every value of every decision equally often.
#ifndef TILEWRIGHT_SEARCH_RANDOM_SEARCH_H_
#define TILEWRIGHT_SEARCH_RANDOM_SEARCH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "search/candidate.h"
#include "search/method.h"

namespace tilewright::search {

class RandomSearch : public Method {
 public:
  absl::StatusOr<std::vector<Candidate>> Propose(
      int count, const SearchState& state) override;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_RANDOM_SEARCH_H_
