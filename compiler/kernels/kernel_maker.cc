#include "compiler/kernels/kernel_maker.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/lowering/tile/lower.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "sketch/fused/fused_schedule.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/simt/simt_schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"

namespace tilewright {
namespace {

// Block tree, tile tier, scalar tier of its schedule.
absl::Status LowerKernel(const backends::Codegen& codegen,
                         CompiledKernel& kernel) {
  TW_ASSIGN_OR_RETURN(
      const sketch::BlockTree tree,
      sketch::Replay(kernel.workload.workload, kernel.schedule));
  TW_ASSIGN_OR_RETURN(kernel.tile, lowering::Lower(tree, "kernel"));
  TW_ASSIGN_OR_RETURN(kernel.scalar, codegen.Legalize(kernel.tile));
  for (const sketch::Buffer& buffer : tree.buffers) {
    if (buffer.level != sketch::MemLevel::kGlobal) continue;
    kernel.arg_tensors.push_back(buffer.tensor);
    kernel.arg_layouts.push_back(buffer.layout);
    kernel.arg_winograd.push_back(buffer.winograd);
  }
  return absl::OkStatus();
}

// As the generator prefers it.
absl::StatusOr<CompiledKernel> MakeKernel(const GroupWorkload& workload,
                                          const sketch::Generator& generator,
                                          const backends::Codegen& codegen) {
  CompiledKernel kernel;
  kernel.workload = workload;
  kernel.generator = generator.name;
  PreferredPolicy preferred;
  Decider decider(preferred);
  TW_ASSIGN_OR_RETURN(
      kernel.schedule,
      sketch::Generate(generator, workload.workload, codegen.spec(), decider));
  kernel.decisions = decider.decisions();
  TW_RETURN_IF_ERROR(LowerKernel(codegen, kernel));
  return kernel;
}

constexpr char kRules[] = "rules";

absl::Status Refusal(const std::string& generator, const absl::Status& why) {
  return absl::Status(why.code(), absl::StrCat(generator, ": ", why.message()));
}

}  // namespace

std::vector<sketch::Generator> GeneratorsOf(const GroupWorkload& group,
                                            const DeviceSpec& spec) {
  if (group.wishes) return {sketch::FusedGenerator(*group.wishes)};
  std::vector<sketch::Generator> generators;
  if (GpuLevelsOf(spec))
    generators.push_back(sketch::SimtGenerator(group.block));
  if (group.is_fused) return generators;
  for (sketch::Generator& alone : sketch::Generators(group.workload))
    generators.push_back(std::move(alone));
  return generators;
}

KernelMaker::Key KernelMaker::KeyOf(const GroupWorkload& group) {
  std::string wishes;
  if (group.wishes) wishes = group.wishes->ToString();
  if (group.block)
    wishes =
        absl::StrCat("[", absl::StrJoin(group.block->tile, ", "), "], ",
                     group.block->ToString(), group.is_fused ? ", fused" : "");
  return {KernelKey(group.workload.Text()), std::move(wishes)};
}

absl::StatusOr<std::optional<CompiledKernel>> KernelMaker::FromSource(
    const GroupWorkload& group, std::vector<absl::Status>& refused) const {
  if (source_ == nullptr) return std::nullopt;
  const sketch::Generator generator =
      GeneratorsOf(group, codegen_.spec()).front();
  TW_ASSIGN_OR_RETURN(
      std::optional<SourcedSchedule> found,
      source_->Find(group.workload, generator, codegen_.spec()));
  if (!found) return std::nullopt;
  CompiledKernel kernel;
  kernel.workload = group;
  kernel.generator = generator.name;
  kernel.schedule = std::move(found->schedule);
  kernel.decisions = std::move(found->decisions);
  kernel.source = std::move(found->source);
  const absl::Status status = LowerKernel(codegen_, kernel);
  if (status.ok()) return kernel;
  refused.push_back(Refusal(kernel.source, status));
  if (found->required) return refused.back();
  return std::nullopt;
}

void KernelMaker::MakeNext(const GroupWorkload& group, Made& made) const {
  if (!made.asked_source) {
    made.asked_source = true;
    absl::StatusOr<std::optional<CompiledKernel>> found =
        FromSource(group, made.refused);
    if (!found.ok()) {
      made.kernel = found.status();
      return;
    }
    if (found->has_value()) {
      made.kernel = **std::move(found);
      made.kernel->refused = made.refused;
      return;
    }
  }
  const std::vector<sketch::Generator> generators =
      GeneratorsOf(group, codegen_.spec());
  while (made.generators < generators.size()) {
    const sketch::Generator& generator = generators[made.generators++];
    absl::Status status = admit_ ? admit_(generator.name) : absl::OkStatus();
    if (status.ok()) {
      made.kernel = MakeKernel(group, generator, codegen_);
      if (made.kernel.ok()) {
        made.kernel->refused = made.refused;
        return;
      }
      status = made.kernel.status();
    }
    made.error.Update(status);
    made.refused.push_back(Refusal(generator.name, status));
  }
  made.kernel = made.error;
}

const absl::StatusOr<CompiledKernel>& KernelMaker::Make(
    const GroupWorkload& workload) {
  Key key = KeyOf(workload);
  std::unique_lock<std::mutex> lock(mutex_);
  Made& made = made_[std::move(key)];
  lock.unlock();
  std::call_once(made.once, [&] { MakeNext(workload, made); });
  return made.kernel;
}

const absl::StatusOr<CompiledKernel>& KernelMaker::MakeAnother(
    const GroupWorkload& workload, const absl::Status& why) {
  TW_CHECK(!why.ok());
  Made& made = made_.at(KeyOf(workload));
  if (!made.kernel.ok()) return made.kernel;
  const CompiledKernel& before = *made.kernel;
  made.refused.push_back(
      Refusal(before.source == kRules ? before.generator : before.source, why));
  made.error.Update(why);
  MakeNext(workload, made);
  return made.kernel;
}

}  // namespace tilewright
