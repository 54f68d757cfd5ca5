// Lanes of a kernel's registers, numbered, and which of them are only names for
// others: splats, shuffles and the like are no instructions where each lane has
// a register.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_LANE_NAMES_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_LANE_NAMES_H_

#include <vector>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

class LaneNames {
 public:
  static constexpr int kConstant = -1;  // a lane that takes no register

  explicit LaneNames(const ScalarKernel& kernel);

  int lanes() const { return static_cast<int>(named_.size()); }
  // The number of a register's first lane; its others follow.
  int First(Reg reg) const { return first_[reg]; }
  // The number of the lane that a lane of `reg` is a name for, or kConstant.
  int Of(Reg reg, int lane) const { return named_[first_[reg] + lane]; }
  // Whether `inst` only gives names, which are then known. REQUIRES: what
  // precedes it was added.
  bool Add(const Inst& inst);
  // Whether `inst` sets its register to a constant.
  bool IsConstant(const Inst& inst) const;

 private:
  void Name(Reg reg, int lane, int of) { named_[first_[reg] + lane] = of; }
  bool OfVariable(Reg reg) const;

  const ScalarKernel& kernel_;
  std::vector<int> first_;  // by register
  std::vector<int> named_;  // by lane
  std::vector<bool> of_variable_;
};

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_LANE_NAMES_H_
