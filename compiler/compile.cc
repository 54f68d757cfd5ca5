#include "compiler/compile.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/allocation.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "compiler/compile_fallbacks.h"
#include "compiler/connect_gpu.h"
#include "compiler/element_types.h"
#include "compiler/kernels/kernel_maker.h"
#include "compiler/kernels/version.h"
#include "compiler/launch_plan.h"
#include "compiler/records/group_profiler.h"
#include "compiler/rewrite_model.h"
#include "runtime/format/tw_file.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/fuse/fused_groups.h"
#include "tilegraph/fuse/fusion_decision.h"
#include "tilegraph/fuse/local_moves.h"
#include "tilegraph/gpu/gpu_cost_model.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tilegraph/plan/plan_decisions.h"
#include "tilegraph/rewrite/winograd.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

absl::Status Annotate(const absl::Status& status, absl::string_view what) {
  return status.ok() ? status
                     : absl::Status(status.code(),
                                    absl::StrCat(what, ": ", status.message()));
}

void Describe(const ImportedModel& model, const backends::Codegen& codegen,
              const CompileOptions& options, Program& program) {
  program.set_producer(absl::StrCat("tilewright ", kVersion));
  program.set_target(codegen.spec().target());
  program.set_spec_structure(StructureFingerprint(codegen.spec()).ToString());
  program.set_planned_threads(
      static_cast<int32_t>(codegen.spec().unit().cores()));
  for (const std::string& allow : options.allow) program.add_allow(allow);
  for (const Port& input : model.inputs)
    *program.add_inputs() =
        ToTensorSpec(input.name, model.graph.tensor(input.tensor));
  for (const Port& output : model.outputs)
    *program.add_outputs() =
        ToTensorSpec(output.name, model.graph.tensor(output.tensor));
}

// The graph that a Winograd kernel computes: fewer products than its workload,
// and larger filters. None for all other kernels, which compute their workload.
std::optional<TensorGraph> WinogradGraph(const CompiledKernel& kernel) {
  const TensorGraph& graph = kernel.workload.workload.graph;
  int m = 0;
  for (const int of_argument : kernel.arg_winograd)
    m = std::max(m, of_argument);
  if (m == 0) return std::nullopt;
  return ToWinograd(graph, *FindWinograd(graph), m).graph;
}

KernelInfo Info(const CompiledKernel& kernel, std::string label) {
  const std::optional<TensorGraph> by_winograd = WinogradGraph(kernel);
  const TensorGraph& computed =
      by_winograd ? *by_winograd : kernel.workload.workload.graph;
  KernelInfo info;
  info.set_name(kernel.scalar.name);
  info.set_num_tasks(kernel.scalar.num_tasks);
  info.set_scratch_bytes(kernel.scalar.scratch_bytes);
  if (kernel.scalar.has_threads()) info.set_threads(kernel.scalar.threads);
  info.set_workload(kernel.workload.workload.Text());
  info.set_schedule(kernel.schedule.ToString());
  info.set_source(kernel.source);
  info.set_flops(CountFlops(computed));
  info.set_compulsory_bytes(CompulsoryBytes(computed));
  info.set_code_bytes(kernel.report.code_bytes);
  info.set_spills(kernel.report.spills);
  info.set_label(std::move(label));
  info.set_generator(kernel.generator);
  for (const absl::Status& refused : kernel.refused)
    info.add_refused(std::string(refused.message()));
  for (const kernel_ir::ScalarBuffer& buffer : kernel.scalar.buffers) {
    if (buffer.role == kernel_ir::Role::kLocal) continue;
    KernelArg* arg = info.add_args();
    arg->set_size_bytes(buffer.elements * SizeBytes(buffer.dtype));
    arg->set_written(buffer.role == kernel_ir::Role::kOutput);
  }
  return info;
}

// The content of a group: a kernel's work, or a move.
struct GroupPart {
  GroupWorkload workload;
  std::optional<BandMove> move;
};

