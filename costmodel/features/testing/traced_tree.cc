#include "costmodel/features/testing/traced_tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright::costmodel {
namespace {

using sketch::Block;
using sketch::BlockTree;
using sketch::Buffer;
using sketch::Loop;
using sketch::NodePtr;

// An integer expression; loads are 0.
int64_t Evaluate(const Expr& expr, const std::vector<int64_t>& vars) {
  switch (expr.op()) {
    case Op::kConst:
      return IsFloat(expr.dtype()) ? 0 : expr.int_value();
    case Op::kVar:
      return vars[expr.var_id()];
    case Op::kLoad:
      return 0;
    default:
      break;
  }
  std::vector<Scalar> operands;
  for (const Expr& operand : expr.operands()) {
    Scalar value;
    value.i = Evaluate(operand, vars);
    operands.push_back(value);
  }
  return EvaluateOp(expr.op(), expr.dtype(), expr.operands().back().dtype(),
                    operands, /*single=*/false)
      .i;
}

class Tracer {
 public:
  explicit Tracer(const BlockTree& tree)
      : tree_(tree), vars_(tree.num_vars, 0) {}

  std::vector<TracedBlock> Run() {
    for (const NodePtr& root : tree_.roots) Walk(*root);
    return blocks_;
  }

 private:
  void Walk(const sketch::Node& node) {
    if (node.block.has_value()) {
      blocks_.push_back({&*node.block});
      distinct_.assign(tree_.buffers.size(),
                       std::vector<std::set<int64_t>>(loops_.size() + 1));
      Step(0, 0);
      for (auto& [buffer, access] : blocks_.back().accesses) {
        for (const auto& places : distinct_[buffer]) {
          access.distinct.push_back(static_cast<int64_t>(places.size()));
        }
      }
      return;
    }
    loops_.push_back(&*node.loop);
    for (const NodePtr& child : node.loop->body) Walk(*child);
    loops_.pop_back();
  }

  // All steps of the block's loops from `depth`; loops before `moved` are at 0.
  void Step(size_t depth, size_t moved) {
    if (depth == loops_.size()) return Visit(moved);
    for (int64_t i = 0; i < loops_[depth]->extent; ++i) {
      vars_[loops_[depth]->var] = i;
      Step(depth + 1, i == 0 && moved == depth ? depth + 1 : moved);
    }
  }

  // `at_0`: so many of the outermost loops are at 0.
  void Visit(size_t at_0) {
    TracedBlock& traced = blocks_.back();
    const Block& block = *traced.block;
    for (const Expr& predicate : block.predicates) {
      if (Evaluate(predicate, vars_) == 0) return;
    }
    if (block.rolling && Evaluate(block.RollingCondition(), vars_) == 0) return;
    std::vector<int64_t> axes;
    for (const Expr& binding : block.bindings) {
      axes.push_back(Evaluate(binding, vars_));
    }
    for (const Expr& condition : {block.guard, block.nonzero}) {
      if (condition && Evaluate(condition, axes) == 0) return;
    }
    ++traced.steps;
    for (const int buffer : block.dst)
      Touch(buffer, block.dst_index, axes, at_0);
    const auto loads = [&](const Expr& body) {
      tilewright::Visit(body, [&](const Expr& node) {
        if (node.op() != Op::kLoad) return;
        Touch(node.source(), node.operands(), axes, at_0);
      });
    };
    for (const Expr& body : block.body) loads(body);
    if (block.rescaling) loads(block.rescaling);
    for (auto& [buffer, access] : traced.accesses) {
      access.places.resize(traced.steps);
    }
  }

  void Touch(int id, absl::Span<const Expr> indices,
             const std::vector<int64_t>& axes, size_t at_0) {
    const Buffer& buffer = tree_.buffers[id];
    TracedBlock& traced = blocks_.back();
    TracedAccess& access = traced.accesses[id];
    access.places.resize(traced.steps);
    std::vector<int64_t> local;
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      int64_t index = Evaluate(indices[dim], axes);
      if (buffer.level != sketch::MemLevel::kGlobal) {
        index -= Evaluate(buffer.origin[dim], vars_);
      }
      if (index < 0 || index >= buffer.layout.shape()[dim]) return;
      local.push_back(index);
    }
    const int64_t place = buffer.layout.Offset(local);
    access.places.back().push_back(place);
    for (size_t i = 0; i <= at_0; ++i) distinct_[id][i].insert(place);
  }

  const BlockTree& tree_;
  std::vector<int64_t> vars_;
  std::vector<const Loop*> loops_;
  std::vector<TracedBlock> blocks_;
  std::vector<std::vector<std::set<int64_t>>> distinct_;  // by buffer
};

}  // namespace

std::vector<TracedBlock> Trace(const BlockTree& tree) {
  return Tracer(tree).Run();
}

}  // namespace tilewright::costmodel
