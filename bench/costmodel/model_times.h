// How long cost models take to learn and to predict.
#ifndef TILEWRIGHT_BENCH_COSTMODEL_MODEL_TIMES_H_
#define TILEWRIGHT_BENCH_COSTMODEL_MODEL_TIMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "costmodel/cost_model.h"

namespace tilewright::bench {

struct ModelTimes {
  std::string model;
  double fit_ms = 0, predict_ms = 0;  // CPU time of one thread, the least of 3
};

// Times of every model, with one thread and a made-up score: what they learn is
// not the question here.
absl::StatusOr<std::vector<ModelTimes>> TimeModels(
    const costmodel::CandidateFeatures& candidates);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_COSTMODEL_MODEL_TIMES_H_