// Kernels of all groups of the plan. Groups that share one get the same.
absl::Status CompileKernels(const TensorGraph& graph,
                            const backends::Codegen& codegen,
                            KernelMaker& maker, CompiledModel& compiled,
                            std::vector<GroupPart>& parts) {
  compiled.kernels.clear();
  compiled.kernel_of_group.clear();
  parts.clear();
  std::map<KernelMaker::Key, int> kernel_of_key;
  for (const Group& group : compiled.plan.groups) {
    GroupPart& part = parts.emplace_back();
    TW_ASSIGN_OR_RETURN(part.move, FindBandMove(graph, compiled.plan, group));
    if (part.move) {
      compiled.kernel_of_group.push_back(-1);
      continue;
    }
    part.workload = MakeGroupWorkload(graph, compiled.plan, group);
    const auto [known, added] =
        kernel_of_key.insert({KernelMaker::KeyOf(part.workload),
                              static_cast<int>(compiled.kernels.size())});
    compiled.kernel_of_group.push_back(known->second);
    if (!added) continue;
    absl::StatusOr<CompiledKernel> kernel = maker.Make(part.workload);
    if (!kernel.ok()) {
      return Annotate(kernel.status(),
                      absl::StrCat("group '", Label(graph, group), "'"));
    }
    // The workload of this group, not that of one that was evaluated and
    // dropped.
    kernel->workload = part.workload;
    kernel->tile.name = kernel->scalar.name =
        absl::StrCat("k", compiled.kernels.size());
    compiled.kernels.push_back(*std::move(kernel));
  }
  TW_ASSIGN_OR_RETURN(backends::Module module,
                      EmitOrMakeAnother(codegen, maker, compiled.kernels));
  for (size_t i = 0; i < module.kernels.size(); ++i)
    compiled.kernels[i].report = std::move(module.kernels[i]);
  compiled.module = std::move(module.bytes);
  return absl::OkStatus();
}

// Notes what would be fused, had it a kernel.
void NoteUnfused(const CompiledModel& compiled, UnfusedGroups& unfused) {
  const FusionRules rules(compiled.graph, compiled.register_plan);
  for (const FusionDecision& decision : compiled.connected.decisions) {
    if (decision.no_kernel.ok()) continue;
    const absl::StatusOr<Group> group = rules.Fused(decision.groups);
    if (group.ok())
      unfused[group->output] =
          Unfused(compiled.graph, *group, decision.no_kernel);
  }
}

// Groups in blocks of threads, planned by the rules' kernels: one of a record
// was measured to be faster than those, but says nothing of other tiles.
absl::Status ConnectForThreads(const backends::Codegen& codegen,
                               const CompileOptions& options,
                               KernelMaker& maker, UnfusedGroups& unfused,
                               CompiledModel& compiled) {
  GpuKernelsOptions gpu = options.gpu;
  gpu.search = options.connect.search;
  gpu.fuse = options.plan.connect == PlanOptions::Connect::kTileGraph;
  KernelMaker by_rule(codegen, options.admit);
  TW_ASSIGN_OR_RETURN(
      compiled.gpu,
      PlanForThreads(compiled.graph, compiled.plan, codegen.spec(), gpu,
                     options.schedules == nullptr ? maker : by_rule));
  compiled.register_plan = compiled.gpu->plan.plan;
  compiled.connected = compiled.gpu->plan.connected;
  NoteUnfused(compiled, unfused);
  compiled.plan =
      FusedPlan(compiled.graph, compiled.register_plan, compiled.connected);
  return absl::OkStatus();
}

// Moves computes between groups, and fuses groups that have a kernel together.
void ConnectGroups(const backends::Codegen& codegen, ConnectPlanOptions options,
                   CostKey key, KernelTimes* times, KernelMaker& maker,
                   UnfusedGroups& unfused, CompiledModel& compiled) {
  options.evaluate.generate =
      [&, wanted = options.evaluate.generate](
          const Group& group, const Plan& plan) -> absl::StatusOr<TilePlan> {
    if (wanted) TW_RETURN_IF_ERROR(wanted(group, plan).status());
    const absl::StatusOr<CompiledKernel>& kernel =
        maker.Make(MakeGroupWorkload(compiled.graph, plan, group));
    TW_RETURN_IF_ERROR(kernel.status());
    // A trace from records does not tell what was decided.
    return kernel->schedule.tile_plan.value_or(group.tile_plan);
  };
  std::optional<GroupProfiler> profiler;
  if (times != nullptr) {
    GroupProfiler& groups = profiler.emplace(compiled.graph, maker, *times);
    options.evaluate.measuring.profiler = &groups;
    options.evaluate.measuring.cache = &groups;
  }
  compiled.register_plan = MakeLocalMoves(
      compiled.graph, std::move(compiled.plan), [&](const Plan& plan) {
        return std::make_unique<GroupEvaluator>(compiled.graph, plan,
                                                codegen.spec(), key);
      });
  const Plan& plan = compiled.register_plan;
  const GroupEvaluator model(compiled.graph, plan, codegen.spec(), key);
  compiled.connected = ConnectPlan(compiled.graph, plan, model, options);
  NoteUnfused(compiled, unfused);
  compiled.plan = FusedPlan(compiled.graph, plan, compiled.connected);
}

