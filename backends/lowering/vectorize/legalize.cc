#include "backends/lowering/vectorize/legalize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/analysis/verify_waits.h"
#include "backends/kernel_ir/builder.h"
#include "backends/lowering/passes/hoist_invariants.h"
#include "backends/lowering/threads/pipeline_steps.h"
#include "backends/lowering/threads/place_barriers.h"
#include "backends/lowering/threads/swizzle_rows.h"
#include "backends/lowering/threads/thread_ops.h"
#include "backends/lowering/threads/thread_plan.h"
#include "backends/lowering/threads/version_steps.h"
#include "backends/lowering/tile/kernel_ranges.h"
#include "backends/lowering/vectorize/branch_selects.h"
#include "backends/lowering/vectorize/cut_blocks.h"
#include "backends/lowering/vectorize/decide_selects.h"
#include "backends/lowering/vectorize/emit_threads.h"
#include "backends/lowering/vectorize/emit_tile_op.h"
#include "backends/lowering/vectorize/vector_plan.h"
#include "base/status_macros.h"
#include "sketch/tree/thread_loops.h"
#include "tilegraph/ir/intrinsics.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using kernel_ir::ScalarKernel;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;
using sketch::kWarpLanes;

namespace {

// Loops marked for unrolling stay loops beyond this many copies of their body's
// operations.
constexpr int64_t kMaxUnrolledOps = 64;
// Vectors that may stay in registers all through a loop besides its
// accumulators.
constexpr int kMaxHoistedVectors = 10;

int64_t CountOps(const std::vector<Stmt>& stmts) {
  int64_t count = 0;
  for (const Stmt& stmt : stmts) {
    if (const auto* loop = std::get_if<For>(&stmt.node)) {
      count += CountOps(loop->body);
    } else if (const auto* branch = std::get_if<If>(&stmt.node)) {
      count += CountOps(branch->then_body) + CountOps(branch->else_body);
    } else {
      ++count;
    }
  }
  return count;
}

class Legalizer {
 public:
  Legalizer(EmitContext& context, const ThreadCode* threads) : c_(context) {
    if (threads != nullptr) threads_.emplace(context, *threads);
  }

  void Kernel() {
    const std::vector<Stmt>* body = &c_.kernel.body;
    std::vector<const For*> tasks;
    while (body->size() == 1) {
      const auto* loop = std::get_if<For>(&body->front().node);
      if (loop == nullptr || loop->kind != For::Kind::kTask) break;
      tasks.push_back(loop);
      body = &loop->body;
    }
    if (threads_) threads_->Begin();
    int64_t below = c_.kernel.num_tasks();
    for (size_t i = 0; i < tasks.size(); ++i) {
      const int64_t above = below;
      below /= tasks[i]->extent;
      LoopValue value;
      value.depth = static_cast<int>(i);
      value.task_extent = tasks[i]->extent;
      if (tasks[i]->extent > 1) {
        value.reg = c_.builder.task();
        if (below > 1)
          value.reg = c_.builder.Emit(Op::kFloorDiv,
                                      {value.reg, c_.builder.Int(below)});
        if (above < c_.kernel.num_tasks())
          value.reg = c_.builder.Emit(
              Op::kFloorMod, {value.reg, c_.builder.Int(tasks[i]->extent)});
      }
      c_.loops[tasks[i]->var] = value;
    }
    Stmts(*body, static_cast<int>(tasks.size()));
  }

 private:
  void Stmts(const std::vector<Stmt>& stmts, int depth) {
    for (const Stmt& stmt : stmts) {
      if (!threads_ || threads_->parted()) {
        One(stmt, depth);
        continue;
      }
      threads_->Before(stmt);
      if (HoldsThreads(stmt)) {
        One(stmt, depth);
      } else {
        threads_->BeginFirst();
        One(stmt, depth + 1);
        threads_->EndFirst();
      }
    }
  }

  void One(const Stmt& stmt, int depth) {
    if (const auto* loop = std::get_if<For>(&stmt.node)) {
      Loop(*loop, depth);
    } else if (const auto* branch = std::get_if<If>(&stmt.node)) {
      Branch(*branch, depth);
    } else {
      EmitTileOp(std::get<TileOp>(stmt.node), c_);
    }
  }

  // The reduction's update that unrolled loops stand directly around.
  const TileOp* UnrolledUpdate(const For& loop,
                               std::vector<TileAxis>& taps) const {
    if (loop.kind != For::Kind::kUnroll || loop.body.size() != 1 ||
        c_.plan.lane_reductions.count(&loop) > 0)
      return nullptr;
    taps.push_back({loop.var, loop.name, loop.extent});
    if (const auto* inner = std::get_if<For>(&loop.body[0].node))
      return UnrolledUpdate(*inner, taps);
    const auto* op = std::get_if<TileOp>(&loop.body[0].node);
    if (op == nullptr || op->phase != TileOp::Phase::kUpdate) return nullptr;
    int64_t count = 1;
    for (const TileAxis& tap : taps) count *= tap.extent;
    return count <= kMaxUnrolledOps ? op : nullptr;
  }

