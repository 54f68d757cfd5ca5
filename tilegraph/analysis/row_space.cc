#include "tilegraph/analysis/row_space.h"

#include <algorithm>
#include <functional>
#include <set>

namespace tilewright {
namespace {

const Axis& AxisOf(const Compute& compute, int ordinal) {
  const int spatial = static_cast<int>(compute.axes.size());
  return ordinal < spatial ? compute.axes[ordinal]
                           : compute.reduce_axes[ordinal - spatial];
}

bool IsAxis(const Expr& index, int ordinal) {
  return index.op() == Op::kVar && index.var_id() == ordinal;
}

void ForEachLoad(const Compute& compute,
                 const std::function<void(const Expr&)>& fn) {
  for (const Expr& body : compute.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() == Op::kLoad) fn(e);
    });
  }
}

class Finder {
 public:
  Finder(const TensorGraph& graph, absl::Span<const TensorId> members)
      : graph_(graph), members_(members.begin(), members.end()) {}

  std::optional<RowSpace> Run() {
    if (!Start()) return std::nullopt;
    for (bool grows = true; grows && fits_;) {
      const size_t known = space_.axes.size();
      for (const TensorId id : members_) {
        ForEachLoad(graph_.tensor(id).compute, [&](const Expr& load) {
          if (members_.count(load.source())) Relate(id, load);
        });
      }
      grows = space_.axes.size() > known;
    }
    if (!fits_ || space_.axes.size() != members_.size() || !ReduceAllElse())
      return std::nullopt;
    return std::move(space_);
  }

 private:
  // From the first reduction.
  bool Start() {
    for (const TensorId id : members_) {
      const Compute& compute = graph_.tensor(id).compute;
      if (!compute.combiner) continue;
      if (!IsRowReduction(graph_, id)) return false;
      if (!space_.axes.empty()) continue;
      std::vector<int>& axes = space_.axes[id];
      for (size_t i = 0; i < compute.axes.size(); ++i) {
        const int64_t extent = compute.axes[i].extent.value();
        if (extent == 1) continue;
        space_.extents.push_back(extent);
        axes.push_back(static_cast<int>(i));
      }
    }
    return !space_.axes.empty();
  }

  // Relates the axes of `id` to those of the tensor that `load` in its body
  // reads.
  void Relate(TensorId id, const Expr& load) {
    const TensorId source = load.source();
    const auto consumer = space_.axes.find(id),
               producer = space_.axes.find(source);
    if (producer != space_.axes.end()) {
      std::vector<int> axes;
      for (size_t s = 0; s < space_.extents.size(); ++s) {
        const Expr& index = load.operand(producer->second[s]);
        if (index.op() != Op::kVar || !IsRowAxis(id, index.var_id(), s)) {
          fits_ = false;
          return;
        }
        axes.push_back(index.var_id());
      }
      Set(id, axes);
    } else if (consumer != space_.axes.end()) {
      std::vector<int> axes;
      for (size_t s = 0; s < space_.extents.size(); ++s) {
        int found = -1;
        for (int d = 0; d < static_cast<int>(load.operands().size()); ++d) {
          if (IsAxis(load.operand(d), consumer->second[s]) &&
              IsRowAxis(source, d, s))
            found = d;
        }
        if (found < 0) {
          fits_ = false;
          return;
        }
        axes.push_back(found);
      }
      Set(source, axes);
    }
  }

  bool IsRowAxis(TensorId id, int axis, size_t s) const {
    const Compute& compute = graph_.tensor(id).compute;
    return axis < static_cast<int>(compute.axes.size()) &&
           compute.axes[axis].extent.value() == space_.extents[s];
  }

  void Set(TensorId id, const std::vector<int>& axes) {
    const std::set<int> distinct(axes.begin(), axes.end());
    fits_ = fits_ && distinct.size() == axes.size() &&
            space_.axes.emplace(id, axes).first->second == axes;
  }

  bool ReduceAllElse() const {
    for (const TensorId id : members_) {
      const Compute& compute = graph_.tensor(id).compute;
      if (!compute.combiner) continue;
      const std::vector<int>& rows = space_.axes.at(id);
      for (int i = 0; i < static_cast<int>(compute.axes.size()); ++i) {
        if (compute.axes[i].extent.value() > 1 &&
            std::find(rows.begin(), rows.end(), i) == rows.end())
          return false;
      }
    }
    return true;
  }

  const TensorGraph& graph_;
  const std::set<TensorId> members_;
  RowSpace space_;
  bool fits_ = true;
};

}  // namespace

bool IsRowReduction(const TensorGraph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  if (tensor.kind != TensorKind::kCompute || !tensor.compute.combiner)
    return false;
  const Compute& compute = tensor.compute;
  std::set<int> wanted;
  for (int i = 0;
       i < static_cast<int>(compute.axes.size() + compute.reduce_axes.size());
       ++i) {
    if (AxisOf(compute, i).extent.value() > 1) wanted.insert(i);
  }
  bool plain = true, covers = false;
  ForEachLoad(compute, [&](const Expr& load) {
    std::set<int> indices;
    for (const Expr& index : load.operands()) {
      if (index.op() == Op::kVar) {
        plain &= indices.insert(index.var_id()).second;
      } else {
        plain &= index.op() == Op::kConst;
      }
    }
    covers |= graph.tensor(load.source()).kind != TensorKind::kConstant &&
              std::includes(indices.begin(), indices.end(), wanted.begin(),
                            wanted.end());
  });
  return plain && covers;
}

bool ReadsPlainly(const TensorGraph& graph, TensorId id) {
  bool plain = true;
  ForEachLoad(graph.tensor(id).compute, [&](const Expr& load) {
    int last = -1;
    for (const Expr& index : load.operands()) {
      if (index.op() == Op::kConst) continue;
      plain &= index.op() == Op::kVar && index.var_id() > last;
      if (plain) last = index.var_id();
    }
  });
  return plain;
}

std::optional<RowSpace> FindRows(const TensorGraph& graph,
                                 absl::Span<const TensorId> members) {
  return Finder(graph, members).Run();
}

}  // namespace tilewright
