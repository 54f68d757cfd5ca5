#include "sketch/rules/shared/row_blocks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/trace/sums_apart.h"
#include "tilegraph/decision/space.h"

namespace tilewright::sketch {
namespace {

// Operations per element up to which an elementwise compute with several
// readers is computed anew for each: by rule, and at most.
constexpr double kCheap = 5;
constexpr double kMostRecomputed = 100;

double CostOf(const Expr& e) {
  if (IsTranscendental(e.op())) return 16;
  switch (e.op()) {
    case Op::kConst:
    case Op::kVar:
      return 0;
    case Op::kDiv:
    case Op::kSqrt:
      return 6;
    default:
      return 1;
  }
}

// The stride of one axis of the compute in one access.
struct AxisStride {
  int64_t elements;
  bool whole;  // along the whole axis, not only inside a block of the layout
};
using Strides = std::map<int, AxisStride>;

class Finder {
 public:
  Finder(const Workload& workload, const RowSpace& rows, Decider& decider)
      : workload_(workload),
        graph_(workload.graph),
        rows_(rows),
        decider_(decider) {}

  RowBlocks Run() {
    result_.output = graph_.outputs()[0];
    CountReaders();
    ChooseInlined();
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.kind != TensorKind::kCompute || inlined_.count(tensor.id))
        continue;
      bodies_[tensor.id] = Body(tensor.id);
      AddBlocks(tensor);
    }
    return std::move(result_);
  }

 private:
  bool IsInRow(TensorId id) const {
    const Compute& compute = graph_.tensor(id).compute;
    const std::vector<int>& rows = rows_.axes.at(id);
    for (int i = 0; i < static_cast<int>(compute.axes.size()); ++i) {
      if (compute.axes[i].extent.value() > 1 &&
          std::find(rows.begin(), rows.end(), i) == rows.end())
        return true;
    }
    return false;
  }

  double Cost(TensorId id) const {
    double cost = 0;
    for (const Expr& body : graph_.tensor(id).compute.body) {
      Visit(body, [&](const Expr& e) {
        const bool row_value =
            e.op() != Op::kLoad && e.op() != Op::kVar && !VariesInRow(id, e);
        cost += row_value ? 0 : CostOf(e);
        if (e.op() == Op::kLoad && IsMap(e.source()) && IsInRow(e.source()))
          cost += Cost(e.source()) - 1;
      });
    }
    return cost;
  }

  // Whether an expression in the body of `id` has more than one value per row.
  bool VariesInRow(TensorId id, const Expr& expr) const {
    const std::vector<int>& rows = rows_.axes.at(id);
    bool varies = false;
    Visit(expr, [&](const Expr& e) {
      varies |= e.op() == Op::kVar &&
                std::find(rows.begin(), rows.end(), e.var_id()) == rows.end();
    });
    return varies;
  }

  bool IsMap(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    return tensor.kind == TensorKind::kCompute && !tensor.compute.combiner;
  }

