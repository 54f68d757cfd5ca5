// Prefetching of what the next steps of an update, or of a map in memory, read
// from buffers too large for the cache. Internal to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_PREFETCHER_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_PREFETCHER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/vectorize/emit_tile_op.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::lowering {

class Prefetcher {
 public:
  // Emits the offset of an element, outside of all positions.
  using EmitOffset = std::function<kernel_ir::Reg(const LinearForm&)>;

  // All must outlive it.
  Prefetcher(const kernel_ir::TileOp& op, EmitContext& context,
             EmitOffset emit_offset);

  // Notes where the operation read a vector, or a scalar that was broadcast.
  void NoteVector(int buffer, const LinearForm& at) {
    vector_reads_[buffer].emplace(at.constant, at);
  }
  void NoteScalar(int buffer, const LinearForm& at) {
    scalar_reads_[buffer].emplace(at.constant, at);
  }

  // Asks for what later steps read at these places: as many steps ahead as the
  // schedule says, and, for updates, from further away than a step where this
  // looks worth it, unless the schedule says 0.
  void Emit();

 private:
  // Constant offset -> the whole offset.
  using Reads = std::map<int64_t, LinearForm>;

  bool IsUpdate() const {
    return op_.phase == kernel_ir::TileOp::Phase::kUpdate;
  }
  bool IsMapInMemory() const;
  bool ExceedsCache(const kernel_ir::Buffer& buffer) const;
  // The variables of the loops around the operation that are no constants, the
  // innermost first.
  std::vector<int> Loops() const;
  void ForgetClosedLoops(std::map<int, Reads>& reads_of);
  std::optional<int64_t> AsAsked();
  bool Run(int buffer, const Reads& reads, const LoopValue& asked,
           int asked_var, int step_var);
  void NextShare();
  void NextBlock();
  void Prefetch(int buffer, const LinearForm& next, int64_t more, int level);

  const kernel_ir::TileOp& op_;
  EmitContext& c_;
  const EmitOffset emit_offset_;
  std::map<int, Reads> vector_reads_, scalar_reads_;  // by buffer
};

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_PREFETCHER_H_
