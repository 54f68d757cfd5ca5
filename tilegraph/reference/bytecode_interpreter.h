// Internal to the reference: runs strip programs. Every float operation is done
// in double; beside each value runs a bound on how far the value of a kernel
// may lie from it (running error analysis). A decision that rounding could turn
// (a comparison, a floor) is carried on as a bound as large as what it would
// change.
#ifndef TILEWRIGHT_TILEGRAPH_REFERENCE_BYTECODE_INTERPRETER_H_
#define TILEWRIGHT_TILEGRAPH_REFERENCE_BYTECODE_INTERPRETER_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/reference/bytecode.h"
#include "tilegraph/reference/bytecode_ops.h"

namespace tilewright::reference_internal {

// Elements of a source; `bound` null: exact. Exactly one of value and integer
// is set.
struct SourceData {
  const double* value = nullptr;
  const int64_t* integer = nullptr;
  const double* bound = nullptr;
};

class BytecodeInterpreter {
 public:
  BytecodeInterpreter(const Bytecode& program,
                      std::function<SourceData(int)> source);

  // Valid until Run. Of a load: not to be written to.
  Lanes lanes(int reg) { return regs_[reg]; }
  // Runs the instructions of level `from_level` and deeper. `axes`: the value
  // of every axis in lane 0; `strip_axis`: -1, or the axis that grows by one a
  // lane.
  void Run(absl::Span<const int64_t> axes, int strip_axis, int lanes,
           int from_level);

  // Largest absolute value of any float result so far; kept while `track` is
  // set.
  void TrackMagnitude() {
    track_ = true;
    magnitudes_.assign(kStripLanes, 0.0);
  }
  double magnitude() const {
    return track_ ? *std::max_element(magnitudes_.begin(), magnitudes_.end())
                  : 0;
  }

 private:
  void RunAffine(const BytecodeInst& inst, absl::Span<const int64_t> axes,
                 int strip_axis, int lanes);
  void RunLoad(const BytecodeInst& inst, absl::Span<const int64_t> axes,
               int strip_axis, int lanes);
  void RunGather(const BytecodeInst& inst, absl::Span<const int64_t> axes,
                 int strip_axis, int lanes);
  void RunSplat(const BytecodeInst& inst);
  void RunOp(const BytecodeInst& inst, int lanes);
  void Fetch(const BytecodeInst& inst, int lane,
             int64_t offset);  // -1: outside the source

  const Bytecode& program_;
  std::vector<double> floats_;
  std::vector<int64_t> integers_;
  std::vector<Lanes> own_;   // where each register has room
  std::vector<Lanes> regs_;  // where it is: a load's may lie in its source
  std::vector<SourceData> sources_;  // by instruction
  bool track_ = false;
  std::vector<double> magnitudes_;  // of each lane, so far
};

}  // namespace tilewright::reference_internal

#endif  // TILEWRIGHT_TILEGRAPH_REFERENCE_BYTECODE_INTERPRETER_H_
