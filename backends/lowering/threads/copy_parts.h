// Copies into scratch as two nests of threads: one that loads into registers,
// one that stores those. Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_THREADS_COPY_PARTS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_THREADS_COPY_PARTS_H_

#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/tile/kernel_ranges.h"

namespace tilewright::lowering {

class CopyParts {
 public:
  // The kernel as it stands tells ranges and the numbers of nests; it must
  // outlive this.
  explicit CopyParts(kernel_ir::Kernel& kernel);

  // Whether it is a nest of threads of which each element is stored by one
  // thread, from an argument that nobody writes.
  bool MayPart(const kernel_ir::Stmt& copy) const;

  struct Parts {
    kernel_ir::Stmt load, store;
  };
  // Adds the registers to the kernel. REQUIRES: MayPart(copy).
  Parts Part(const kernel_ir::Stmt& copy);

 private:
  int AddRegisters(int ahead_of);
  void PartBodies(std::vector<kernel_ir::Stmt>& loads,
                  std::vector<kernel_ir::Stmt>& stores);

  kernel_ir::Kernel& kernel_;
  const KernelRanges ranges_;
  int last_nest_;  // no nest has a larger number
};

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_THREADS_COPY_PARTS_H_
