// The launch plan of a compiled model: which kernel runs when, on which
// buffers, and where everything lies.
#ifndef TILEWRIGHT_COMPILER_LAUNCH_PLAN_H_
#define TILEWRIGHT_COMPILER_LAUNCH_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/format/program.pb.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/rewrite/bands/box_copy.h"

namespace tilewright {

// How one group is launched.
struct GroupLaunch {
  int kernel;  // index in Program::kernels; -1: it only moves
  // By argument: the model's tensor, what it is packed to if it is a constant,
  // where in the tensor's buffer it begins, and, of constants, m if the kernel
  // takes the filters of F(m, 3) for it (tilegraph/rewrite/winograd.h); else 0.
  std::vector<TensorId> args;
  std::vector<Layout> layouts;
  std::vector<int64_t> offset_bytes;
  std::vector<int> winograd;
  // Without a kernel: the copy from args[1] to args[0], in elements of their
  // buffers.
  BoxCopy move;
};

// How what a kernel leaves of a padded tensor becomes zero.
enum class HaloFill : uint8_t {
  kPieces,  // piece by piece: memory of the host
  // All of the tensor at once: each piece would be a command to the device,
  // of which it takes as long as a whole small tensor does.
  kWholeTensor,
};

// Adds buffers, steps and arena size to `program`, whose inputs, outputs and
// kernels stand already, and appends packed constants (each (constant, layout)
// once, equal bytes once) to `constants`. `outputs`: the tensor behind each of
// the program's outputs. Halos are zeroed before the launch that fills their
// tensor. What bands are moved out to lies in the host's memory, not in the
// arena. Neighbours of few tasks that do not depend on each other may run at
// the same time.
void AddLaunchPlan(const TensorGraph& graph, const Plan& plan,
                   const std::vector<GroupLaunch>& launches,
                   const std::vector<TensorId>& inputs,
                   const std::vector<TensorId>& outputs, HaloFill fill,
                   Program& program, std::string& constants);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_LAUNCH_PLAN_H_
