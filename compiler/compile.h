// The whole way from an imported model to a .tw: plan, workloads, schedules,
// kernels, launch plan, buffers, packed constants.
//
// Same model, codegen and options, same bytes.
#ifndef TILEWRIGHT_COMPILER_COMPILE_H_
#define TILEWRIGHT_COMPILER_COMPILE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "compiler/cap_memory.h"
#include "compiler/connect_gpu.h"
#include "compiler/kernels/kernel_maker.h"
#include "compiler/kernels/schedule_source.h"
#include "compiler/records/kernel_times.h"
#include "frontends/onnx/import_model.h"
#include "runtime/format/program.pb.h"
#include "runtime/format/tw_file.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/fuse/connect_plan.h"
#include "tilegraph/gpu/gpu_kernels.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

struct CompileOptions {
  PlanOptions plan = {PlanOptions::Connect::kTileGraph};
  // With Connect::kTileGraph; Compile sets `profiler` and `cache`, and asks
  // `generate` for an error before it makes a kernel.
  ConnectPlanOptions connect;
  CostKey cost_key = CostKey::kTime;  // what plans are compared by
  // Fusions are decided by these times, of codegen's target; null: by estimate.
  KernelTimes* times = nullptr;
  std::vector<std::string> allow;  // reduced precisions, recorded in the file
  CapOptions cap;
  // On devices with threads, instead of `connect` but for its search; Compile
  // sets what it generates.
  GpuKernelsOptions gpu;
  KernelMaker::Admit admit;  // of generators of schedules; null: all
  // Asked before the rules for the schedule of each kernel; null: the rules
  // decide. Must outlive the call.
  ScheduleSource* schedules = nullptr;
};

struct CompiledModel {
  Program program;
  std::string module;
  std::string constants;

  // The parts that inspect shows.
  TensorGraph graph;  // the model's, rewritten for the device: what was planned
  Plan plan;
  // Above groups (tilegraph/plan/plan_decisions.h): what the options left open,
  // and who answered: "rules" or a source's name.
  DecisionTable plan_decisions;
  std::string plan_source;
  // With Connect::kTileGraph, or on devices with threads: what was fused of
  // which groups, and why.
  Plan register_plan;
  ConnectedGroups connected;
  // On devices with threads: what was planned, each tile as it is generated;
  // `register_plan` and `connected` are its. Null on others.
  std::shared_ptr<const PlannedGpu> gpu;
  std::vector<CompiledKernel> kernels;
  std::vector<int> kernel_of_group;  // -1: it is a copy

  // The .tw as its parts, which view this; the same as bytes; and what a Model
  // is loaded from without either.
  TwParts File() const { return TwParts(program, module, constants); }
  std::string Serialize() const;
  TwView View() const { return {program, module, constants}; }
};

// What the plan says of a group of `compiled`, in its tile if it has one, else
// in the best; nullopt if nothing. `evaluator`: of its graph and plan, used on
// CPUs.
std::optional<GroupCost> PlannedCost(const CompiledModel& compiled,
                                     const GroupEvaluator& evaluator,
                                     const Group& group);

// By which sources of schedules know a model: of its graph and constants.
std::string ModelFingerprint(const ImportedModel& model);

// A group whose schedule is refused gets a simpler one, a fused group is taken
// apart; the program says so
// (KernelInfo.refused, Program.unfused).
//
// Unimplemented names what cannot be expressed, ResourceExhausted what does not
// fit under the cap; anything a backend reports is passed on with the group's
// name.
absl::StatusOr<CompiledModel> Compile(const ImportedModel& model,
                                      const backends::Codegen& codegen,
                                      const CompileOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_COMPILE_H_
