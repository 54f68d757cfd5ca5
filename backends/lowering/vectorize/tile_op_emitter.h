// The emitter of one tile operation: what all positions share is prepared once,
// then every position, one vector of each destination, is written in turn.
// Internal to legalize; its parts stand in emit_tile_op.cc (preparation,
// loops), emit_order.cc, emit_position.cc, emit_copy.cc, emit_dot.cc,
// emit_value.cc, emit_access.cc and emit_block.cc.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_TILE_OP_EMITTER_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_TILE_OP_EMITTER_H_

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/lanes/block_access.h"
#include "backends/lowering/vectorize/access_form.h"
#include "backends/lowering/vectorize/emit_tile_op.h"
#include "backends/lowering/vectorize/prefetcher.h"
#include "backends/lowering/vectorize/vector_plan.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::lowering {

using kernel_ir::kNoReg;
using kernel_ir::Reg;

// Stand for the accumulator and the new element in a combiner's expression.
inline constexpr int kAccumulator = -1, kElement = -101;

struct ExprHash {
  size_t operator()(const Expr& e) const { return e.hash(); }
};

class OpEmitter {
 public:
  OpEmitter(const kernel_ir::TileOp& op, EmitContext& context,
            const LoopsAround& around)
      : op_(op),
        c_(context),
        b_(context.builder),
        joins_(around.joins),
        taps_(around.taps),
        dot_(around.dot),
        plan_(context.plan.ops.at(&op)),
        lane_var_(c_.ranges.lane_var()),
        chunk_var_(c_.ranges.chunk_var()),
        row_var_(plan_.row < 0 ? -1 : op.box[plan_.row].var),
        prefetcher_(op, context, [this](const LinearForm& at) {
          at_.clear();
          known_.clear();
          return OffsetOf(at);
        }) {}
  void Run();

 private:
  // --- What is the same for all positions.
  bool Predicates(std::vector<Expr>& scalar);
  RangeOf ranges() const {
    return c_.ranges.ranges((extent_ + plan_.lanes - 1) / plan_.lanes,
                            std::min<int64_t>(extent_, plan_.lanes));
  }
  Expr BindOp(const Expr& e);
  void Prepare();
  bool InBounds(const Expr& load) const;
  void ChooseUnrolled();
  void ChooseOrder();
  int64_t Steps(int axis) const {
    return axis == plan_.axis
               ? (op_.box[axis].extent + plan_.lanes - 1) / plan_.lanes
               : op_.box[axis].extent;
  }

  // --- The loops and positions.
  void Loops();
  void Open(int var, int64_t extent, const std::string& name, int unroll = 1);
  void Close(int var);

  // --- The positions, in the order in which they are written.
  struct Step {
    std::map<int, int64_t> at;
    int active;
    int64_t number = 0;  // in the order of the loops
    int64_t offset = 0;  // of what is read, as far as positions tell
  };
  void Positions();
  void Collect(size_t at, std::vector<Step>& steps);
  void BeginBlock();
  void FollowStream(std::vector<Step>& steps);
  bool KeepsOrder(const std::vector<Step>& steps) const;

  // --- One position.
  void Position();
  bool Accumulate(Reg old);
  std::vector<Reg> Combine(const std::vector<Reg>& a,
                           const std::vector<Reg>& b);
  std::vector<Reg> JoinLanes();
  Reg Detached(Reg value);
  Reg Get(int component);
  void Put(int component, Reg value);
  Reg MergeMask();

  // --- Asynchronous copies.
  bool CopyAsync();
  void CopyLanes(const Expr& from, Reg mask);

  // --- Groups of terms that one instruction sums.
  void ChooseDot();
  bool IsGrouped(const Expr& load, int64_t lane_stride);
  Reg DotOperand(const Expr& load, int lanes, int active);
  void AddDot(Reg old);

  // --- Values.
  Reg Value(const Expr& e);
  Reg Compute(const Expr& e);
  Reg SelectValue(const Expr& e);
  Reg Branch(const Expr& e, bool guarded, Reg outer, Reg test);
  bool NeedsGuard(const Expr& e);
  bool IsInBounds(const Expr& load) const {
    auto found = in_bounds_.find(load);
    return found != in_bounds_.end() && found->second;
  }
  bool HoldsLoad(const Expr& e);
  Reg Variable(int var);
  Reg Iota();
  Reg And(Reg a, Reg b) { return a == kNoReg ? b : b_.And(a, b); }
  Expr BindPosition(const Expr& e) const;