  void CountReaders() {
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.kind != TensorKind::kCompute) continue;
      for (const TensorId input : graph_.Inputs(tensor.id))
        readers_[input].push_back(tensor.id);
    }
  }

  // Blocks that would evaluate it, were it inlined.
  int64_t Evaluations(TensorId id) const {
    int64_t count = 0;
    for (const TensorId reader : readers_.at(id))
      count += inlined_.count(reader) ? Evaluations(reader) : 1;
    return count;
  }

  // Values of a row are kept for the loops over it; in a row, what is read once
  // is inlined, of the rest what is decided.
  void ChooseInlined() {
    for (const Tensor& tensor : graph_.tensors()) {
      if (IsMap(tensor.id) && tensor.id != result_.output &&
          readers_.count(tensor.id) && IsInRow(tensor.id))
        numbers_.emplace(tensor.id, static_cast<int>(numbers_.size()) + 1);
    }
    for (TensorId id = graph_.size() - 1; id >= 0; --id) {
      if (!IsMap(id) || id == result_.output || !readers_.count(id)) continue;
      const std::vector<TensorId>& readers = readers_.at(id);
      const bool inlines =
          IsInRow(id)
              ? Evaluations(id) == 1 || DecideRecomputed(id)
              : std::all_of(readers.begin(), readers.end(), [&](TensorId r) {
                  return IsMap(r) && !IsInRow(r) && Evaluations(id) == 1;
                });
      if (inlines) inlined_.insert(id);
    }
    for (const TensorId id : inlined_)
      result_.inlined.push_back(graph_.tensor(id).name);
  }

  // Where it becomes part of others, a product and a sum may become one fused
  // multiply-add.
  bool DecideRecomputed(TensorId id) {
    const double cost = Cost(id);
    std::vector<std::string> options = {"kept"};
    if (cost <= kMostRecomputed) options.emplace_back("recomputed");
    return decider_.DecideNumber(
               absl::StrCat("intermediate.", numbers_.at(id)),
               Space::OneOf(std::move(options)),
               [&] { return cost <= kCheap ? 1 : 0; }, Bits::kMayChange) == 1;
  }

  std::vector<Expr> Body(TensorId id) const {
    std::vector<Expr> body = graph_.tensor(id).compute.body;
    for (Expr& one : body) {
      one = Rewrite(one, [&](const Expr& e) {
        if (e.op() != Op::kLoad || !inlined_.count(e.source())) return Expr();
        const Expr value = Body(e.source())[0];
        const DType dtype = graph_.tensor(e.source()).dtype;
        return Substitute(
            value.dtype() == dtype ? value : Expr::Cast(dtype, value),
            [&](int axis) { return e.operand(axis); });
      });
    }
    return body;
  }

  void AddBlocks(const Tensor& tensor) {
    const Compute& compute = tensor.compute;
    const std::vector<int>& rows = rows_.axes.at(tensor.id);
    RowBlock block;
    block.name = tensor.name;
    block.tensor = tensor.id;
    block.reduces = compute.combiner.has_value();
    if (numbers_.count(tensor.id)) block.intermediate = numbers_.at(tensor.id);
    for (const int axis : rows) block.rows.push_back(AxisAt(compute, axis));
    std::vector<int> inner;
    const int spatial = static_cast<int>(compute.axes.size());
    for (int i = 0; i < spatial + static_cast<int>(compute.reduce_axes.size());
         ++i) {
      if (std::find(rows.begin(), rows.end(), i) != rows.end()) continue;
      const RowAxis axis = AxisAt(compute, i);
      if (axis.extent == 1) {
        (i < spatial ? block.single : block.single_terms).push_back(axis);
      } else {
        inner.push_back(i);
      }
    }
    for (const Expr& body : bodies_.at(tensor.id)) {
      Visit(body, [&](const Expr& e) {
        block.expensive |= CostOf(e) > 10 && VariesInRow(tensor.id, e);
      });
    }
    const int contiguous = ContiguousAxis(tensor.id);
    const auto row = std::find(rows.begin(), rows.end(), contiguous);
    if (!block.reduces && contiguous >= 0)
      innermost_.emplace(tensor.id, contiguous);
    if (block.reduces && !decided_) {
      decided_ = true;
      if (row != rows.end())
        result_.contiguous_row = static_cast<size_t>(row - rows.begin());
    }
    // The contiguous axis last.
    const auto last = std::find(inner.begin(), inner.end(), contiguous);
    if (last != inner.end()) std::rotate(last, last + 1, inner.end());
    for (const int axis : inner) block.inner.push_back(AxisAt(compute, axis));
    block.fusible = block.inner.size();
    if (!inner.empty()) block.fusible = Fusible(tensor.id, inner);
    result_.blocks.push_back(block);
    if (!HasSumsApart(tensor)) return;
    block.name = CopyOutOf(tensor);
    block.reduces = false;
    block.inner.clear();
    block.fusible = 0;
    block.single_terms.clear();
    result_.blocks.push_back(std::move(block));
  }

  static RowAxis AxisAt(const Compute& compute, int ordinal) {
    const int spatial = static_cast<int>(compute.axes.size());
    const Axis& axis = ordinal < spatial
                           ? compute.axes[ordinal]
                           : compute.reduce_axes[ordinal - spatial];
    return {axis.name, axis.extent.value()};
  }

  bool IsLocal(TensorId id) const {
    return graph_.tensor(id).kind == TensorKind::kCompute &&
           id != result_.output;
  }

  // Locals hold whole rows, row-major, but for the axis along which what they
  // are made of lies.
  Layout LocalLayout(TensorId id) const {
    const std::vector<int64_t> shape = graph_.tensor(id).static_shape();
    const auto axis = innermost_.find(id);
    return axis == innermost_.end()
               ? Layout::RowMajor(shape)
               : Layout::BlockedLast(shape, axis->second, shape[axis->second]);
  }

  // Returns the strides of an access at plain indices in `compute`, one for
  // each axis along which anything moves: a stage takes one step along some.
  Strides StridesOf(const Compute& compute, TensorId tensor,
                    absl::Span<const Expr> index) const {
    const Layout layout =
        IsLocal(tensor) ? LocalLayout(tensor) : workload_.LayoutOf(tensor);
    Strides strides;
    for (int d = 0; d < static_cast<int>(index.size()); ++d) {
      if (index[d].op() != Op::kVar || layout.shape()[d] == 1 ||
          AxisAt(compute, index[d].var_id()).extent == 1)
        continue;
      for (int i = 0; i < static_cast<int>(layout.digits().size()); ++i) {
        const Layout::Digit& digit = layout.digits()[i];
        if (digit.dim != d || digit.div != 1) continue;
        strides[index[d].var_id()] = {layout.stride(i),
                                      digit.extent >= layout.shape()[d]};
      }
    }
    return strides;
  }

  void ForEachRead(TensorId id,
                   const std::function<void(const Strides&)>& fn) const {
    const Compute& compute = graph_.tensor(id).compute;
    ForEachLoad(bodies_.at(id), [&](const Expr& load) {
      fn(StridesOf(compute, load.source(), load.operands()));
    });
  }
  void ForEachAccess(TensorId id,
                     const std::function<void(const Strides&)>& fn) const {
    ForEachRead(id, fn);
    const Compute& compute = graph_.tensor(id).compute;
    if (compute.combiner) return;
    std::vector<Expr> index;
    for (size_t i = 0; i < compute.axes.size(); ++i)
      index.push_back(Expr::Var(static_cast<int>(i), compute.axes[i].name));
    fn(StridesOf(compute, id, index));
  }

  // The axis along which most of what it touches is contiguous; -1: none.
  int ContiguousAxis(TensorId id) const {
    std::map<int, size_t> votes;
    const auto vote = [&](const Strides& strides) {
      for (const auto& [axis, stride] : strides) {
        if (stride.elements == 1) votes[axis] += strides.size();
      }
    };
    // Locals are written as it suits what is read.
    if (IsLocal(id)) {
      ForEachRead(id, vote);
    } else {
      ForEachAccess(id, vote);
    }
    int best = -1;
    size_t most = 0;
    for (const auto& [axis, count] : votes) {
      if (count >= most) best = axis, most = count;
    }
    return best;
  }

  // The first of the axes that follow each other in memory wherever one of them
  // is used.
  size_t Fusible(TensorId id, const std::vector<int>& inner) const {
    const Compute& compute = graph_.tensor(id).compute;
    size_t first = inner.size() - 1;
    for (; first > 0; --first) {
      const int outer = inner[first - 1], next = inner[first];
      const int64_t extent = AxisAt(compute, next).extent;
      bool joined = true;
      ForEachAccess(id, [&](const Strides& strides) {
        const auto a = strides.find(outer), b = strides.find(next);
        const bool has_a = a != strides.end(), has_b = b != strides.end();
        joined &=
            has_a == has_b &&
            (!has_a || (a->second.whole && b->second.whole &&
                        a->second.elements == extent * b->second.elements));
      });
      if (!joined || outer > next) break;
    }
    return first;
  }

  const Workload& workload_;
  const TensorGraph& graph_;
  const RowSpace& rows_;
  Decider& decider_;
  std::map<TensorId, std::vector<TensorId>> readers_;
  std::map<TensorId, int> numbers_;  // of what may be kept
  std::set<TensorId> inlined_;
  std::map<TensorId, std::vector<Expr>> bodies_;  // with maps inlined
  // Maps of whole rows that follow neighbouring rows: the axis of those.
  std::map<TensorId, int> innermost_;
  bool decided_ = false;
  RowBlocks result_;
};

}  // namespace

std::vector<RowAxis> RowBlock::AllSingle() const {
  std::vector<RowAxis> all = single;
  all.insert(all.end(), single_terms.begin(), single_terms.end());
  return all;
}

int64_t RowBlock::row_elements() const {
  int64_t elements = 1;
  for (const RowAxis& axis : inner) elements *= axis.extent;
  return elements;
}

RowBlocks FindRowBlocks(const Workload& workload, const RowSpace& rows,
                        Decider& decider) {
  return Finder(workload, rows, decider).Run();
}

}  // namespace tilewright::sketch
