// The whole way from an imported model to a .tw: plan, workloads, schedules,
// kernels, launch plan, buffers, packed constants.
//
// Same model, codegen and options, same bytes.
#ifndef TILEWRIGHT_COMPILER_COMPILE_H_
#define TILEWRIGHT_COMPILER_COMPILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "compiler/group_workload.h"
#include "frontends/onnx/import_model.h"
#include "runtime/format/program.pb.h"
#include "sketch/schedule.h"
#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"

namespace tilewright {

struct CompileOptions {
  PlanOptions plan;
  std::vector<std::string> allow;  // reduced precisions, recorded in the file
};

// One distinct kernel, through every representation.
struct CompiledKernel {
  GroupWorkload workload;  // of the first group that needs it
  sketch::Schedule schedule;
  kernel_ir::Kernel tile;
  kernel_ir::ScalarKernel scalar;
  std::vector<Layout> arg_layouts;    // by argument
  std::vector<TensorId> arg_tensors;  // by argument: tensor id of the workload
  backends::KernelReport report;
};

struct CompiledModel {
  Program program;
  std::string module;
  std::string constants;

  // What inspect shows.
  TensorGraph graph;  // the model's, rewritten for the device: what was planned
  Plan plan;
  std::vector<CompiledKernel> kernels;
  std::vector<int> kernel_of_group;

  // The bytes of the .tw.
  std::string Serialize() const;
};

// Unimplemented names what cannot be expressed; anything a backend reports is
// passed on with the group's name.
absl::StatusOr<CompiledModel> Compile(const ImportedModel& model,
                                      const backends::Codegen& codegen,
                                      const CompileOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_COMPILE_H_
