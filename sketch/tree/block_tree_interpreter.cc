#include "sketch/tree/block_tree_interpreter.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "sketch/tree/block_region.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/rewrite/winograd.h"

namespace tilewright::sketch {
namespace {

// Leaves that stand for the two sides of a combiner: loads of no buffer.
Expr Side(int side, int component, DType dtype) {
  return Expr::Load(-1 - 16 * side - component, dtype, {});
}

class Machine {
 public:
  Machine(const BlockTree& tree, const Workload& workload,
          BlockTreeRunOptions options)
      : tree_(tree),
        workload_(workload),
        options_(options),
        loop_values_(tree.num_vars, 0),
        stores_(tree.buffers.size()) {}

  absl::StatusOr<std::map<TensorId, HostTensor>> Run(
      const std::map<TensorId, HostTensor>& inputs) {
    TW_RETURN_IF_ERROR(Allocate(inputs));
    for (const NodePtr& root : tree_.roots) FindInits(*root, {});
    for (const NodePtr& root : tree_.roots) TW_RETURN_IF_ERROR(Execute(*root));
    std::map<TensorId, HostTensor> outputs;
    for (const Buffer& buffer : tree_.buffers) {
      if (buffer.level != MemLevel::kGlobal ||
          workload_.graph.tensor(buffer.tensor).kind != TensorKind::kCompute)
        continue;
      HostTensor tensor(buffer.dtype, buffer.layout.shape());
      const Store& store = stores_[buffer.id];
      for (int64_t i = 0; i < tensor.num_elements(); ++i) {
        if (store.tag[i] == 0)
          return absl::InternalError(
              absl::StrCat(buffer.name, " element ", i, " is never written"));
        tensor.Set(i, store.value[i]);
      }
      outputs.emplace(buffer.tensor, std::move(tensor));
    }
    return outputs;
  }

 private:
  struct Store {
    std::vector<Scalar> value;
    std::vector<int64_t> tag;  // 1 + the row-major number of the element held
                               // in its tensor; 0: nothing
    std::vector<int64_t> shape;
    std::vector<int64_t> held;
  };

  absl::Status Allocate(const std::map<TensorId, HostTensor>& inputs) {
    for (const Buffer& buffer : tree_.buffers) {
      Store& store = stores_[buffer.id];
      store.held = buffer.layout.shape();
      store.shape = store.held;
      int64_t elements = 1;
      for (int64_t extent : store.held) elements *= extent;
      if (buffer.level != MemLevel::kGlobal)
        elements = buffer.layout.physical_elements();
      store.value.resize(elements);
      store.tag.assign(elements, 0);
      if (buffer.level != MemLevel::kGlobal) continue;
      const Tensor& tensor = workload_.graph.tensor(buffer.tensor);
      if (tensor.kind == TensorKind::kCompute) continue;
      const HostTensor* value = tensor.value.get();
      HostTensor filters;
      if (buffer.winograd != 0) {
        filters = WinogradFilters(*value, buffer.winograd);
        value = &filters;
      }
      if (tensor.kind == TensorKind::kPlaceholder) {
        auto it = inputs.find(tensor.id);
        if (it == inputs.end())
          return absl::InvalidArgumentError(
              absl::StrCat("no value for ", tensor.name));
        value = &it->second;
      }
      for (int64_t i = 0; i < elements; ++i) {
        store.value[i] = value->Get(i);
        store.tag[i] = i + 1;
      }
    }
    return absl::OkStatus();
  }

