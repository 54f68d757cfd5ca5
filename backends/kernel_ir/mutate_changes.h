// Internal to mutate.h: the small changes that make a kernel wrong.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_MUTATE_CHANGES_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_MUTATE_CHANGES_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir::internal {

// A change of one instruction, in place; without `apply` the instruction goes.
struct Change {
  std::string kind;
  std::function<void(Inst&)> apply;
};

// Collects what the registers of a kernel are used for, so that changes hit
// what matters.
struct Uses {
  std::set<Reg> factors;  // of an i64 or i32 product
  std::set<Reg> initial;  // copied into a variable or stored
  std::set<Reg> limits;   // integers that others are compared with
  std::set<Reg> moduli;   // divisors: of rings, of numbers of tasks
};

// Calls `fn` for every instruction behind those inside it, with its number (in
// the order they are listed), its body and its place there.
void ForEachInst(
    std::vector<Inst>& body, int& position,
    const std::function<void(int, std::vector<Inst>&, size_t)>& fn);

Uses FindUses(ScalarKernel& kernel);

// Whether all that a body stores goes to scratch, and something does.
bool FillsScratch(const ScalarKernel& kernel, const std::vector<Inst>& body);

// All changes of one instruction.
std::vector<Change> ChangesOf(const ScalarKernel& kernel, const Uses& uses,
                              const Inst& inst);

}  // namespace tilewright::kernel_ir::internal

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_MUTATE_CHANGES_H_