  // The update of an intrinsic whose terms the loop runs over.
  const DotIntrinsic* DotAround(const For& loop) const {
    const TileOp* op = loop.body.size() == 1
                           ? std::get_if<TileOp>(&loop.body[0].node)
                           : nullptr;
    if (op == nullptr || op->phase != TileOp::Phase::kUpdate) return nullptr;
    const DotIntrinsic* dot = FindDotIntrinsic(op->intrinsic);
    const std::vector<std::string>& has = c_.target.intrinsics;
    if (dot == nullptr || loop.extent != dot->group ||
        std::find(has.begin(), has.end(), dot->name) == has.end())
      return nullptr;
    return dot;
  }

  void Loop(const For& loop, int depth) {
    if (loop.kind == For::Kind::kThread) {
      threads_->BeginLoop(loop, depth);
      Stmts(loop.body, depth + 1);
      threads_->EndLoop(loop);
      return;
    }
    const auto joins = c_.plan.lane_reductions.find(&loop);
    if (joins != c_.plan.lane_reductions.end()) {
      EmitTileOp(*joins->second.op, c_, {&joins->second, {}, nullptr});
      return;
    }
    LoopsAround around;
    around.dot = DotAround(loop);
    if (around.dot != nullptr) {
      around.taps = {{loop.var, loop.name, loop.extent}};
      EmitTileOp(std::get<TileOp>(loop.body[0].node), c_, around);
      return;
    }
    if (const TileOp* update = UnrolledUpdate(loop, around.taps)) {
      EmitTileOp(*update, c_, around);
      return;
    }
    const bool small = loop.extent * CountOps(loop.body) <= kMaxUnrolledOps;
    if (loop.extent == 1 || c_.plan.constant_vars.count(loop.var) ||
        (loop.kind == For::Kind::kUnroll && small)) {
      for (int64_t i = 0; i < loop.extent; ++i) {
        LoopValue value;
        value.constant = i;
        value.depth = depth;
        c_.loops[loop.var] = value;
        Iteration(loop, depth);
      }
    } else {
      LoopValue value;
      value.depth = depth;
      value.reg =
          c_.builder.BeginFor(0, loop.extent, 1, Unrolled(loop), loop.name);
      value.prefetch = loop.hints.prefetch;
      c_.loops[loop.var] = value;
      Iteration(loop, depth);
      c_.builder.EndFor();
    }
    c_.loops.erase(loop.var);
  }

  // What it copies asynchronously makes a group; a step waits for its own.
  void Iteration(const For& loop, int depth) {
    const For::Turns& turns = loop.turns;
    if (turns.async && !turns.ahead)
      c_.builder.Wait(static_cast<int>(turns.versions - 2));
    Stmts(loop.body, depth + 1);
    if (turns.async) c_.builder.Commit();
  }

  // Copies of the body in a row: what the schedule asks for, else some of what
  // stands directly around an update. Loops around a group of terms are long
  // enough as they are, and further copies would hold more values at once.
  int Unrolled(const For& loop) {
    const auto* op = loop.body.size() == 1
                         ? std::get_if<TileOp>(&loop.body[0].node)
                         : nullptr;
    const bool update = op != nullptr && op->phase == TileOp::Phase::kUpdate;
    int wanted = update ? std::max(1, c_.target.unroll_reduce) : 1;
    if (loop.hints.unroll > 0) wanted = loop.hints.unroll;
    const int copies = static_cast<int>(std::min<int64_t>(loop.extent, wanted));
    if (update || loop.hints.unroll > 0) {
      int& most = c_.report.unrolled[loop.name];
      most = std::max(most, copies);
    }
    return copies;
  }

  void Branch(const If& branch, int depth) {
    const Expr condition = c_.BindLoops(branch.condition);
    if (condition.op() == Op::kConst) {
      Stmts(condition.int_value() != 0 ? branch.then_body : branch.else_body,
            depth);
      return;
    }
    c_.builder.BeginIf(c_.EmitScalar(condition));
    Stmts(branch.then_body, depth + 1);
    if (!branch.else_body.empty()) {
      c_.builder.BeginElse();
      Stmts(branch.else_body, depth + 1);
    }
    c_.builder.EndIf();
  }