// Of kernels that are as planned: no fallbacks, on GPUs none of other
// decisions.
void AddPredictions(const DeviceSpec& spec, CompiledModel& compiled) {
  const GroupEvaluator evaluator(compiled.graph, compiled.plan, spec);
  for (size_t g = 0; g < compiled.plan.groups.size(); ++g) {
    const int k = compiled.kernel_of_group[g];
    if (k < 0 || compiled.program.kernels(k).predicted_ns() > 0) continue;
    const CompiledKernel& kernel = compiled.kernels[k];
    const bool as_planned = compiled.gpu
                                ? kernel.source == CompiledKernel().source
                                : kernel.refused.empty();
    if (!as_planned) continue;
    if (const auto cost =
            PlannedCost(compiled, evaluator, compiled.plan.groups[g]))
      compiled.program.mutable_kernels(k)->set_predicted_ns(
          cost->one_core_seconds * 1e9);
  }
}

std::vector<TensorId> Tensors(const std::vector<Port>& boundary) {
  std::vector<TensorId> tensors;
  for (const Port& one : boundary) tensors.push_back(one.tensor);
  return tensors;
}

}  // namespace

std::optional<GroupCost> PlannedCost(const CompiledModel& compiled,
                                     const GroupEvaluator& evaluator,
                                     const Group& group) {
  if (compiled.gpu) {
    const GpuTilePlan* const tiles = TilesOf(*compiled.gpu, group);
    if (tiles == nullptr) return std::nullopt;
    return AsGroupCost(*tiles);
  }
  absl::StatusOr<GroupCost> cost =
      group.stages.empty() ? evaluator.Best(group) : evaluator.CostOf(group);
  if (!cost.ok()) return std::nullopt;
  return *std::move(cost);
}

std::string CompiledModel::Serialize() const {
  return SerializeTw(program, module, constants);
}

