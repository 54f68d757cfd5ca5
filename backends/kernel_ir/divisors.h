// Numbers that divide every value of an integer register: what tells whether a
// vector's access lies at a multiple of its size.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_DIVISORS_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_DIVISORS_H_

#include <cstdint>
#include <vector>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

class Divisors {
 public:
  // As far as they follow from constants, loop bounds and index arithmetic that
  // does not overflow; 1 where nothing is known. `kernel` must outlive it.
  explicit Divisors(const ScalarKernel& kernel);

  // 0 divides only 0; a register that is kNoReg is 0.
  int64_t Of(Reg reg) const { return reg == kNoReg ? 0 : of_[reg]; }
  // Whether offset + constant_offset is a multiple of `unit`.
  bool Divides(int64_t unit, Reg offset, int64_t constant_offset) const;

 private:
  void Walk(const std::vector<Inst>& body);
  // Variables take values that nobody followed.
  void Set(Reg reg, int64_t divisor) {
    if (!kernel_.regs[reg].is_variable) of_[reg] = divisor;
  }
  int64_t OfResult(const OpInst& op) const;

  const ScalarKernel& kernel_;
  std::vector<int64_t> of_;
};

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_DIVISORS_H_
