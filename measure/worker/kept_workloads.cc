#include "measure/worker/kept_workloads.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/random.h"
#include "base/status_macros.h"
#include "measure/inputs/input_sets.h"
#include "tilegraph/analysis/known_zeros.h"

namespace tilewright::measure {

int64_t KeptWorkload::size_bytes() const {
  int64_t bytes = packed.size_bytes();
  for (const auto& [id, input] : inputs) bytes += input.size_bytes();
  return bytes + (verifier == nullptr ? 0 : verifier->size_bytes());
}

absl::StatusOr<KeptWorkload*> KeptWorkloads::Get(const std::string& text) {
  const auto found =
      std::find_if(workloads_.begin(), workloads_.end(),
                   [&](const KeptWorkload& kept) { return kept.text == text; });
  if (found != workloads_.end()) {
    workloads_.splice(workloads_.begin(), workloads_, found);
    return &workloads_.front();
  }
  TW_ASSIGN_OR_RETURN(sketch::Workload workload, sketch::ParseWorkload(text));
  Random random(input_seed_);
  KeptWorkload& kept = workloads_.emplace_front();
  kept.text = text;
  InputSet inputs = DrawRealSet(workload.graph, random);
  FillKnownZeros(workload.zeros, inputs);
  kept.inputs = Hide(inputs);
  kept.workload = std::move(workload);
  Shrink();
  return &kept;
}

void KeptWorkloads::Shrink() {
  int64_t bytes = 0;
  for (auto it = workloads_.begin(); it != workloads_.end();) {
    const int64_t with_it = bytes + it->size_bytes();
    if (with_it > most_bytes_ && it != workloads_.begin()) {
      it = workloads_.erase(it);
    } else {
      bytes = with_it;
      ++it;
    }
  }
}

}  // namespace tilewright::measure