  // --- Accesses of memory and of register buffers.
  const AccessForm& FormOf(const Expr& load);
  void FindLanes(AccessForm& form);
  bool IsPosition(int var) const;
  PlacedAccess Place(const AccessForm& form);
  Reg OffsetOf(const LinearForm& form);
  // Lane by lane: `fn` sees scalars.
  template <typename Fn>
  void PerLane(const Fn& fn) {
    const int lanes = lanes_, active = active_;
    const Reg mask = mask_;
    std::unordered_map<Expr, Reg, ExprHash> outside = std::move(known_);
    for (int lane = 0; lane < active; ++lane) {
      known_.clear();
      lanes_ = active_ = 1;
      lane_ = lane;
      mask_ = mask == kNoReg || b_.type(mask).lanes == 1 ? mask
                                                         : b_.Lane(mask, lane);
      fn(lane, mask_);
    }
    lane_.reset();
    lanes_ = lanes;
    active_ = active;
    mask_ = mask;
    known_ = std::move(outside);
  }
  // Whether other threads may write what lies between the elements that are
  // asked for, or nobody.
  bool MayChange(int buffer) const {
    const kernel_ir::Buffer& b = c_.kernel.buffers[buffer];
    return c_.kernel.threads > 0 && (b.level == kernel_ir::Level::kScratch ||
                                     b.role == kernel_ir::Role::kOutput);
  }
  Reg LoadValue(const Expr& load, Reg mask, Reg other);
  Reg LoadAtByte(const Expr& load, Reg mask);
  Reg Gather(const Expr& load, Reg mask);

  // --- Blocks: vectors that are not contiguous, or not alone.
  const std::optional<BlockAccess>& BlockFor(bool is_store, int buffer,
                                             int rows, int64_t row_stride,
                                             int64_t lane_stride);
  std::optional<BlockAccess> PlanBlock(bool is_store, int buffer,
                                       const BlockOffsets& offsets) const;
  bool RowsAgree(const Expr& load) const;
  Reg LoadFromBlock(const Expr& load, Reg mask);
  Reg LoadWithinVector(const Expr& load, Reg mask);
  Reg LoadLanes(const Expr& load, Reg mask);
  std::optional<BlockOffsets> LanesOf(const AccessForm& form,
                                      LinearForm& first);
  std::optional<std::vector<Reg>> PieceMasks(const BlockAccess& block,
                                             const BlockOffsets& offsets,
                                             Reg mask);
  std::vector<Reg> EmitBlockLoad(const BlockAccess& block, int buffer,
                                 const LinearForm& first,
                                 const std::vector<Reg>& masks);
  void EmitBlockStore(const BlockAccess& block, int buffer,
                      const LinearForm& first, std::vector<Reg> values,
                      Reg mask);
  bool StoreInBlock(int component, Reg value);
  bool StoreLanes(int component, Reg value);
  void StorePending();
  Reg Whole(Reg value) {
    return b_.type(value).lanes == lanes_ ? value : b_.Splat(value, lanes_);
  }
  std::vector<int64_t> RegisterIndex(int buffer, absl::Span<const Expr> index,
                                     int* lane = nullptr);
  std::pair<Reg, int> RegisterAt(int buffer, absl::Span<const Expr> index);

  const kernel_ir::TileOp& op_;
  EmitContext& c_;
  kernel_ir::ScalarBuilder& b_;
  const LaneReduction* const joins_;  // may be null
  const std::vector<kernel_ir::TileAxis>& taps_;
  const DotIntrinsic* dot_;  // null: terms are added one by one
  std::optional<DotTerm> dot_term_;
  const OpPlan plan_;
  const int lane_var_, chunk_var_, row_var_;
  int axis_var_ = -1;
  int64_t extent_ = 1;  // of the vector axis

  std::vector<Expr> element_conditions_, body_, dst_index_, combine_;
  std::vector<bool> unrolled_;
  std::vector<int> order_;  // of the unrolled axes, outermost first; the vector
                            // axis, or -1, among them
  int64_t positions_ = 1;
  int depth_ = 0;
  std::vector<int64_t> chunks_;
  std::unordered_map<Expr, bool, ExprHash> in_bounds_, holds_load_;
  std::unordered_map<Expr, AccessForm, ExprHash> forms_;
  // The conditions of the selects around each load.
  std::unordered_map<Expr, std::vector<Expr>, ExprHash> guards_;
  std::map<std::tuple<bool, int, int, int, int64_t, int64_t>,
           std::optional<BlockAccess>>
      block_accesses_;

  // The current block of rows: its first one, what was loaded for all of them,
  // what is still to be stored.
  int64_t first_row_ = 0, num_rows_ = 1;
  std::unordered_map<Expr, std::map<Reg, std::vector<Reg>>, ExprHash>
      blocks_;  // by mask
  std::vector<PendingStore> pending_;

  // The current position.
  std::map<int, int64_t> at_;
  int lanes_ = 1, active_ = 1;
  std::optional<int64_t> lane_;  // set while lanes are done one by one
  Reg mask_ = kNoReg;
  std::unordered_map<Expr, Reg, ExprHash> known_;

  Prefetcher prefetcher_;
};

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_TILE_OP_EMITTER_H_
