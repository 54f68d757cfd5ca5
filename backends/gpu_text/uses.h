// Where the registers of a kernel are set and read: what decides which values
// get a name in the text, and where variables are declared.
#ifndef TILEWRIGHT_BACKENDS_GPU_TEXT_USES_H_
#define TILEWRIGHT_BACKENDS_GPU_TEXT_USES_H_

#include <map>
#include <set>
#include <vector>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::gpu_text {

using Body = std::vector<kernel_ir::Inst>;

class Uses {
 public:
  explicit Uses(const kernel_ir::ScalarKernel& kernel);

  int reads(kernel_ir::Reg reg) const { return reads_[reg]; }
  // Whether a value is read once, in the very body that sets it.
  bool ReadOnceNearby(kernel_ir::Reg reg) const {
    return reads_[reg] == 1 && set_in_[reg] == read_in_[reg];
  }
  // Whether anything is loaded from a buffer.
  bool Loads(int buffer) const { return loaded_.count(buffer) > 0; }
  // Variables whose first mention, in the innermost body around all mentions,
  // is in that instruction of it.
  const std::vector<kernel_ir::Reg>& DeclaredAt(
      const kernel_ir::Inst* inst) const;

 private:
  struct Position {
    const Body* body;
    size_t index;  // of the instruction in it
  };
  void Walk(const Body& body);
  void Mention(kernel_ir::Reg reg);

  const kernel_ir::ScalarKernel& kernel_;
  std::vector<Position> path_;  // to the instruction being looked at
  std::vector<int> reads_;
  std::set<int> loaded_;  // buffers
  std::vector<const Body*> set_in_, read_in_;
  // Per variable, the places where it must be declared, as far as was seen.
  std::vector<std::vector<Position>> declared_;
  std::map<const kernel_ir::Inst*, std::vector<kernel_ir::Reg>> declared_at_;
};

}  // namespace tilewright::gpu_text

#endif  // TILEWRIGHT_BACKENDS_GPU_TEXT_USES_H_
