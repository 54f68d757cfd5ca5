#include "backends/lowering/vectorize/prefetcher.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "backends/lowering/tile/tile_rewrite.h"
#include "base/ceil_div.h"
#include "base/memory_units.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/interval.h"

namespace tilewright::lowering {

using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::TileOp;

namespace {

// Blocks that a prefetched line comes before its use.
constexpr int64_t kBlocksAhead = 2;

// The lines that hold the elements of `reads`, if they follow each other; else
// 0.
int64_t LinesInARow(const std::map<int64_t, LinearForm>& reads, int64_t line) {
  std::set<int64_t> lines;
  for (const auto& [constant, form] : reads)
    lines.insert(FloorDivide(constant, line));
  const int64_t n = static_cast<int64_t>(lines.size());
  return *lines.rbegin() - *lines.begin() == n - 1 ? n : 0;
}

template <typename Test>  // of a load
bool AnyLoad(const Expr& expr, const Test& test) {
  bool any = false;
  Visit(expr,
        [&](const Expr& e) { any = any || (e.op() == Op::kLoad && test(e)); });
  return any;
}

}  // namespace

Prefetcher::Prefetcher(const TileOp& op, EmitContext& context,
                       EmitOffset emit_offset)
    : op_(op), c_(context), emit_offset_(std::move(emit_offset)) {}

void Prefetcher::Emit() {
  if (!IsUpdate() && !IsMapInMemory()) return;
  ForgetClosedLoops(vector_reads_);
  ForgetClosedLoops(scalar_reads_);
  const std::optional<int64_t> asked = AsAsked();
  if (asked == 0 || !IsUpdate() || c_.target.prefetch_above_bytes == 0) return;
  NextShare();
  if (!asked) NextBlock();
}

// Maps of accumulators belong to the update that made them.
bool Prefetcher::IsMapInMemory() const {
  return op_.phase == TileOp::Phase::kMap &&
         std::none_of(op_.body.begin(), op_.body.end(), [&](const Expr& body) {
           return AnyLoad(body, [&](const Expr& load) {
             return c_.memory[load.source()] < 0;
           });
         });
}

bool Prefetcher::ExceedsCache(const kernel_ir::Buffer& buffer) const {
  return buffer.layout.physical_elements() * SizeBytes(buffer.dtype) >
         c_.target.prefetch_above_bytes;
}

std::vector<int> Prefetcher::Loops() const {
  std::vector<int> vars;
  for (const auto& [var, value] : c_.loops) {
    if (value.reg != kNoReg) vars.push_back(var);
  }
  std::sort(vars.begin(), vars.end(), [&](int a, int b) {
    return c_.loops.at(a).depth > c_.loops.at(b).depth;
  });
  return vars;
}

// Forgets reads in loops over the vectors of a row: they are addressed by that
// loop, which has ended.
void Prefetcher::ForgetClosedLoops(std::map<int, Reads>& reads_of) {
  for (auto& [buffer, reads] : reads_of) {
    for (auto read = reads.begin(); read != reads.end();) {
      const bool closed =
          std::any_of(read->second.terms.begin(), read->second.terms.end(),
                      [&](const auto& term) {
                        return Mentions(term.first, c_.ranges.chunk_var());
                      });
      read = closed ? reads.erase(read) : std::next(read);
    }
  }
  for (auto of = reads_of.begin(); of != reads_of.end();)
    of = of->second.empty() ? reads_of.erase(of) : std::next(of);
}

void Prefetcher::Prefetch(int buffer, const LinearForm& next, int64_t more,
                          int level) {
  const Reg offset = emit_offset_(next);
  c_.builder.Prefetch(c_.memory[buffer], offset, next.constant + more, level);
  ++c_.report.prefetches;
}

// The lines that the step reads so many steps of a loop later, if the schedule
// says how many, which is the result.
std::optional<int64_t> Prefetcher::AsAsked() {
  const LoopValue* asked = nullptr;
  int asked_var = -1;
  for (const auto& [var, value] : c_.loops) {
    if (value.prefetch < 0) continue;
    if (asked == nullptr || value.depth > asked->depth)
      asked = &value, asked_var = var;
  }
  if (asked == nullptr) return std::nullopt;
  if (asked->prefetch == 0) return 0;
  const std::vector<int> loops = Loops();
  const int step_var = loops.empty() ? -1 : loops[0];
  for (const auto* reads_of : {&vector_reads_, &scalar_reads_}) {
    for (const auto& [buffer, reads] : *reads_of) {
      const kernel_ir::Buffer& b = c_.kernel.buffers[buffer];
      if (b.level != kernel_ir::Level::kGlobal ||
          Run(buffer, reads, *asked, asked_var, step_var))
        continue;
      std::set<int64_t> lines;
      for (const auto& [constant, form] : reads) {
        const int64_t ahead = asked->prefetch * form.CoefficientOf(asked_var);
        // Tiles of a map overlap: the step before has asked for this one.
        const int64_t step = step_var < 0 ? 0 : form.CoefficientOf(step_var);
        if (!IsUpdate() && step_var != asked_var && step != 0 &&
            reads.count(constant + step) != 0)
          continue;
        const int64_t line =
            FloorDivide(constant, kLineBytes / SizeBytes(b.dtype));
        // Where the address is data, reads there may be guarded.
        const bool data = std::any_of(
            form.terms.begin(), form.terms.end(),
            [&](const auto& term) { return HoldsLoad(term.first); });
        if (ahead != 0 && !data && lines.insert(line).second)
          Prefetch(buffer, form, ahead, 0);
      }
    }
  }
  return asked->prefetch;
}

// Prefetches what an iteration of the asked loop reads in all steps of the
// innermost one, if that is another and the rows of a step make one run with
// what its other steps read of them: each step brings its share of the later
// run closer, every line is asked for about once. False if there is no such
// run.
bool Prefetcher::Run(int buffer, const Reads& reads, const LoopValue& asked,
                     int asked_var, int step_var) {
  const LinearForm& first = reads.begin()->second;
  const int64_t ahead = asked.prefetch * first.CoefficientOf(asked_var);
  if (!IsUpdate() || step_var < 0 || step_var == asked_var || ahead == 0)
    return false;
  // Steps further apart than what one reads make no run.
  const int64_t line = kLineBytes / SizeBytes(c_.kernel.buffers[buffer].dtype);
  const int64_t step = first.CoefficientOf(step_var);
  if (step <= 0 || step > line) return false;
  const int64_t of_row = step * c_.ranges.extent(step_var);
  int64_t row = 0;
  for (const auto& [constant, form] : reads) {
    if (constant != reads.begin()->first + row++ * of_row) return false;
    for (const auto& [term, coefficient] : form.terms) {
      if (HoldsLoad(term) || form.terms.size() != first.terms.size())
        return false;
    }
  }
  LinearForm next = first;
  next.constant += ahead;
  const int64_t share = row * step;
  for (auto& [term, coefficient] : next.terms) {
    if (term.op() == Op::kVar && term.var_id() == step_var) coefficient = share;
  }
  for (int64_t i = 0; i < share; i += line) Prefetch(buffer, next, i, 0);
  return true;
}

// A buffer is read in shares, one per iteration of a loop, and each share by
// all iterations of a loop inside. Every one of these brings its part of the
// next share closer, evenly over its steps: memory is slower than a core that
// asks for all at once.
void Prefetcher::NextShare() {
  const std::vector<int> loops = Loops();
  if (loops.empty()) return;
  const int step_var = loops[0];
  for (const auto& [buffer, reads] : vector_reads_) {
    const kernel_ir::Buffer& b = c_.kernel.buffers[buffer];
    const LinearForm& first = reads.begin()->second;
    const int64_t bytes = SizeBytes(b.dtype);
    if (!ExceedsCache(b)) continue;
    const auto moves = [&](int var) {
      return std::any_of(first.terms.begin(), first.terms.end(),
                         [&](const auto& t) { return Mentions(t.first, var); });
    };
    const auto reader = std::find_if(
        loops.begin() + 1, loops.end(),
        [&](int var) { return c_.ranges.extent(var) > 1 && !moves(var); });
    const auto share = std::find_if(reader, loops.end(), [&](int var) {
      return c_.ranges.extent(var) > 1 && moves(var);
    });
    if (share == loops.end()) continue;
    const int reader_var = *reader;
    const int64_t share_elements = first.CoefficientOf(*share);
    if (share_elements <= 0) continue;
    // Each step of the innermost loop reads the neighbours of what the step
    // before read, in whole cache lines.
    const int64_t line = kLineBytes / bytes;
    const int64_t n = LinesInARow(reads, line);
    if (n == 0 || first.CoefficientOf(step_var) != n * line) continue;
    const int64_t per_step = CeilDiv(n * line, c_.ranges.extent(reader_var));
    LinearForm next;
    next.constant = reads.begin()->first + share_elements;
    for (const auto& [term, coefficient] : first.terms) {
      const bool step = term.op() == Op::kVar && term.var_id() == step_var;
      next.terms.emplace_back(term, step ? per_step : coefficient);
    }
    next.terms.emplace_back(Expr::Var(reader_var, "reader"),
                            per_step * c_.ranges.extent(step_var));
    const Reg offset = emit_offset_(next);
    for (int64_t i = 0; i < per_step; i += line) {
      c_.builder.Prefetch(c_.memory[buffer], offset, next.constant + i, 1);
      ++c_.report.prefetches;
    }
  }
}

// Steps of the innermost loop broadcast neighbours, a line of each row in all
// of them; the next block of steps finds its lines pages away, one stream for
// each block. Every step brings a line of a block further on closer.
void Prefetcher::NextBlock() {
  // Tasks are no blocks: they lie outside of all loops.
  const std::vector<int> loops = Loops();
  if (loops.size() < 2 || c_.loops.at(loops[1]).task_extent != 0) return;
  const int step = loops[0], block = loops[1];
  const int64_t steps = c_.ranges.extent(step),
                blocks = c_.ranges.extent(block);
  for (const auto& [buffer, reads] : scalar_reads_) {
    const kernel_ir::Buffer& b = c_.kernel.buffers[buffer];
    const LinearForm& first = reads.begin()->second;
    const int64_t bytes = SizeBytes(b.dtype), line = kLineBytes / bytes;
    if (!ExceedsCache(b) || blocks < 2 * kBlocksAhead ||
        first.CoefficientOf(step) != 1 ||
        first.CoefficientOf(block) * bytes < kPageBytes)
      continue;
    const int64_t n = LinesInARow(reads, line);
    if (n == 0 || n > steps || steps > line) continue;
    LinearForm next = first;
    for (auto& [term, coefficient] : next.terms) {
      if (term.op() == Op::kVar && term.var_id() == step)
        coefficient = CeilDiv(n * line, steps);
    }
    next.constant += kBlocksAhead * first.CoefficientOf(block);
    Prefetch(buffer, next, 0, 0);
  }
}

}  // namespace tilewright::lowering
