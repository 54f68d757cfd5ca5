// Models whose tensors exceed the memory of the device: whole tensors lie on
// the host, computes run in bands, and copies of the launch plan move what a
// band takes and gives (design: planning.md, "--level-cap").
#ifndef TILEWRIGHT_COMPILER_CAP_MEMORY_H_
#define TILEWRIGHT_COMPILER_CAP_MEMORY_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "frontends/onnx/import_model.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/rewrite/bands/box_copy.h"

namespace tilewright {

struct CapOptions {
  // Bytes of the arena, constants not counted; 0: no cap.
  int64_t arena_bytes = 0;
  // Every operator moves its operands in and its result out, for comparison.
  bool operator_by_operator = false;
};

// `model` in bands (tilegraph/rewrite/bands/choose_bands.h). Errors as of
// ChooseBands.
absl::StatusOr<ImportedModel> CapMemory(const ImportedModel& model,
                                        const CapOptions& options);

// A group that only moves data between host and device.
struct BandMove {
  TensorId to, from;
  BoxCopy copy;  // in elements of their buffers
};
// nullopt if it computes something. Unimplemented if the layouts make it more
// than a copy.
absl::StatusOr<std::optional<BandMove>> FindBandMove(const TensorGraph& graph,
                                                     const Plan& plan,
                                                     const Group& group);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_CAP_MEMORY_H_
