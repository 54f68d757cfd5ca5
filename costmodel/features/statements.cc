#include "costmodel/features/statements.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "costmodel/features/share_of_steps.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::costmodel {
namespace {

using sketch::Block;
using sketch::BlockTree;
using sketch::Buffer;
using sketch::Loop;

LoopNest NestOf(const BlockTree& tree, const std::vector<const Loop*>& loops) {
  std::vector<int> vars;
  std::vector<int64_t> extents;
  for (const Loop* loop : loops) {
    vars.push_back(loop->var);
    extents.push_back(loop->extent);
  }
  return LoopNest(std::move(vars), std::move(extents), tree.num_vars);
}

// One load or store: the index along each dimension of what the buffer holds.
struct Touch {
  absl::Span<const Expr> indices;  // over axes, of the whole tensor
  std::vector<IndexForm> forms;
};

// All of one buffer; of equal ones, one.
struct BufferTouches {
  int buffer;
  bool reads = false, writes = false;
  std::vector<Touch> touches;
};

bool Equal(absl::Span<const Expr> a, absl::Span<const Expr> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// Elements in memory that a step of `step` along logical dimension `dim` moves.
int64_t MemoryStep(const Layout& layout, int dim, int64_t step) {
  if (step == 0) return 0;
  // The coarsest digit whose unit divides the step moves; what it carries into
  // coarser ones is left out, as are steps that cross a block.
  int64_t unit = 0, stride = 0;
  for (size_t d = 0; d < layout.digits().size(); ++d) {
    const Layout::Digit& digit = layout.digits()[d];
    if (digit.dim != dim || digit.extent == 1 || step % digit.div != 0 ||
        digit.div <= unit) {
      continue;
    }
    unit = digit.div;
    stride = layout.stride(static_cast<int>(d));
  }
  return unit == 0 ? 0 : step / unit * stride;
}

// Neighbours in memory where `touched` of each dimension are: from the
// innermost digit outwards, as long as digits are covered.
double NeighboursIn(const Layout& layout,
                    const std::vector<IndexValues>& touched) {
  double run = 1;
  for (int d = static_cast<int>(layout.digits().size()) - 1; d >= 0; --d) {
    const Layout::Digit& digit = layout.digits()[d];
    if (digit.extent == 1) continue;
    if (layout.stride(d) != static_cast<int64_t>(run)) break;
    const IndexValues& values = touched[digit.dim];
    const auto span =
        static_cast<double>(values.hull.high - values.hull.low + 1);
    if (values.count < span) break;
    const double units =
        std::min(std::max(1.0, span / static_cast<double>(digit.div)),
                 static_cast<double>(digit.extent));
    run *= units;
    if (units < static_cast<double>(digit.extent)) break;
  }
  return run;
}

class BlockReader {
 public:
  BlockReader(const BlockTree& tree, const Block& block,
              const std::vector<const Loop*>& loops)
      : tree_(tree), block_(block), loops_(loops), nest_(NestOf(tree, loops)) {
    for (const Expr& binding : block.bindings) {
      axes_.push_back(FormOfLoops(binding, nest_));
    }
    for (const int buffer : block.dst) {
      Add(buffer, block.dst_index, /*writes=*/true);
      if (block.combiner.has_value()) {
        Add(buffer, block.dst_index, /*writes=*/false);
      }
    }
    for (const Expr& body : block.body) AddLoads(body);
    if (block.rescaling) AddLoads(block.rescaling);
  }

  Statement Read() const {
    Statement statement{&block_, loops_};
    for (const Loop* loop : loops_) {
      statement.loop_steps *= static_cast<double>(loop->extent);
    }
    statement.steps = statement.loop_steps * ShareOfSteps(Conditions(), nest_);
    statement.operations = CountOperations(block_);
    for (const BufferTouches& touches : buffers_) {
      statement.accesses.push_back(ReadAccess(touches));
    }
    return statement;
  }

 private:
  void Add(int buffer, absl::Span<const Expr> indices, bool writes) {
    auto entry = std::find_if(
        buffers_.begin(), buffers_.end(),
        [&](const BufferTouches& touches) { return touches.buffer == buffer; });
    if (entry == buffers_.end()) {
      entry = buffers_.insert(buffers_.end(), BufferTouches{buffer});
    }
    (writes ? entry->writes : entry->reads) = true;
    for (const Touch& touch : entry->touches) {
      if (Equal(touch.indices, indices)) return;
    }
    Touch touch{indices, {}};
    const Buffer& held = tree_.buffers[buffer];
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      touch.forms.push_back(
          FormOfAxes(indices[dim], nest_, axes_, block_.bindings));
      if (held.level == sketch::MemLevel::kGlobal) continue;
      touch.forms.back().Add(FormOfLoops(held.origin[dim], nest_), -1);
    }
    entry->touches.push_back(std::move(touch));
  }

  void AddLoads(const Expr& expr) {
    if (expr.op() == Op::kLoad) {
      Add(expr.source(), expr.operands(), /*writes=*/false);
    }
    for (const Expr& operand : expr.operands()) AddLoads(operand);
  }

  // All that must hold for a step to run, over loop variables.
  std::vector<Expr> Conditions() const {
    std::vector<Expr> conditions = block_.predicates;
    if (block_.rolling.has_value()) {
      conditions.push_back(block_.RollingCondition());
    }
    for (const Expr& condition : {block_.guard, block_.nonzero}) {
      if (!condition) continue;
      conditions.push_back(Substitute(
          condition, [&](int axis) { return block_.bindings[axis]; }));
    }
    return conditions;
  }

  // Along each dimension, of all touches together.
  std::vector<IndexValues> ValuesFrom(const BufferTouches& touches,
                                      int first) const {
    const std::vector<int64_t>& shape =
        tree_.buffers[touches.buffer].layout.shape();
    std::vector<IndexValues> values;
    for (size_t dim = 0; dim < touches.touches[0].forms.size(); ++dim) {
      IndexValues all =
          ValuesOf(touches.touches[0].forms[dim], nest_, first, shape[dim]);
      for (size_t t = 1; t < touches.touches.size(); ++t) {
        const IndexValues other =
            ValuesOf(touches.touches[t].forms[dim], nest_, first, shape[dim]);
        if (other.hull.low == all.hull.low &&
            other.hull.high == all.hull.high) {
          all.count = std::max(all.count, other.count);
          continue;
        }
        all.hull.low = std::min(all.hull.low, other.hull.low);
        all.hull.high = std::max(all.hull.high, other.hull.high);
        all.count = static_cast<double>(all.hull.high - all.hull.low + 1);
      }
      values.push_back(all);
    }
    return values;
  }

  int64_t Stride(const BufferTouches& touches, int loop) const {
    const Layout& layout = tree_.buffers[touches.buffer].layout;
    int64_t least = 0;
    for (const Touch& touch : touches.touches) {
      int64_t step = 0;
      for (size_t dim = 0; dim < touch.forms.size(); ++dim) {
        step += MemoryStep(layout, static_cast<int>(dim),
                           StepOf(touch.forms[dim], nest_, loop));
      }
      if (step != 0 && (least == 0 || std::abs(step) < least)) {
        least = std::abs(step);
      }
    }
    return least;
  }

  BufferAccess ReadAccess(const BufferTouches& touches) const {
    BufferAccess access{touches.buffer, touches.reads, touches.writes};
    for (const Touch& touch : touches.touches) {
      for (const IndexForm& form : touch.forms) {
        access.moving_loops |= form.Loops();
      }
    }
    const int loops = nest_.size();
    access.touched.resize(loops + 1);
    access.strides.resize(loops);
    double most = static_cast<double>(touches.touches.size());
    std::vector<IndexValues> values;
    for (int first = loops; first >= 0; --first) {
      if (first < loops) most *= static_cast<double>(nest_.extent(first));
      const bool moves =
          first == loops || (access.moving_loops >> first & 1) != 0;
      if (moves) {
        values = ValuesFrom(touches, first);
        if (first < loops) access.strides[first] = Stride(touches, first);
      }
      double elements = 1;
      for (const IndexValues& dim : values) elements *= dim.count;
      access.touched[first] = std::min(elements, most);
    }
    access.run = NeighboursIn(tree_.buffers[touches.buffer].layout, values);
    return access;
  }

  const BlockTree& tree_;
  const Block& block_;
  const std::vector<const Loop*>& loops_;
  const LoopNest nest_;
  std::vector<IndexForm> axes_;
  std::vector<BufferTouches> buffers_;
};

void Walk(const BlockTree& tree, const std::vector<sketch::NodePtr>& nodes,
          std::vector<const Loop*>& loops, std::vector<Statement>& statements) {
  for (const sketch::NodePtr& node : nodes) {
    if (node->block.has_value()) {
      statements.push_back(BlockReader(tree, *node->block, loops).Read());
      continue;
    }
    loops.push_back(&*node->loop);
    Walk(tree, node->loop->body, loops, statements);
    loops.pop_back();
  }
}

}  // namespace

std::vector<Statement> StatementsOf(const BlockTree& tree) {
  std::vector<Statement> statements;
  std::vector<const Loop*> loops;
  Walk(tree, tree.roots, loops, statements);
  return statements;
}

}  // namespace tilewright::costmodel