  // Init of a reduction happens right before the outermost loop that carries
  // one of its reduce axes.
  void FindInits(const Node& node, std::vector<const Loop*> around) {
    if (node.loop) {
      around.push_back(&*node.loop);
      for (const NodePtr& child : node.loop->body) FindInits(*child, around);
      return;
    }
    const Block& block = *node.block;
    for (size_t i = 0; i < block.axes.size(); ++i) {
      for (int buffer : block.dst) {
        if (stores_[buffer].shape.size() == block.axes.size())
          stores_[buffer].shape[i] = block.axes[i].extent.value();
      }
    }
    for (size_t depth = 0; depth < around.size() && block.combiner; ++depth) {
      bool carries = false;
      for (size_t r = block.axes.size(); r < block.bindings.size(); ++r)
        carries |= Mentions(block.bindings[r], around[depth]->var);
      if (!carries) continue;
      inits_[around[depth]->var].push_back(
          {&block,
           {around.begin() + static_cast<std::ptrdiff_t>(depth),
            around.end()}});
      break;
    }
  }

  absl::Status Execute(const Node& node) {
    if (node.block) return Update(*node.block);
    const Loop& loop = *node.loop;
    auto inits = inits_.find(loop.var);
    if (inits != inits_.end()) {
      for (const auto& [block, loops] : inits->second) {
        started_.clear();
        TW_RETURN_IF_ERROR(Init(*block, loops, 0));
      }
    }
    bool innermost_task =
        loop.kind == LoopKind::kTask &&
        !(loop.body[0]->loop && loop.body[0]->loop->kind == LoopKind::kTask);
    for (int64_t i = 0; i < loop.extent; ++i) {
      loop_values_[loop.var] =
          loop.kind == LoopKind::kTask && options_.last_task_first
              ? loop.extent - 1 - i
              : i;
      if (innermost_task) ForgetLocals();
      for (const NodePtr& child : loop.body)
        TW_RETURN_IF_ERROR(Execute(*child));
    }
    return absl::OkStatus();
  }

  void ForgetLocals() {
    for (const Buffer& buffer : tree_.buffers) {
      if (buffer.level != MemLevel::kGlobal)
        stores_[buffer.id].tag.assign(stores_[buffer.id].tag.size(), 0);
    }
  }

  absl::Status Init(const Block& block, const std::vector<const Loop*>& loops,
                    size_t depth) {
    if (depth < loops.size()) {
      for (int64_t i = 0; i < loops[depth]->extent; ++i) {
        loop_values_[loops[depth]->var] = i;
        TW_RETURN_IF_ERROR(Init(block, loops, depth + 1));
      }
      return absl::OkStatus();
    }
    TW_ASSIGN_OR_RETURN(bool exists, EnterInit(block));
    if (!exists) return absl::OkStatus();
    std::vector<int64_t> key(
        axis_values_.begin(),
        axis_values_.begin() + static_cast<std::ptrdiff_t>(block.axes.size()));
    if (!started_.insert(std::move(key)).second) return absl::OkStatus();
    std::vector<Expr> identity = block.combiner->Identity();
    for (size_t c = 0; c < block.dst.size(); ++c) {
      TW_ASSIGN_OR_RETURN(Scalar value, Evaluate(identity[c]));
      TW_RETURN_IF_ERROR(Write(block, block.dst[c], identity[c].dtype(), value,
                               /*again=*/false));
    }
    return absl::OkStatus();
  }

  // Sets the spatial axes; false where there is no such element, whichever
  // steps of the reduction are taken.
  absl::StatusOr<bool> EnterInit(const Block& block) {
    in_loops_ = true;
    for (const Expr& p : InitPredicates(block)) {
      TW_ASSIGN_OR_RETURN(Scalar holds, Evaluate(p));
      if (holds.i == 0) return false;
    }
    TW_ASSIGN_OR_RETURN(const bool computes, Computes(block));
    if (!computes) return false;
    axis_values_.assign(block.axes.size(), 0);
    for (size_t i = 0; i < block.axes.size(); ++i) {
      TW_ASSIGN_OR_RETURN(Scalar value, Evaluate(block.bindings[i]));
      if (value.i < 0 || value.i >= block.axes[i].extent.value()) return false;
      axis_values_[i] = value.i;
    }
    in_loops_ = false;
    return true;
  }

  // Whether no iteration before has left the element.
  absl::StatusOr<bool> Computes(const Block& block) {
    if (!block.rolling) return true;
    TW_ASSIGN_OR_RETURN(const Scalar holds, Evaluate(block.RollingCondition()));
    return holds.i != 0;
  }

