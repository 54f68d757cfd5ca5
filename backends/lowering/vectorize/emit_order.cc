// The order in which the positions of a tile operation are written.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "backends/lowering/tile/tile_rewrite.h"
#include "backends/lowering/vectorize/tile_op_emitter.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {

using kernel_ir::TileAxis;
using kernel_ir::TileOp;

// The order in which the fewest loaded values wait for their next use: with
// accumulators for all positions in registers, what waits is spilled. A load
// that an axis does not change waits through that axis, once for each
// position of the axes inside that do change it.
void OpEmitter::ChooseOrder() {
  for (size_t i = 0; i < op_.box.size(); ++i) {
    const int axis = static_cast<int>(i);
    if (unrolled_[i] && axis != plan_.axis && axis != plan_.row)
      order_.push_back(axis);
  }
  order_.push_back(plan_.axis);  // -1 for no vector axis: one position
  if (plan_.row >= 0) {          // the rows of a block follow each other
    order_.push_back(plan_.row);
    return;
  }
  if (order_.size() > 6 || op_.phase == TileOp::Phase::kInit ||
      plan_.axis < 0 || !unrolled_[plan_.axis])
    return;
  std::vector<Expr> loads;
  for (const Expr& body : op_.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() == Op::kLoad && c_.memory[e.source()] >= 0) loads.push_back(e);
    });
  }
  auto waiting = [&](const std::vector<int>& order) {
    int64_t total = 0;
    for (const Expr& load : loads) {
      int64_t values = 1;
      bool shared = false;
      for (int axis : order) {
        if (Steps(axis) == 1) continue;
        if (!Mentions(load, op_.box[axis].var)) {
          shared = true;
        } else if (shared) {
          values *= Steps(axis);
        }
      }
      total += values;
    }
    return total;
  };
  std::vector<int> candidate = order_, positions(order_.size());
  for (size_t i = 0; i < positions.size(); ++i)
    positions[i] = static_cast<int>(i);
  const std::vector<int> original = order_;
  int64_t best = waiting(order_);
  while (std::next_permutation(positions.begin(), positions.end())) {
    for (size_t i = 0; i < positions.size(); ++i)
      candidate[i] = original[positions[i]];
    const int64_t total = waiting(candidate);
    if (total < best) {
      best = total;
      order_ = candidate;
    }
  }
}

void OpEmitter::Positions() {
  std::vector<Step> steps;
  at_.clear();
  Collect(0, steps);
  // Threads load windows at once (passes/join_loads.h), whatever the order.
  if (plan_.row < 0 && c_.kernel.threads == 0) FollowStream(steps);
  for (Step& step : steps) {
    const bool first = plan_.row >= 0 && step.at.at(row_var_) % plan_.rows == 0;
    if (first) StorePending();
    at_ = std::move(step.at);
    lanes_ = plan_.lanes;
    active_ = step.active;
    if (first) BeginBlock();
    Position();
  }
  StorePending();
  at_.clear();
}

// The current position is the first of a block of rows.
void OpEmitter::BeginBlock() {
  blocks_.clear();
  first_row_ = at_.at(row_var_);
  num_rows_ =
      std::min<int64_t>(plan_.rows, op_.box[plan_.row].extent - first_row_);
}

// The positions from axis `at` on, taps counted first.
void OpEmitter::Collect(size_t at, std::vector<Step>& steps) {
  if (at < taps_.size()) {
    const int64_t extent = dot_ == nullptr ? taps_[at].extent : 1;
    for (int64_t i = 0; i < extent; ++i) {
      at_[taps_[at].var] = i;
      Collect(at + 1, steps);
    }
    at_.erase(taps_[at].var);
    return;
  }
  if (at == taps_.size() + order_.size()) {
    const auto chunk = at_.find(chunk_var_);
    const int64_t left = chunk == at_.end()
                             ? plan_.lanes
                             : extent_ - chunk->second * plan_.lanes;
    steps.push_back(
        {at_, static_cast<int>(std::min<int64_t>(plan_.lanes, left))});
    return;
  }
  const int axis = order_[at - taps_.size()];
  if (axis == plan_.axis || axis < 0) {
    for (int64_t chunk : chunks_) {
      if (chunk >= 0) at_[chunk_var_] = chunk;
      Collect(at + 1, steps);
      at_.erase(chunk_var_);
    }
    return;
  }
  for (int64_t i = 0; i < op_.box[axis].extent; ++i) {
    at_[op_.box[axis].var] = i;
    Collect(at + 1, steps);
  }
  at_.erase(op_.box[axis].var);
}

// Neighbouring outputs read overlapping windows. Where the positions follow
// the addresses of what they read, each element is loaded once, used by all
// outputs it belongs to, and gone: the next operation loads it anew.
void OpEmitter::FollowStream(std::vector<Step>& steps) {
  if (taps_.empty() || dot_ != nullptr) return;
  const AccessForm* stream = nullptr;
  for (const Expr& body : body_) {
    Visit(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad || c_.memory[e.source()] < 0) return;
      const AccessForm& form = FormOf(e);
      const auto moves = [&](const TileAxis& axis) {
        return axis.extent > 1 && Mentions(e, axis.var);
      };
      if (stream == nullptr && form.even &&
          std::any_of(taps_.begin(), taps_.end(), moves) &&
          std::any_of(op_.box.begin(), op_.box.end(), moves))
        stream = &form;
    });
  }
  if (stream == nullptr) return;
  b_.ForgetLoads(c_.memory[stream->buffer]);
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].number = static_cast<int64_t>(i);
    for (const auto& [var, coefficient] : stream->moving) {
      const auto at = steps[i].at.find(var);
      if (at != steps[i].at.end()) steps[i].offset += coefficient * at->second;
    }
  }
  const std::vector<Step> original = steps;
  std::stable_sort(
      steps.begin(), steps.end(),
      [](const Step& a, const Step& b) { return a.offset < b.offset; });
  if (!KeepsOrder(steps)) steps = original;
}

// Whether each output still sees its window in the order of the loops: that
// order decides how a sum is rounded.
bool OpEmitter::KeepsOrder(const std::vector<Step>& steps) const {
  int64_t taps = 1;
  for (const TileAxis& tap : taps_) taps *= tap.extent;
  const int64_t outputs = static_cast<int64_t>(steps.size()) / taps;
  std::vector<int64_t> last(outputs, -1);
  for (const Step& step : steps) {
    int64_t& before = last[step.number % outputs];
    if (step.number < before) return false;
    before = step.number;
  }
  return true;
}

}  // namespace tilewright::lowering
