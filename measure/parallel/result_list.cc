#include "measure/parallel/result_list.h"

#include <utility>

#include "base/check.h"

namespace tilewright::measure {

void ResultList::Finish(int index) {
  TW_CHECK(!is_final(index)) << "candidate " << index << " has its result";
  is_final_[static_cast<size_t>(index)] = true;
  if (options_.on_result) options_.on_result(index, at(index));
}

absl::StatusOr<std::vector<Measurement>> ResultList::Take(
    const absl::Status& measured) {
  if (!measured.ok() && !absl::IsCancelled(measured)) return measured;
  for (int i = 0; i < static_cast<int>(results_.size()); ++i) {
    if (is_final(i)) continue;
    TW_CHECK(!measured.ok()) << "candidate " << i << " has no result";
    at(i) = Measurement();
    at(i).set_outcome(Measurement::NOT_MEASURED);
    at(i).set_message("measuring was cancelled");
    Finish(i);
  }
  return std::move(results_);
}

}  // namespace tilewright::measure
