#include "sketch/tree/initial_tree.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/trace/sums_apart.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/ir/verifier.h"

namespace tilewright::sketch {
namespace {

class Builder {
 public:
  explicit Builder(const Workload& workload)
      : workload_(workload), graph_(workload.graph) {}

  absl::StatusOr<BlockTree> Build() {
    std::set<TensorId> outputs(graph_.outputs().begin(),
                               graph_.outputs().end());
    if (outputs.empty())
      return absl::InvalidArgumentError("the workload has no output");
    for (TensorId id : outputs) {
      if (graph_.tensor(id).kind != TensorKind::kCompute) {
        return absl::InvalidArgumentError(
            absl::StrCat("output ", graph_.tensor(id).name,
                         " is not computed by the group"));
      }
    }
    for (const auto& [id, layout] : workload_.layouts) {
      if (id < 0 || id >= graph_.size() ||
          layout.shape() != graph_.tensor(id).static_shape()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the layout of tensor ", id, " does not have its shape"));
      }
    }
    for (TensorKind kind : {TensorKind::kPlaceholder, TensorKind::kConstant}) {
      for (const Tensor& tensor : graph_.tensors()) {
        if (tensor.kind == kind) AddBuffer(tensor, MemLevel::kGlobal);
      }
    }
    for (TensorId id : outputs) AddBuffer(graph_.tensor(id), MemLevel::kGlobal);
    std::vector<bool> needed = Needed();
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.kind == TensorKind::kCompute && needed[tensor.id] &&
          outputs.count(tensor.id) == 0)
        AddBuffer(tensor, MemLevel::kScratch);
    }
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.kind == TensorKind::kCompute && needed[tensor.id])
        AddCompute(tensor);
    }
    return std::move(tree_);
  }

 private:
  std::vector<bool> Needed() const {
    std::vector<bool> needed(graph_.size(), false);
    for (TensorId id : graph_.outputs()) needed[id] = true;
    for (TensorId id = graph_.size() - 1; id >= 0; --id) {
      if (!needed[id] || graph_.tensor(id).kind != TensorKind::kCompute)
        continue;
      for (TensorId input : graph_.Inputs(id)) needed[input] = true;
    }
    return needed;
  }

  int AddBuffer(const Tensor& tensor, MemLevel level) {
    Layout layout = level == MemLevel::kGlobal
                        ? workload_.LayoutOf(tensor.id)
                        : Layout::RowMajor(tensor.static_shape());
    int id = AddBuffer(tensor.name, tensor.id, tensor.dtype, level,
                       std::move(layout));
    buffer_of_[tensor.id] = id;
    return id;
  }

  int AddBuffer(std::string name, TensorId tensor, DType dtype, MemLevel level,
                Layout layout) {
    Buffer buffer;
    buffer.id = static_cast<int>(tree_.buffers.size());
    buffer.name = std::move(name);
    buffer.tensor = tensor;
    buffer.dtype = dtype;
    buffer.level = level;
    buffer.origin.assign(layout.shape().size(), Expr::Int(0));
    buffer.layout = std::move(layout);
    tree_.buffers.push_back(std::move(buffer));
    return tree_.buffers.back().id;
  }

  // A name no tensor has.
  std::string Fresh(const std::string& name) const {
    std::string fresh = name;
    for (int i = 1; graph_.Find(fresh).has_value(); ++i)
      fresh = absl::StrCat(name, i);
    return fresh;
  }

  void AddBlock(Block block) {
    std::vector<Loop> loops;
    for (size_t i = 0; i < block.axes.size() + block.reduce_axes.size(); ++i) {
      const Axis& axis = i < block.axes.size()
                             ? block.axes[i]
                             : block.reduce_axes[i - block.axes.size()];
      Loop loop;
      loop.var = tree_.num_vars++;
      loop.name = axis.name;
      loop.extent = axis.extent.value();
      block.bindings.push_back(Expr::Var(loop.var, loop.name));
      loops.push_back(std::move(loop));
    }
    tree_.roots.push_back(
        NestLoops(std::move(loops), MakeBlockNode(std::move(block))));
  }

  void AddCompute(const Tensor& tensor) {
    const Compute& compute = tensor.compute;
    Block block;
    block.name = tensor.name;
    block.axes = compute.axes;
    block.reduce_axes = compute.reduce_axes;
    block.combiner = compute.combiner;
    block.result = compute.result;
    for (const Expr& body : compute.body) {
      block.body.push_back(Rewrite(body, [&](const Expr& e) {
        if (e.op() != Op::kLoad) return Expr();
        return Expr::Load(buffer_of_.at(e.source()), e.dtype(),
                          {e.operands().begin(), e.operands().end()});
      }));
    }
    for (size_t i = 0; i < compute.axes.size(); ++i)
      block.dst_index.push_back(
          Expr::Var(static_cast<int>(i), compute.axes[i].name));
    int buffer = buffer_of_.at(tensor.id);
    if (!HasSumsApart(tensor)) {
      block.dst = {buffer};
      AddBlock(std::move(block));
      return;
    }
    const std::string accumulator = Fresh(SumsApartOf(tensor));
    for (int c = 0; c < compute.combiner->arity(); ++c) {
      bool is_result = c == compute.result;
      block.dst.push_back(AddBuffer(
          is_result ? accumulator : Fresh(absl::StrCat(accumulator, ".", c)),
          is_result ? tensor.id : -1, compute.combiner->component_dtype(c),
          MemLevel::kScratch, Layout::RowMajor(tensor.static_shape())));
    }
    Block copy;
    copy.name = Fresh(CopyOutOf(tensor));
    copy.axes = block.axes;
    copy.dst_index = block.dst_index;
    copy.dst = {buffer};
    copy.body = {Expr::Load(block.dst[compute.result],
                            compute.combiner->component_dtype(compute.result),
                            block.dst_index)};
    AddBlock(std::move(block));
    AddBlock(std::move(copy));
  }

  const Workload& workload_;
  const TensorGraph& graph_;
  BlockTree tree_;
  std::map<TensorId, int> buffer_of_;
};

}  // namespace

absl::StatusOr<BlockTree> InitialTree(const Workload& workload) {
  TW_RETURN_IF_ERROR(VerifyGraph(workload.graph));
  return InitialTreeOfRewritten(workload);
}

absl::StatusOr<BlockTree> InitialTreeOfRewritten(const Workload& workload) {
  return Builder(workload).Build();
}

}  // namespace tilewright::sketch