  // Sets the block's axes; false where a predicate does not hold.
  absl::StatusOr<bool> Enter(const Block& block) {
    in_loops_ = true;
    for (const Expr& p : block.predicates) {
      TW_ASSIGN_OR_RETURN(Scalar holds, Evaluate(p));
      if (holds.i == 0) return false;
    }
    TW_ASSIGN_OR_RETURN(const bool computes, Computes(block));
    if (!computes) return false;
    std::vector<int64_t> values;
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      TW_ASSIGN_OR_RETURN(Scalar value, Evaluate(block.bindings[i]));
      const Axis& axis = i < block.axes.size()
                             ? block.axes[i]
                             : block.reduce_axes[i - block.axes.size()];
      if (value.i < 0 || value.i >= axis.extent.value()) {
        return absl::InternalError(absl::StrCat(block.name, ": axis ",
                                                axis.name, " = ", value.i,
                                                " leaves its extent"));
      }
      values.push_back(value.i);
    }
    axis_values_ = std::move(values);
    in_loops_ = false;
    return true;
  }

  absl::Status Update(const Block& block) {
    TW_ASSIGN_OR_RETURN(bool active, Enter(block));
    if (!active) return absl::OkStatus();
    for (const Expr& condition : {block.guard, block.nonzero}) {
      if (!condition) continue;
      TW_ASSIGN_OR_RETURN(Scalar holds, Evaluate(condition));
      if (holds.i == 0) return absl::OkStatus();
    }
    std::vector<Scalar> values;
    for (const Expr& body : block.body) {
      TW_ASSIGN_OR_RETURN(Scalar value, Evaluate(body));
      values.push_back(value);
    }
    if (!block.combiner)
      return Write(block, block.dst[0], block.body[0].dtype(), values[0],
                   /*again=*/false);
    std::vector<Expr> a, b;
    for (size_t c = 0; c < values.size(); ++c) {
      DType dtype = block.combiner->component_dtype(static_cast<int>(c));
      a.push_back(Side(0, static_cast<int>(c), dtype));
      b.push_back(Side(1, static_cast<int>(c), dtype));
      if (block.rescaling) {
        TW_ASSIGN_OR_RETURN(sides_[0][c], Evaluate(block.rescaling));
      } else {
        TW_ASSIGN_OR_RETURN(sides_[0][c], Read(block.dst[c], block.dst_index));
      }
      sides_[1][c] = EvaluateOp(Op::kCast, dtype, block.body[c].dtype(),
                                {&values[c], 1}, /*single=*/false);
    }
    std::vector<Expr> combined = block.combiner->Combine(a, b);
    for (size_t c = 0; c < combined.size(); ++c) {
      TW_ASSIGN_OR_RETURN(values[c], Evaluate(combined[c]));
    }
    for (size_t c = 0; c < combined.size(); ++c) {
      TW_RETURN_IF_ERROR(Write(block, block.dst[c], combined[c].dtype(),
                               values[c], /*again=*/true));
    }
    return absl::OkStatus();
  }

  // Index in the store, and the tag of the element.
  absl::StatusOr<std::pair<int64_t, int64_t>> Locate(
      int buffer_id, const std::vector<int64_t>& index) {
    const Buffer& buffer = tree_.buffers[buffer_id];
    const Store& store = stores_[buffer_id];
    int64_t place = 0, tag = 0;
    std::vector<int64_t> locals;
    for (size_t i = 0; i < index.size(); ++i) {
      bool outer = std::exchange(in_loops_, true);
      TW_ASSIGN_OR_RETURN(Scalar origin, Evaluate(buffer.origin[i]));
      in_loops_ = outer;
      int64_t local = index[i] - origin.i;
      if (local < 0 || local >= store.held[i]) {
        return absl::InternalError(absl::StrCat(
            buffer.name, "[", absl::StrJoin(index, ", "), "] is not held"));
      }
      place = place * store.held[i] + local;
      tag = tag * store.shape[i] + index[i];
      locals.push_back(local);
    }
    if (buffer.level != MemLevel::kGlobal) place = buffer.layout.Offset(locals);
    return std::make_pair(place, tag + 1);
  }

