// Wrong versions of a compiled model, to test that the verifier of whole models
// would notice: after each launch one of its outputs is set to zero, or its
// channels are moved on by one.
#ifndef TILEWRIGHT_BENCH_MUTATE_MODEL_MUTANTS_H_
#define TILEWRIGHT_BENCH_MUTATE_MODEL_MUTANTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/model/own_model.h"
#include "bench/ort/ort_session.h"

namespace tilewright::bench {

enum class Harm { kNone, kZero, kRotateChannels };
const char* Name(Harm harm);  // "zeroed", ...

struct ModelMutant {
  int step = 0;
  std::string label;  // the tensors the launch computes, of several outputs
                      // also which one is harmed
  Harm harm = Harm::kNone;
  double error = 0;       // e of the mutant
  bool rejected = false;  // error above the limit
  // Why not being rejected is right; empty if it is not.
  std::string excuse;
};

// Runs the model once for every output of a launch and harm. Channels are
// dimension 1 or the last one, so both are rotated where there are three or
// more, else the last one: pixels alone may move without a trace where nothing
// but a mean over them follows. A harm that
// changes no element (a tensor of one channel, say) is excused. `model` must be
// bound to inputs.
absl::StatusOr<std::vector<ModelMutant>> VerifyMutants(
    OwnModel& model, const std::vector<OrtTensor>& references,
    double error_limit);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MUTATE_MODEL_MUTANTS_H_
