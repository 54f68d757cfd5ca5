// The fallbacks of Compile where a kernel cannot be made or emitted: a kernel
// to one of another generator, a fused group to its parts. Each fallback is
// told in the compiled model.
#ifndef TILEWRIGHT_COMPILER_COMPILE_FALLBACKS_H_
#define TILEWRIGHT_COMPILER_COMPILE_FALLBACKS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "compiler/compile.h"
#include "compiler/kernels/kernel_maker.h"
#include "runtime/format/program.pb.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// "conv1 relu1": the model's tensors that a group computes.
std::string Label(const TensorGraph& graph, const Group& group);

// The module of all kernels. One that the backend does not emit is made by
// another generator, and replaced in `kernels`.
absl::StatusOr<backends::Module> EmitOrMakeAnother(
    const backends::Codegen& codegen, KernelMaker& maker,
    std::vector<CompiledKernel>& kernels);

// Groups that would be fused, had they a kernel together, by their output.
using UnfusedGroups = std::map<TensorId, UnfusedGroup>;

UnfusedGroup Unfused(const TensorGraph& graph, const Group& group,
                     const absl::Status& why);
// Takes fused groups apart that the backend does not emit. False if there is
// none.
bool UnfuseFailures(const backends::Codegen& codegen, KernelMaker& maker,
                    UnfusedGroups& unfused, CompiledModel& compiled);
// Lists those that are not fused after all.
void ReportUnfused(const UnfusedGroups& unfused, CompiledModel& compiled);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_COMPILE_FALLBACKS_H_
