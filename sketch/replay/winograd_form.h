// A workload whose convolution is computed by Winograd: what the primitive
// `winograd` replaces the workload by, and what generators of such schedules
// look at.
#ifndef TILEWRIGHT_SKETCH_REPLAY_WINOGRAD_FORM_H_
#define TILEWRIGHT_SKETCH_REPLAY_WINOGRAD_FORM_H_

#include <vector>

#include "sketch/trace/workload.h"
#include "tilegraph/rewrite/winograd.h"

namespace tilewright::sketch {

struct WinogradForm {
  // Its filters are a constant without a value (tilegraph/rewrite/winograd.h).
  Workload workload;
  // By its tensors: the tensor of the convolution's own workload that it is; of
  // the filters, the weights that they are made of; -1: the form's alone.
  std::vector<TensorId> originals;
  TensorId filters;
  int m;
};

// REQUIRES: FindWinograd has found `convolution` in the workload, m is one of
// its WinogradTiles, and the workload has no stages.
WinogradForm MakeWinogradForm(const Workload& workload,
                              const WinogradConvolution& convolution, int m);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_REPLAY_WINOGRAD_FORM_H_
