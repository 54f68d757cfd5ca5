#include "backends/kernel_ir/analysis/lane_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "backends/kernel_ir/operands.h"
#include "base/ceil_div.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::kernel_ir {
namespace {

constexpr int64_t kWordBytes = 4;
// How NVRTC 13.0 unrolls a loop that does not say, found with loops of known
// sizes (docs/results/gpu.md): all turns, if those have so many instructions
// together, or else some of them, a power of two, with so many. A turn has two
// more than its body.
constexpr int64_t kAllTurns = 300, kSomeTurns = 150, kOfCounter = 2;
// The most of them where no power of two divides the turns.
constexpr int64_t kUnevenTurns = 8;

int64_t WordsOf(DType dtype) {
  if (dtype == DType::kBool) return 0;
  return IsFloat(dtype) ? std::max<int64_t>(1, SizeBytes(dtype) / kWordBytes)
                        : 1;
}

int64_t TripsOf(const ForInst& loop) {
  if (loop.begin != kNoReg || loop.end != kNoReg)
    return std::max(loop.unroll, 1);
  return std::max<int64_t>(
      1, CeilDiv(loop.constant_end - loop.constant_begin, loop.step));
}

}  // namespace

int64_t LaneLoop::UnrolledTurns() const {
  if (unroll > 1) return std::min(trips, unroll);
  const int64_t size = instructions + kOfCounter;
  if (trips * size <= kAllTurns) return trips;
  int64_t turns = 1;
  while (2 * turns * size <= kSomeTurns && trips % (2 * turns) == 0) turns *= 2;
  if (turns > 1) return turns;
  while (2 * turns * size <= kSomeTurns && turns < kUnevenTurns) turns *= 2;
  return turns;
}

LaneSteps::LaneSteps(const ScalarKernel& kernel)
    : kernel_(kernel), names_(kernel) {
  lanes_.resize(static_cast<size_t>(names_.lanes()));
  for (Reg reg = 0; reg < static_cast<Reg>(kernel.regs.size()); ++reg)
    for (int lane = 0; lane < kernel.regs[reg].lanes; ++lane)
      lanes_[names_.First(reg) + lane].words = WordsOf(kernel.regs[reg].dtype);
  Begin(LaneStep::kInst);
  Set(kernel.task);
  if (kernel.has_threads()) Set(kernel.thread);
  Walk(kernel.body);
  Close();
  const auto by_step = [](const auto& a, const auto& b) {
    return a.step < b.step;
  };
  std::stable_sort(loads_.begin(), loads_.end(), by_step);
  std::stable_sort(starts_.begin(), starts_.end(), by_step);
}

void LaneSteps::Close() {
  if (steps_.empty()) return;
  steps_.back().reads_end = reads_.size();
  steps_.back().sets_end = sets_.size();
}

void LaneSteps::Begin(LaneStep::Kind kind) {
  Close();
  steps_.emplace_back();
  steps_.back().kind = kind;
  if (kind != LaneStep::kInst) ++region_;
}

void LaneSteps::Keep(int lane) {
  if (branches_ > 0)
    changes_.push_back({lane, lanes_[lane].set, lanes_[lane].constant});
}

// If it was a constant it is a register from here on, or from the start of
// the outermost loop around this place that it was not set in.
void LaneSteps::Mention(int lane) {
  if (!lanes_[lane].constant) return;
  Keep(lane);
  lanes_[lane].constant = false;
  int at = Here();
  for (const int loop : around_) {
    if (loops_[loop].begin <= lanes_[lane].set) continue;
    at = loops_[loop].begin;
    break;
  }
  starts_.push_back({at, lane});
}

void LaneSteps::Set(Reg reg, bool constant) {
  for (int i = 0; i < kernel_.regs[reg].lanes; ++i) {
    const int lane = names_.First(reg) + i;
    if (!constant) Mention(lane);
    Keep(lane);
    lanes_[lane].constant = constant;
    lanes_[lane].set = Here();
    sets_.push_back(lane);
  }
}

// Through the loops around this place that it was not set in.
void LaneSteps::Carry(int lane) {
  if (around_.empty() || lanes_[lane].carried == around_.back()) return;
  for (auto loop = around_.rbegin(); loop != around_.rend(); ++loop) {
    if (loops_[*loop].begin < lanes_[lane].set) break;
    loops_[*loop].carried.push_back(lane);
    lanes_[lane].carried = around_.back();
  }
}

void LaneSteps::Read(Reg reg) {
  for (int i = 0; i < kernel_.regs[reg].lanes; ++i) {
    const int lane = names_.Of(reg, i);
    if (lane == LaneNames::kConstant) continue;
    Mention(lane);
    Carry(lane);
    reads_.push_back(lane);
    if (lanes_[lane].load >= 0) MoveLoad(loads_[lanes_[lane].load]);
  }
}