  EmitContext& c_;
  std::optional<ThreadEmitter> threads_;  // if the kernel has threads
};

// With `initialise`, every register variable starts a task as zero: wanted
// where branches make it unclear that each is written first.
ScalarKernel Build(
    const Kernel& kernel, const VectorTarget& target,
    const KernelRanges& ranges, const VectorPlan& plan,
    const ThreadCode* threads, bool initialise,
    const std::vector<std::pair<int, std::vector<int64_t>>>& variables,
    EmitContext* used) {
  ScalarBuilder builder(kernel.name, kernel.num_tasks());
  if (threads != nullptr)
    builder.AddThreads(kernel.threads, static_cast<int>(kWarpLanes));
  EmitContext context{kernel, target, ranges, plan, builder, {}, {}, {}, {}};
  context.memory.assign(kernel.buffers.size(), -1);
  for (const kernel_ir::Buffer& b : kernel.buffers) {
    if (b.level == Level::kGlobal)
      context.memory[b.id] = builder.AddArgument(b.name, b.dtype, b.role,
                                                 b.layout.physical_elements());
  }
  for (const kernel_ir::Buffer& b : kernel.buffers) {
    if (b.level == Level::kGlobal || plan.registers.count(b.id) > 0) continue;
    const bool own = threads != nullptr && threads->plan.own.count(b.id) > 0;
    const int64_t elements = b.layout.physical_elements();
    context.memory[b.id] = own ? builder.AddPerThread(b.name, b.dtype, elements)
                               : builder.AddScratch(b.name, b.dtype, elements);
  }
  if (initialise) {
    for (const auto& [buffer, index] : variables) {
      const Reg variable = context.Variable(buffer, index);
      const kernel_ir::RegType type = builder.type(variable);
      builder.Assign(variable, IsFloat(type.dtype)
                                   ? builder.Float(0, type.dtype, type.lanes)
                                   : builder.Int(0, type.dtype, type.lanes));
    }
  }
  Legalizer(context, threads).Kernel();
  if (used != nullptr) {
    used->variables = std::move(context.variables);
    used->report = std::move(context.report);
  }
  ScalarKernel scalar = std::move(builder).Finish();
  for (const kernel_ir::Buffer& b : kernel.buffers) {
    if (context.memory[b.id] < 0) continue;
    kernel_ir::ScalarBuffer& buffer = scalar.buffers[context.memory[b.id]];
    buffer.streamed = b.streamed;
    buffer.versions = b.versions;
  }
  return scalar;
}

// `versions`: whether steps may have buffers of their own.
absl::StatusOr<ScalarKernel> LegalizeIn(const Kernel& tiles,
                                        const VectorTarget& target,
                                        bool versions, LegalizeReport* report) {
  if (target.vector_bytes < 4 ||
      (target.vector_bytes & (target.vector_bytes - 1)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("legalize: vectors of ", target.vector_bytes,
                     " bytes; must be a power of two from 4"));
  }
  Kernel kernel = tiles;
  ThreadCode threads;
  int copies_ahead = 0;
  if (kernel.threads > 0) {
    if (versions) copies_ahead = VersionSteps(kernel);
    versions = copies_ahead > 0;
    copies_ahead += PipelineSteps(kernel);
    TW_ASSIGN_OR_RETURN(threads.plan, PlanThreads(kernel));
  }
  SwizzleRows(kernel, threads.plan.own);
  BranchOnSelects(kernel, target);
  DecideSelects(kernel, target);
  CutBlocks(kernel, target);
  const KernelRanges ranges(kernel);
  const VectorPlan plan = PlanVectors(kernel, ranges, target);
  if (kernel.threads > 0)
    threads.barriers = PlaceBarriers(kernel, SharedBuffers(kernel, threads));
  const ThreadCode* code = kernel.threads > 0 ? &threads : nullptr;
  ScalarBuilder none(kernel.name);
  EmitContext used{kernel, target, ranges, plan, none, {}, {}, {}, {}};
  ScalarKernel scalar =
      Build(kernel, target, ranges, plan, code, false, {}, &used);
  if (!VerifyScalarKernel(scalar).ok()) {
    std::vector<std::pair<int, std::vector<int64_t>>> variables;
    for (const auto& [key, reg] : used.variables) variables.push_back(key);
    scalar =
        Build(kernel, target, ranges, plan, code, true, variables, nullptr);
  }
  HoistInvariants(scalar, kMaxHoistedVectors);
  TW_RETURN_IF_ERROR(VerifyScalarKernel(scalar));
  // Ranges may say too little of masked accesses.
  if (versions && !VerifyWaits(scalar).ok())
    return LegalizeIn(tiles, target, /*versions=*/false, report);
  if (report != nullptr) {
    *report = used.report;
    report->copies_ahead = copies_ahead;
    report->demoted = plan.demoted;
    report->demoted.insert(report->demoted.end(), threads.plan.demoted.begin(),
                           threads.plan.demoted.end());
  }
  return scalar;
}

}  // namespace

absl::StatusOr<ScalarKernel> Legalize(const Kernel& tiles,
                                      const VectorTarget& target,
                                      LegalizeReport* report) {
  return LegalizeIn(tiles, target, /*versions=*/true, report);
}

}  // namespace tilewright::lowering