namespace {

absl::StatusOr<CompiledModel> CompileAsItIs(const ImportedModel& imported,
                                            const backends::Codegen& codegen,
                                            const CompileOptions& options) {
  CompiledModel compiled;
  const ImportedModel model =
      RewriteModel(imported, codegen.spec(), options.plan, options.allow);
  compiled.graph = model.graph;
  compiled.plan = MakePlan(model.graph, options.plan);
  KernelMaker maker(codegen, options.admit, options.schedules);
  UnfusedGroups unfused;
  if (GpuLevelsOf(codegen.spec())) {
    TW_RETURN_IF_ERROR(
        ConnectForThreads(codegen, options, maker, unfused, compiled));
  } else if (options.plan.connect == PlanOptions::Connect::kTileGraph) {
    ConnectGroups(codegen, options.connect, options.cost_key, options.times,
                  maker, unfused, compiled);
  }
  std::vector<GroupPart> parts;
  absl::Status made =
      CompileKernels(model.graph, codegen, maker, compiled, parts);
  if (!made.ok() && UnfuseFailures(codegen, maker, unfused, compiled))
    made = CompileKernels(model.graph, codegen, maker, compiled, parts);
  TW_RETURN_IF_ERROR(made);
  ReportUnfused(unfused, compiled);

  Describe(model, codegen, options, compiled.program);
  std::vector<std::string> labels(compiled.kernels.size());
  std::vector<GroupLaunch> launches;
  for (size_t g = 0; g < parts.size(); ++g) {
    const int kernel = compiled.kernel_of_group[g];
    if (const std::optional<BandMove>& move = parts[g].move) {
      launches.push_back(
          {kernel, {move->to, move->from}, {}, {}, {}, move->copy});
      continue;
    }
    if (labels[kernel].empty())
      labels[kernel] = Label(model.graph, compiled.plan.groups[g]);
    GroupLaunch launch{kernel,
                       {},
                       compiled.kernels[kernel].arg_layouts,
                       {},
                       compiled.kernels[kernel].arg_winograd,
                       {}};
    for (const TensorId arg : compiled.kernels[kernel].arg_tensors) {
      launch.args.push_back(parts[g].workload.model_tensor[arg]);
      launch.offset_bytes.push_back(parts[g].workload.offset_bytes[arg]);
    }
    launches.push_back(std::move(launch));
  }
  for (size_t k = 0; k < compiled.kernels.size(); ++k)
    *compiled.program.add_kernels() =
        Info(compiled.kernels[k], std::move(labels[k]));
  AddPredictions(codegen.spec(), compiled);
  AddLaunchPlan(
      model.graph, compiled.plan, launches, Tensors(model.inputs),
      Tensors(model.outputs),
      GpuLevelsOf(codegen.spec()) ? HaloFill::kWholeTensor : HaloFill::kPieces,
      compiled.program, compiled.constants);
  return compiled;
}

// Halos, blocks and the gaps between buffers take more than bands are chosen
// by: with smaller bands it fits.
constexpr double kShareOfCap[] = {0.9, 0.75, 0.6, 0.45, 0.3};

absl::StatusOr<CompiledModel> CompileUnderCap(const ImportedModel& imported,
                                              const backends::Codegen& codegen,
                                              const CompileOptions& options) {
  const int64_t cap_bytes = options.cap.arena_bytes;
  if (cap_bytes == 0) return CompileAsItIs(imported, codegen, options);
  for (const double share : kShareOfCap) {
    CapOptions cap = options.cap;
    cap.arena_bytes =
        static_cast<int64_t>(static_cast<double>(cap_bytes) * share);
    TW_ASSIGN_OR_RETURN(const ImportedModel model, CapMemory(imported, cap));
    absl::StatusOr<CompiledModel> compiled =
        CompileAsItIs(model, codegen, options);
    if (absl::IsUnimplemented(compiled.status())) {
      // Plain, everything can be moved.
      CompileOptions plain = options;
      plain.plan.channel_block = 0;
      compiled = CompileAsItIs(model, codegen, plain);
    }
    if (!compiled.ok() || compiled->program.arena_bytes() <= cap_bytes)
      return compiled;
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "its bands do not fit into ", cap_bytes, " bytes; raise the cap"));
}

absl::StatusOr<SourcedPlan> DecideAboveGroups(const ImportedModel& model,
                                              const DeviceSpec& spec,
                                              const CompileOptions& options) {
  PlanOptions open = options.plan;
  if (GpuLevelsOf(spec)) open.channel_block = 0;  // layouts are a CPU's
  if (options.schedules != nullptr) {
    TW_ASSIGN_OR_RETURN(
        std::optional<SourcedPlan> found,
        options.schedules->FindPlan(ModelFingerprint(model), open, spec));
    if (found) return *std::move(found);
  }
  PreferredPolicy preferred;
  Decider decider(preferred);
  const PlanOptions decided = DecidePlan(open, spec, decider);
  return SourcedPlan{decided, decider.decisions(), "rules"};
}

}  // namespace

std::string ModelFingerprint(const ImportedModel& model) {
  return Fingerprint::Of(PrintText(model.graph)).ToString();
}

absl::StatusOr<CompiledModel> Compile(const ImportedModel& imported,
                                      const backends::Codegen& codegen,
                                      const CompileOptions& options) {
  return CatchExceptions(
      "compiling the model", [&]() -> absl::StatusOr<CompiledModel> {
        TW_ASSIGN_OR_RETURN(
            SourcedPlan plan,
            DecideAboveGroups(imported, codegen.spec(), options));
        CompileOptions decided = options;
        decided.plan = plan.options;
        TW_ASSIGN_OR_RETURN(CompiledModel compiled,
                            CompileUnderCap(imported, codegen, decided));
        compiled.plan_decisions = std::move(plan.decisions);
        compiled.plan_source = std::move(plan.source);
        return compiled;
      });
}

}  // namespace tilewright
