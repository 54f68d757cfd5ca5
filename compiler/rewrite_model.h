// Rewrites of a model's graph that depend on the device and on what the user
// allows: contractions with operands in bf16
// (tilegraph/rewrite/bf16_contractions.h); concatenations as parts of each
// other (nest_concatenations.h); for CPUs sums of groups of channels
// (channel_sums.h), convolutions of 3x3 marked for Winograd where that is
// faster (winograd.h), plain copies of outputs and data (plain_copies.h);
// for GPUs sums in phases and slices (split_phases.h, split_terms.h).
#ifndef TILEWRIGHT_COMPILER_REWRITE_MODEL_H_
#define TILEWRIGHT_COMPILER_REWRITE_MODEL_H_

#include <string>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "frontends/onnx/import_model.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// The name of --allow= for F(4, 3), whose errors are two to three times those
// of the direct form.
inline constexpr char kAllowWinograd4[] = "winograd4";
// Operands of contractions rounded to bf16, where the device multiplies those.
inline constexpr char kAllowBf16[] = "bf16";

// Whether the device has the products that kAllowBf16 is for, and is known for
// no higher rate without them: Emerald Rapids multiplies f32 twice as fast.
bool MultipliesBf16(const DeviceSpec& spec);

// The model to plan. Its inputs and outputs are those of `model`.
ImportedModel RewriteModel(const ImportedModel& model, const DeviceSpec& spec,
                           const PlanOptions& plan,
                           const std::vector<std::string>& allow);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_REWRITE_MODEL_H_
