// Measurements of a batch, handed on one by one as they become final.
#ifndef TILEWRIGHT_MEASURE_PARALLEL_RESULT_LIST_H_
#define TILEWRIGHT_MEASURE_PARALLEL_RESULT_LIST_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"

namespace tilewright::measure {

class ResultList {
 public:
  // `options` must outlive it.
  ResultList(size_t size, const MeasureOptions& options)
      : options_(options), results_(size), is_final_(size) {}

  // To be changed until it is final.
  Measurement& at(int index) { return results_[static_cast<size_t>(index)]; }
  bool is_final(int index) const {
    return is_final_[static_cast<size_t>(index)];
  }
  // Calls on_result. REQUIRES: not final.
  void Finish(int index);

  // All of them, once `measured` is what measuring came to. Cancelled is no
  // error: what is not final was not measured, which is final too. REQUIRES:
  // all are final if it is OK. Nothing is left here.
  absl::StatusOr<std::vector<Measurement>> Take(const absl::Status& measured);

 private:
  const MeasureOptions& options_;
  std::vector<Measurement> results_;
  std::vector<bool> is_final_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PARALLEL_RESULT_LIST_H_
