// The launch plan of a compiled model: which kernel runs when, on which
// buffers, and where everything lies.
#ifndef TILEWRIGHT_COMPILER_LAUNCH_PLAN_H_
#define TILEWRIGHT_COMPILER_LAUNCH_PLAN_H_

#include <string>
#include <vector>

#include "runtime/format/program.pb.h"
#include "tilegraph/plan.h"

namespace tilewright {

// How one group is launched.
struct GroupLaunch {
  int kernel;                   // index in Program::kernels
  std::vector<TensorId> args;   // model tensors, by argument
  std::vector<Layout> layouts;  // by argument; what constants are packed to
};

// Adds buffers, steps and arena size to `program`, whose inputs, outputs and
// kernels stand already, and appends packed constants (each (constant, layout)
// once, equal bytes once) to `constants`. `outputs`: the tensor behind each of
// the program's outputs. Halos are zeroed before the launch that fills their
// tensor.
void AddLaunchPlan(const TensorGraph& graph, const Plan& plan,
                   const std::vector<GroupLaunch>& launches,
                   const std::vector<TensorId>& inputs,
                   const std::vector<TensorId>& outputs, Program& program,
                   std::string& constants);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_LAUNCH_PLAN_H_
