// Internal to the reference: scalar expressions compiled to flat code that runs
// on strips of lanes.
//
// A strip is a run of neighbouring positions along one spatial axis of a
// compute. A register holds one value a lane (double for floats, int64 for
// integers and bool), and beside it a bound on how far a kernel's value may lie
// from it. Registers that do not depend on the strip's axis are uniform: only
// lane 0 counts.
//
// Instructions are sorted by level, the position of the innermost loop they
// depend on, so that a step of an inner loop repeats only what changes with it.
#ifndef TILEWRIGHT_TILEGRAPH_REFERENCE_BYTECODE_H_
#define TILEWRIGHT_TILEGRAPH_REFERENCE_BYTECODE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::reference_internal {

inline constexpr int kStripLanes = 256;
// A load with no index and source kRegisterLeaf + r stands for register r.
inline constexpr int kRegisterLeaf = 1 << 28;

// constant + sum of coefficient[axis] * axis.
struct AffineForm {
  int64_t constant = 0;
  std::vector<int64_t> coefficient;
};

// One dimension of a load.
struct LoadIndex {
  bool affine = false;
  AffineForm form;     // affine
  int reg = -1;        // otherwise
  int64_t extent = 1;  // of the source
  int64_t stride = 1;  // of the source, in elements
};

enum class StripKind : uint8_t { kConst, kAffine, kLoad, kOp, kSplat };

struct BytecodeInst {
  StripKind kind;
  Op op = Op::kConst;
  DType dtype = DType::kFloat32;          // of the result
  DType operand_dtype = DType::kFloat32;  // of the last operand
  int dst = -1;
  int operands[3] = {-1, -1, -1};
  int num_operands = 0;
  int level = -1;
  bool uniform = false;
  double unit = 0;  // relative rounding error of the result
  double f = 0;     // kConst
  int64_t i = 0;    // kConst
  AffineForm form;  // kAffine
  int source = -1;  // kLoad
  std::vector<LoadIndex> index;
};

struct StripReg {
  DType dtype;
  bool exact;  // the bound is zero in every lane
  bool uniform;
};

struct Bytecode {
  std::vector<BytecodeInst> insts;  // by level, then in order
  std::vector<StripReg> regs;
  std::vector<int>
      results;  // registers of the compiled expressions; never uniform
  std::vector<int> level_begin;  // level_begin[l + 1]: first instruction of
                                 // level l; the last entry is insts.size()
};

// The facts the compiler needs of a load's source.
struct StripSource {
  DType dtype;
  bool exact;
  std::vector<int64_t> shape;
};

struct StripLoops {
  std::vector<int> position;  // axis -> position of its loop, outermost 0
  int strip_axis = -1;        // -1: there is none, every strip has one lane
  int levels = 0;             // number of positions
};

// `unit32`: what one fp32 operation may err by, relative to its result; 0 for
// exact integers, where no bound is kept. `leaves`: registers that exist before
// (with kRegisterLeaf); they are numbers 0 .. leaves.size() - 1 of the program.
Bytecode CompileBytecode(absl::Span<const Expr> exprs, const StripLoops& loops,
                         const std::function<StripSource(int)>& source,
                         double unit32, absl::Span<const StripReg> leaves = {});

}  // namespace tilewright::reference_internal

#endif  // TILEWRIGHT_TILEGRAPH_REFERENCE_BYTECODE_H_