// To where it is first read: here.
void LaneSteps::MoveLoad(LaneLoad& load) {
  if (load.read) return;
  load.read = true;
  if (load.region != region_ ||
      (load.shared && load.shared_region != shared_region_))
    return;
  load.step = Here();
  if (load.offset != kNoReg) Read(load.offset);
}

void LaneSteps::AddLoad(const LoadInst& load) {
  const ScalarBuffer& buffer = kernel_.buffers[load.buffer];
  const RegType& type = kernel_.regs[load.dst];
  if (buffer.per_thread || type.is_variable) return;
  LaneLoad& added = loads_.emplace_back();
  added.first = names_.First(load.dst);
  added.lanes = type.lanes;
  added.words = type.lanes * WordsOf(type.dtype);
  added.shared = buffer.role == Role::kLocal;
  added.offset = load.offset;
  added.step = Here();
  added.region = region_;
  added.shared_region = shared_region_;
  for (int lane = 0; lane < type.lanes; ++lane)
    lanes_[added.first + lane].load = static_cast<int>(loads_.size()) - 1;
}

void LaneSteps::AddStore(const StoreInst& store) {
  const ScalarBuffer& buffer = kernel_.buffers[store.buffer];
  if (buffer.role != Role::kLocal || buffer.per_thread) return;
  steps_.back().stores_shared = true;
  ++shared_region_;
  for (const int loop : around_) loops_[loop].stores_shared = true;
}

void LaneSteps::Walk(const std::vector<Inst>& body) {
  for (const Inst& inst : body) {
    if (std::holds_alternative<PrefetchInst>(inst.node) || names_.Add(inst))
      continue;
    if (const auto* loop = std::get_if<ForInst>(&inst.node)) {
      WalkLoop(inst, *loop);
    } else if (const auto* branch = std::get_if<IfInst>(&inst.node)) {
      WalkBranches(*branch);
    } else if (std::holds_alternative<BarrierInst>(inst.node)) {
      Begin(LaneStep::kBarrier);
      for (const int around : around_) loops_[around].barriers = true;
    } else {
      AddInst(inst);
    }
  }
}

void LaneSteps::AddInst(const Inst& inst) {
  Begin(LaneStep::kInst);
  for (const Reg reg : Reads(inst)) Read(reg);
  const Reg dst = Sets(inst);
  if (dst != kNoReg)
    Set(dst, kernel_.regs[dst].is_variable && names_.IsConstant(inst));
  int64_t instructions = dst == kNoReg ? 1 : kernel_.regs[dst].lanes;
  if (const auto* load = std::get_if<LoadInst>(&inst.node)) {
    AddLoad(*load);
    instructions = 1;
  } else if (const auto* store = std::get_if<StoreInst>(&inst.node)) {
    AddStore(*store);
  }
  if (!around_.empty()) loops_[around_.back()].instructions += instructions;
}

void LaneSteps::WalkLoop(const Inst& inst, const ForInst& loop) {
  const int id = static_cast<int>(loops_.size());
  if (!around_.empty()) loops_[around_.back()].innermost = false;
  Begin(LaneStep::kLoop);
  steps_.back().loop = id;
  LaneLoop& added = loops_.emplace_back();
  added.begin = Here();
  added.trips = TripsOf(loop);
  added.unroll = loop.unroll;
  added.carried.push_back(names_.First(loop.var));
  around_.push_back(id);
  for (const Reg bound : Reads(inst)) Read(bound);
  Set(loop.var);
  Walk(loop.body);
  around_.pop_back();
  Begin(LaneStep::kLoopEnd);
  steps_.back().loop = id;
}

void LaneSteps::WalkBranches(const IfInst& branch) {
  Begin(LaneStep::kIf);
  Read(branch.condition);
  std::vector<int> registers;
  WalkBranch(branch.then_body, registers);
  Begin(LaneStep::kElse);
  WalkBranch(branch.else_body, registers);
  Begin(LaneStep::kEndIf);
  for (const int lane : registers) {
    Keep(lane);
    lanes_[lane].constant = false;
  }
}

// Adds constants that are none behind it.
void LaneSteps::WalkBranch(const std::vector<Inst>& body,
                           std::vector<int>& registers) {
  const size_t before = changes_.size();
  ++branches_;
  Walk(body);
  --branches_;
  for (size_t i = before; i < changes_.size(); ++i) {
    const int lane = changes_[i].lane;
    if (changes_[i].constant && !lanes_[lane].constant)
      registers.push_back(lane);
  }
  for (; changes_.size() > before; changes_.pop_back()) {
    Lane& lane = lanes_[changes_.back().lane];
    lane.set = changes_.back().set;
    lane.constant = changes_.back().constant;
  }
}

}  // namespace tilewright::kernel_ir
