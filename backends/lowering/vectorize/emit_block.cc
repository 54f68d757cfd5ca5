// Blocks of vectors: what is contiguous along another axis than the vectors, or
// has a stride, moves as whole vectors of memory and is shuffled into place.
#include <algorithm>
#include <utility>

#include "backends/lowering/tile/tile_rewrite.h"
#include "backends/lowering/vectorize/access_cost.h"
#include "backends/lowering/vectorize/tile_op_emitter.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/interval.h"

namespace tilewright::lowering {

// How `rows` vectors are moved whose rows and lanes lie so far apart.
const std::optional<BlockAccess>& OpEmitter::BlockFor(bool is_store, int buffer,
                                                      int rows,
                                                      int64_t row_stride,
                                                      int64_t lane_stride) {
  auto [found, inserted] = block_accesses_.try_emplace(
      {is_store, buffer, rows, active_, row_stride, lane_stride});
  if (!inserted) return found->second;
  found->second =
      PlanBlock(is_store, buffer,
                StridedBlock(rows, lanes_, active_, row_stride, lane_stride));
  return found->second;
}

// nullopt if one lane after the other is no slower.
std::optional<BlockAccess> OpEmitter::PlanBlock(
    bool is_store, int buffer, const BlockOffsets& offsets) const {
  const DType dtype = c_.kernel.buffers[buffer].dtype;
  const int64_t bytes = RegisterBytes(dtype);
  const int widest = std::max(lanes_, MaxLanes(c_.target, dtype));
  std::optional<BlockAccess> block =
      is_store ? PlanBlockStore(offsets, bytes, widest)
               : PlanBlockLoad(offsets, bytes, widest);
  if (block && block->cost() >= static_cast<double>(offsets.size()) *
                                    CostOneByOne(active_, is_store))
    block.reset();
  return block;
}

// Whether a load happens for all rows of the block if it does for one.
bool OpEmitter::RowsAgree(const Expr& load) const {
  if (IsInBounds(load)) return true;
  const auto mentions = [&](const std::vector<Expr>& conditions) {
    return std::any_of(conditions.begin(), conditions.end(),
                       [&](const Expr& e) { return Mentions(e, row_var_); });
  };
  const auto guards = guards_.find(load);
  return !mentions(element_conditions_) &&
         (guards == guards_.end() || !mentions(guards->second));
}

namespace {

// The coefficient of a variable that positions set.
int64_t Moves(const AccessForm& form, int var) {
  for (const auto& [moving, coefficient] : form.moving) {
    if (moving == var) return coefficient;
  }
  return 0;
}

}  // namespace

// The position's vector out of a block of all rows; kNoReg if there is no such
// block, or a smaller one is as good.
Reg OpEmitter::LoadFromBlock(const Expr& load, Reg mask) {
  const AccessForm& form = FormOf(load);
  const bool per_lane = mask != kNoReg && b_.type(mask).lanes > 1;
  if (plan_.row < 0 || !form.linear || per_lane || !RowsAgree(load))
    return kNoReg;
  const int64_t row = at_.at(row_var_) - first_row_;
  std::vector<Reg>& values = blocks_[load][mask];
  if (!values.empty()) return values[row];
  const int64_t row_stride = Moves(form, row_var_);
  const int rows = static_cast<int>(num_rows_);
  if (row_stride == 0) return kNoReg;
  const std::optional<BlockAccess>& block =
      BlockFor(false, load.source(), rows, row_stride, form.lane);
  const std::optional<BlockAccess>& alone =
      BlockFor(false, load.source(), 1, 0, form.lane);
  if (!block || (alone && rows * alone->cost() <= block->cost())) return kNoReg;
  LinearForm first = Place(form).rest;
  first.constant -= row_stride * row;
  values = EmitBlockLoad(*block, load.source(), first,
                         std::vector<Reg>(block->pieces.size(), mask));
  return values[row];
}

// Where the lanes lie, in elements from `first`, the place of the first one;
// nullopt if that is not constant.
std::optional<BlockOffsets> OpEmitter::LanesOf(const AccessForm& form,
                                               LinearForm& first) {
  const PlacedAccess placed = Place(form);
  if (placed.lane) {
    first = placed.rest;
    return StridedBlock(1, lanes_, active_, 0, *placed.lane);
  }
  const RangeOf ranges =
      c_.ranges.ranges((extent_ + plan_.lanes - 1) / plan_.lanes, active_);
  const Expr bound = BindPosition(form.offset);
  first = ToLinear(Substitute(bound,
                              [&](int var) {
                                return var == lane_var_ ? Expr::Int(0) : Expr();
                              }),
                   ranges);
  const auto distances = LaneDistances(bound, lane_var_, active_, ranges);
  if (!distances) return std::nullopt;
  BlockOffsets offsets(1, {distances->begin(), distances->end()});
  offsets[0].resize(lanes_);
  return offsets;
}

// The position's lanes out of one vector of memory at a multiple of its size,
// which other positions pick theirs from: the channels of small groups. kNoReg
// if they do not lie in one.
Reg OpEmitter::LoadWithinVector(const Expr& load, Reg mask) {
  const AccessForm& form = FormOf(load);
  const int buffer = c_.memory[load.source()];
  if (form.distances.empty() || b_.buffer(buffer).elements % lanes_ != 0 ||
      (mask != kNoReg && b_.type(mask).lanes > 1))
    return kNoReg;
  LinearForm first = form.first;
  for (const auto& [var, coefficient] : form.moving)
    first.constant += coefficient * at_.at(var);
  for (const auto& [term, coefficient] : first.terms) {
    if (coefficient % lanes_ != 0) return kNoReg;
  }
  const int64_t begin = FloorModulo(first.constant, lanes_);
  std::vector<int> lanes(lanes_, 0);
  for (int i = 0; i < active_; ++i) {
    const int64_t lane = begin + form.distances[i];
    if (lane < 0 || lane >= lanes_) return kNoReg;
    lanes[i] = static_cast<int>(lane);
  }
  first.constant -= begin;
  const Reg vector =
      b_.Load(buffer, OffsetOf(first), first.constant, lanes_, 0, mask, kNoReg);
  return b_.Shuffle(vector, vector, lanes);
}

// The position's vector by itself: with a stride, in reverse, or any other
// constant pattern. kNoReg if lane by lane is no slower.
Reg OpEmitter::LoadLanes(const Expr& load, Reg mask) {
  LinearForm first;
  const std::optional<BlockOffsets> offsets = LanesOf(FormOf(load), first);
  if (!offsets) return kNoReg;
  const std::optional<BlockAccess> block =
      PlanBlock(false, load.source(), *offsets);
  if (!block) return kNoReg;
  const std::optional<std::vector<Reg>> masks =
      PieceMasks(*block, *offsets, mask);
  if (!masks) return kNoReg;
  return EmitBlockLoad(*block, load.source(), first, *masks)[0];
}

// Each lane of memory is touched where the lane of the block that takes it is;
// nullopt if several take it.
std::optional<std::vector<Reg>> OpEmitter::PieceMasks(
    const BlockAccess& block, const BlockOffsets& offsets, Reg mask) {
  if (mask == kNoReg || b_.type(mask).lanes == 1)
    return std::vector<Reg>(block.pieces.size(), mask);
  std::map<int64_t, int> taker;
  for (int i = 0; i < lanes_; ++i) {
    if (offsets[0][i] && !taker.insert({*offsets[0][i], i}).second)
      return std::nullopt;
  }
  const Reg none = b_.Bool(false, lanes_);
  std::vector<Reg> masks;
  for (const BlockAccess::Piece& piece : block.pieces) {
    std::vector<int> lanes;
    for (int i = 0; i < block.lanes; ++i) {
      const auto found = taker.find(piece.offset + i);
      lanes.push_back(found == taker.end() ? lanes_ : found->second);
    }
    masks.push_back(b_.Shuffle(mask, none, lanes));
  }
  return masks;
}

std::vector<Reg> OpEmitter::EmitBlockLoad(const BlockAccess& block, int buffer,
                                          const LinearForm& first,
                                          const std::vector<Reg>& masks) {
  const Reg offset = OffsetOf(first);
  std::vector<Reg> values(block.pieces.size(), kNoReg);
  // Loaded where first needed: fewer wait.
  const auto value = [&](int number) {
    if (values[number] == kNoReg) {
      const BlockAccess::Piece& piece = block.pieces[number];
      values[number] =
          b_.Load(c_.memory[buffer], offset, first.constant + piece.offset,
                  block.lanes, piece.active, masks[number]);
    }
    return values[number];
  };
  for (const LaneMoves::Step& step : block.moves.steps) {
    const Reg a = value(step.a), b = value(step.b);
    values.push_back(b_.Shuffle(a, b, step.lanes));
  }
  std::vector<Reg> results;
  for (int result : block.moves.results) results.push_back(value(result));
  return results;
}

void OpEmitter::EmitBlockStore(const BlockAccess& block, int buffer,
                               const LinearForm& first, std::vector<Reg> values,
                               Reg mask) {
  const Reg offset = OffsetOf(first);
  for (const LaneMoves::Step& step : block.moves.steps) {
    values.push_back(b_.Shuffle(values[step.a], values[step.b], step.lanes));
  }
  for (size_t i = 0; i < block.pieces.size(); ++i) {
    b_.Store(c_.memory[buffer], offset, first.constant + block.pieces[i].offset,
             values[block.moves.results[i]], block.pieces[i].active, mask);
  }
}

// Keeps the value until its block is complete; false if there is no block.
bool OpEmitter::StoreInBlock(int component, Reg value) {
  const int buffer = op_.dst[component];
  const AccessForm& form =
      FormOf(Expr::Load(buffer, c_.kernel.buffers[buffer].dtype, dst_index_));
  if (plan_.row < 0 || !form.linear || mask_ != kNoReg) return false;
  const int64_t row_stride = Moves(form, row_var_);
  if (row_stride == 0 || !BlockFor(true, buffer, static_cast<int>(num_rows_),
                                   row_stride, form.lane))
    return false;
  pending_.push_back({component, Whole(value), Place(form).rest, form.lane});
  return true;
}

// Stores the vectors that wait.
void OpEmitter::StorePending() {
  for (int component = 0; component < static_cast<int>(op_.dst.size());
       ++component) {
    std::vector<PendingStore> stores;
    for (const PendingStore& store : pending_) {
      if (store.component == component) stores.push_back(store);
    }
    if (stores.empty()) continue;
    const int buffer = op_.dst[component];
    BlockOffsets offsets;
    std::vector<Reg> values;
    for (const PendingStore& store : stores) {
      const int64_t row = store.first.constant - stores[0].first.constant;
      offsets.emplace_back(lanes_);
      for (int i = 0; i < active_; ++i)
        offsets.back()[i] = row + i * store.lane;
      values.push_back(store.value);
    }
    const std::optional<BlockAccess> block = PlanBlock(true, buffer, offsets);
    if (block) {
      EmitBlockStore(*block, buffer, stores[0].first, std::move(values),
                     kNoReg);
      continue;
    }
    const Reg offset = OffsetOf(stores[0].first);
    for (const PendingStore& store : stores) {
      for (int i = 0; i < active_; ++i) {
        b_.Store(c_.memory[buffer], offset,
                 store.first.constant + i * store.lane,
                 b_.Lane(store.value, i));
      }
    }
  }
  pending_.clear();
}

// The position's vector by itself, where its lanes form runs.
bool OpEmitter::StoreLanes(int component, Reg value) {
  if (mask_ != kNoReg && b_.type(mask_).lanes > 1) return false;
  const int buffer = op_.dst[component];
  const AccessForm& form =
      FormOf(Expr::Load(buffer, c_.kernel.buffers[buffer].dtype, dst_index_));
  LinearForm first;
  const std::optional<BlockOffsets> offsets = LanesOf(form, first);
  if (!offsets) return false;
  const std::optional<BlockAccess> block = PlanBlock(true, buffer, *offsets);
  if (!block) return false;
  EmitBlockStore(*block, buffer, first, {Whole(value)}, mask_);
  return true;
}

}  // namespace tilewright::lowering
