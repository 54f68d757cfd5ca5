#include "compiler/kernel_maker.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/lowering/lower.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "sketch/default_schedule.h"
#include "sketch/replay.h"
#include "sketch/staged_schedule.h"

namespace tilewright {
namespace {

std::vector<sketch::Generator> GeneratorsOf(const GroupWorkload& group) {
  if (!group.wishes) return sketch::Generators(group.workload);
  return {sketch::FusedGenerator(*group.wishes)};
}

// Schedule, block tree, tile tier, scalar tier.
absl::StatusOr<CompiledKernel> MakeKernel(const GroupWorkload& workload,
                                          const sketch::Generator& generator,
                                          const backends::Codegen& codegen) {
  CompiledKernel kernel;
  kernel.workload = workload;
  kernel.generator = generator.name;
  TW_ASSIGN_OR_RETURN(
      kernel.schedule,
      sketch::GeneratePreferred(generator, workload.workload, codegen.spec()));
  TW_ASSIGN_OR_RETURN(
      const sketch::BlockTree tree,
      sketch::Replay(kernel.workload.workload, kernel.schedule));
  TW_ASSIGN_OR_RETURN(kernel.tile, lowering::Lower(tree, "kernel"));
  TW_ASSIGN_OR_RETURN(kernel.scalar, codegen.Legalize(kernel.tile));
  for (const sketch::Buffer& buffer : tree.buffers) {
    if (buffer.level != sketch::MemLevel::kGlobal) continue;
    kernel.arg_tensors.push_back(buffer.tensor);
    kernel.arg_layouts.push_back(buffer.layout);
  }
  return kernel;
}

std::string Refusal(const std::string& generator, const absl::Status& why) {
  return absl::StrCat(generator, ": ", why.message());
}

}  // namespace

std::string KernelMaker::Key(const GroupWorkload& group) {
  const std::string key = group.workload.Text();
  return group.wishes ? absl::StrCat(key, group.wishes->ToString()) : key;
}

// Those of the first `refused.size()` generators are refused already; `error`
// is the first of them.
absl::StatusOr<CompiledKernel> KernelMaker::FromGenerators(
    const GroupWorkload& group, std::vector<std::string> refused,
    absl::Status error) const {
  const std::vector<sketch::Generator> generators = GeneratorsOf(group);
  while (refused.size() < generators.size()) {
    const sketch::Generator& generator = generators[refused.size()];
    absl::Status status = admit_ ? admit_(generator.name) : absl::OkStatus();
    if (status.ok()) {
      absl::StatusOr<CompiledKernel> kernel =
          MakeKernel(group, generator, codegen_);
      if (kernel.ok()) {
        kernel->refused = std::move(refused);
        return kernel;
      }
      status = kernel.status();
    }
    error.Update(status);
    refused.push_back(Refusal(generator.name, status));
  }
  return error;
}

const absl::StatusOr<CompiledKernel>& KernelMaker::Make(
    const GroupWorkload& workload) {
  const std::string key = Key(workload);
  const auto known = made_.find(key);
  if (known != made_.end()) return known->second;
  return made_.emplace(key, FromGenerators(workload, {}, absl::OkStatus()))
      .first->second;
}

const absl::StatusOr<CompiledKernel>& KernelMaker::MakeAnother(
    const GroupWorkload& workload, const absl::Status& why) {
  TW_CHECK(!why.ok());
  absl::StatusOr<CompiledKernel>& made = made_.at(Key(workload));
  if (!made.ok()) return made;
  std::vector<std::string> refused = made->refused;
  refused.push_back(Refusal(made->generator, why));
  made = FromGenerators(workload, std::move(refused), why);
  return made;
}

}  // namespace tilewright
