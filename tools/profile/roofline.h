// The least time that a kernel, or a model, can take within given limits.
#ifndef TILEWRIGHT_TOOLS_PROFILE_ROOFLINE_H_
#define TILEWRIGHT_TOOLS_PROFILE_ROOFLINE_H_

#include <string>

#include "runtime/format/program.pb.h"
#include "tools/profile/limits.h"

namespace tilewright::tools {

// Counted once from the expressions.
struct Work {
  double flops = 0;
  // Compulsory traffic: inputs, constants and outputs.
  double bytes = 0;
  double constant_bytes = 0;  // of `bytes`
};
Work operator+(const Work& a, const Work& b);

struct Bound {
  double us = 0;
  std::string by;  // "compute", or the level that needs longest: "l2", "dram"
};

// The work of one launch; 0 for steps that are none.
Work WorkOfStep(const Program& program, int step);
// All launches' operations; the model's inputs, outputs and constants once.
Work WorkOfModel(const Program& program);

// max(flops / peak, bytes / bandwidth). Constants come from the level that
// holds all that a run of the model touches (`resident_bytes`), since each is
// read once a run; everything else from the innermost level that holds the
// kernel's bytes, where the kernel before may have left it.
Bound BoundOf(const Work& work, double resident_bytes, const Limits& limits);
// Constants, arena, inputs and outputs.
double ResidentBytes(const Program& program);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PROFILE_ROOFLINE_H_