  absl::StatusOr<Scalar> Read(int buffer, absl::Span<const Expr> indices) {
    std::vector<int64_t> index;
    for (const Expr& e : indices) {
      TW_ASSIGN_OR_RETURN(Scalar value, Evaluate(e));
      index.push_back(value.i);
    }
    TW_ASSIGN_OR_RETURN(auto at, Locate(buffer, index));
    if (stores_[buffer].tag[at.first] != at.second) {
      return absl::InternalError(absl::StrCat(
          tree_.buffers[buffer].name, "[", absl::StrJoin(index, ", "),
          "] is read before it is written"));
    }
    return stores_[buffer].value[at.first];
  }

  absl::Status Write(const Block& block, int buffer, DType value_dtype,
                     Scalar value, bool again) {
    std::vector<int64_t> index;
    for (const Expr& e : block.dst_index) {
      TW_ASSIGN_OR_RETURN(Scalar i, Evaluate(e));
      index.push_back(i.i);
    }
    TW_ASSIGN_OR_RETURN(auto at, Locate(buffer, index));
    Store& store = stores_[buffer];
    if (!again && tree_.buffers[buffer].level == MemLevel::kGlobal &&
        store.tag[at.first] != 0) {
      return absl::InternalError(absl::StrCat(
          block.name, " computes [", absl::StrJoin(index, ", "), "] twice"));
    }
    DType dtype = tree_.buffers[buffer].dtype;
    store.value[at.first] = EvaluateOp(Op::kCast, dtype, value_dtype,
                                       {&value, 1}, /*single=*/false);
    store.tag[at.first] = at.second;
    return absl::OkStatus();
  }

  absl::StatusOr<Scalar> Evaluate(const Expr& e) {
    switch (e.op()) {
      case Op::kConst:
        return IsFloat(e.dtype()) ? Scalar{e.float_value(), 0}
                                  : Scalar{0, e.int_value()};
      case Op::kVar:
        return Scalar{
            0, in_loops_ ? loop_values_[e.var_id()] : axis_values_[e.var_id()]};
      case Op::kLoad:
        if (e.source() < 0)
          return sides_[(-1 - e.source()) / 16][(-1 - e.source()) % 16];
        return Read(e.source(), e.operands());
      case Op::kSelect: {
        TW_ASSIGN_OR_RETURN(Scalar condition, Evaluate(e.operand(0)));
        return Evaluate(e.operand(condition.i != 0 ? 1 : 2));
      }
      default:
        break;
    }
    Scalar operands[3];
    for (size_t i = 0; i < e.operands().size(); ++i) {
      TW_ASSIGN_OR_RETURN(operands[i], Evaluate(e.operand(i)));
    }
    return EvaluateOp(e.op(), e.dtype(), e.operand(0).dtype(),
                      absl::MakeConstSpan(operands, e.operands().size()),
                      /*single=*/false);
  }

  const BlockTree& tree_;
  const Workload& workload_;
  BlockTreeRunOptions options_;
  std::vector<int64_t> loop_values_, axis_values_;
  bool in_loops_ = false;  // variables are loops, not axes
  std::vector<Store> stores_;
  Scalar sides_[2][16];
  std::map<int, std::vector<std::pair<const Block*, std::vector<const Loop*>>>>
      inits_;
  std::set<std::vector<int64_t>>
      started_;  // elements of the init that is running
};

}  // namespace

absl::StatusOr<std::map<TensorId, HostTensor>> RunBlockTree(
    const BlockTree& tree, const Workload& workload,
    const std::map<TensorId, HostTensor>& inputs, BlockTreeRunOptions options) {
  return Machine(tree, workload, options).Run(inputs);
}

}  // namespace tilewright::sketch
