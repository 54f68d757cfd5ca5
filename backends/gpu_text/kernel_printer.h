// Internal to text.h: prints one kernel.
#ifndef TILEWRIGHT_BACKENDS_GPU_TEXT_KERNEL_PRINTER_H_
#define TILEWRIGHT_BACKENDS_GPU_TEXT_KERNEL_PRINTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/gpu_text/expression.h"
#include "backends/gpu_text/names.h"
#include "backends/gpu_text/uses.h"
#include "backends/gpu_text/value_ranges.h"
#include "backends/kernel_ir/divisors.h"
#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::gpu_text {

class KernelPrinter {
 public:
  // `blocks_per_core`: as in text.h.
  KernelPrinter(const kernel_ir::ScalarKernel& kernel, int64_t blocks_per_core)
      : k_(kernel),
        blocks_per_core_(blocks_per_core),
        uses_(kernel),
        ranges_(kernel),
        divisors_(kernel) {}

  absl::StatusOr<std::string> Print() &&;

 private:
  using Reg = kernel_ir::Reg;

  // State that a piece reads and that may change if it is written later than it
  // stands.
  struct Depends {
    bool memory = false;
    std::set<Reg> variables;
  };
  // A value that is read once and has not been yet.
  struct Pending {
    Piece piece;
    std::string stem;
    Depends depends;
  };

  // Names the buffers; gives parameters and declarations.
  std::string Buffers();

  // Lines.
  void Line(const std::string& text);
  void Body(const gpu_text::Body& body);
  void Declare(const kernel_ir::Inst& inst);
  // `stem`: of the value's name, if it gets one.
  void Define(Reg dst, Piece piece, const std::string& stem);
  void NameValue(Reg reg, const Piece& piece, const std::string& stem);
  // Gives a name to a value if it is pending.
  void Settle(Reg reg);
  // Gives names to pending values that `spoiled` says will not be the same.
  void Flush(const std::function<bool(const Depends&)>& spoiled);

  // Instructions.
  void One(const kernel_ir::OpInst& n);
  void One(const kernel_ir::ConstInst& n);
  void One(const kernel_ir::CopyInst& n);
  void One(const kernel_ir::SplatInst& n);
  void One(const kernel_ir::FmaInst& n);
  void One(const kernel_ir::ScaleInst& n);
  void One(const kernel_ir::LookupInst& n);
  void One(const kernel_ir::PermuteInst& n);
  void One(const kernel_ir::DotInst& n);
  void One(const kernel_ir::LaneInst& n);
  void One(const kernel_ir::InsertInst& n);
  void One(const kernel_ir::ShuffleInst& n);
  void One(const kernel_ir::BitcastInst& n);
  void One(const kernel_ir::AnyInst& n);
  void One(const kernel_ir::LoadInst& n);
  void One(const kernel_ir::StoreInst& n);
  void One(const kernel_ir::PrefetchInst&) {}
  void One(const kernel_ir::BarrierInst&);
  void One(const kernel_ir::ExchangeInst& n);
  void One(const kernel_ir::AsyncCopyInst& n);
  void One(const kernel_ir::CommitInst&);
  void One(const kernel_ir::WaitInst& n);
  void One(const kernel_ir::ForInst& n);
  void One(const kernel_ir::IfInst& n);
  Piece ScalarOp(const kernel_ir::OpInst& n);
  Piece VectorOp(const kernel_ir::OpInst& n);

  // Operands.
  int lanes(Reg reg) const { return k_.regs[reg].lanes; }
  DType dtype(Reg reg) const { return k_.regs[reg].dtype; }
  const kernel_ir::ConstInst* ConstantOf(Reg reg) const;
  // A vector that has a scalar in all lanes.
  bool IsBroadcast(Reg reg) const;
  // A register by name, literal or expression, which is used up.
  Piece Use(Reg reg, bool typed = true);
  // The scalar of a broadcast, other registers as they are.
  Piece UseLoosely(Reg reg);
  Piece Index(Reg offset, int64_t constant_offset);
  Piece Element(int buffer, const Piece& index) const;
  // Whether all lanes of an access, or none by its mask, are one access of the
  // memory: a LoadInst or StoreInst of `lanes`.
  template <typename Access>
  bool IsAligned(const Access& n, int lanes) const;
  std::string Bound(Reg reg, int64_t constant, bool may_change);

  const kernel_ir::ScalarKernel& k_;
  const int64_t blocks_per_core_;
  const Uses uses_;
  ValueRanges ranges_;
  const kernel_ir::Divisors divisors_;
  Names names_;
  std::string out_;
  int depth_ = 0;
  absl::Status status_;
  std::vector<std::string> buffers_;  // names
  std::map<Reg, std::string> named_;
  std::map<Reg, const kernel_ir::ConstInst*> constants_;
  std::map<Reg, Reg> splats_;  // of values -> the scalar
  std::map<Reg, Pending> pending_;
  std::vector<Reg> order_;    // of pending_
  std::set<Reg> to_declare_;  // by the assignment that comes next
  Depends depends_;           // of the instruction being printed
};

}  // namespace tilewright::gpu_text

#endif  // TILEWRIGHT_BACKENDS_GPU_TEXT_KERNEL_PRINTER_H_
