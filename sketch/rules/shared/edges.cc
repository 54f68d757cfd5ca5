#include "sketch/rules/shared/edges.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "sketch/replay/zero_steps.h"
#include "sketch/rules/shared/group_chain.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::sketch {
namespace {

class EdgeFinder {
 public:
  EdgeFinder(const Workload& workload, const Tensor& reduction,
             absl::Span<const Expr> body)
      : graph_(workload.graph),
        zeros_(FindKnownZeros(workload.graph, workload.zeros)),
        compute_(reduction.compute),
        body_(body) {}

  std::vector<Edge> Run() {
    if (zeros_.empty() || compute_.combiner->kind() != Combiner::Kind::kSum ||
        body_.size() != 1)
      return {};
    ForEachLoad(body_, [&](const Expr& load) {
      const auto zeros = zeros_.find(load.source());
      if (zeros == zeros_.end() || !VanishesWith(body_[0], load)) return;
      for (int dim = 0; dim < static_cast<int>(load.operands().size()); ++dim)
        Add(load, zeros->second, dim);
    });
    return std::move(edges_);
  }

 private:
  int64_t Extent(int axis) const {
    const int spatial = static_cast<int>(compute_.axes.size());
    return (axis < spatial ? compute_.axes[axis]
                           : compute_.reduce_axes[axis - spatial])
        .extent.value();
  }

  void Add(const Expr& load, const KnownZeros& zeros, int dim) {
    const std::vector<int64_t> shape =
        graph_.tensor(load.source()).static_shape();
    const RangeOf ranges = [&](int axis) -> std::optional<Range> {
      return Range{0, Extent(axis) - 1};
    };
    const bool known =
        std::any_of(edges_.begin(), edges_.end(), [&](const Edge& edge) {
          return edge.tensor == load.source() && edge.dim == dim;
        });
    if (known || !ReadsNoZero(load, zeros, dim, shape, ranges)) return;
    const bool column = dim + 1 == static_cast<int>(shape.size());
    edges_.push_back({load.source(), dim, column, load.operand(dim),
                      ShareOfZeros(load, zeros, dim, shape, ranges)});
  }

  const TensorGraph& graph_;
  const std::map<TensorId, KnownZeros> zeros_;
  const Compute& compute_;
  const absl::Span<const Expr> body_;
  std::vector<Edge> edges_;
};

// An option and the taps that it leaves out.
struct Option {
  std::string name;
  bool rows, columns;
};

}  // namespace

std::vector<SkippedZeros> DecideEdges(
    Decider& decider, const Workload& workload, const Tensor& reduction,
    absl::Span<const Expr> body, const std::function<bool(const Edge&)>& pays) {
  const std::vector<Edge> edges = EdgeFinder(workload, reduction, body).Run();
  if (edges.empty()) return {};
  const auto takes = [&](const Option& option, const Edge& edge) {
    return edge.column ? option.columns : option.rows;
  };
  std::vector<Option> options;
  std::vector<std::string> names;
  for (const Option& option : {Option{"all", false, false},
                               {"rows", true, false},
                               {"columns", false, true},
                               {"rows+columns", true, true}}) {
    const auto any = [&](bool column) {
      return std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) {
        return edge.column == column;
      });
    };
    if ((option.rows && !any(false)) || (option.columns && !any(true)))
      continue;
    options.push_back(option);
    names.push_back(option.name);
  }
  // All that is left out pays; the last such option leaves out most.
  const auto rule = [&] {
    int64_t best = 0;
    for (size_t i = 1; i < options.size(); ++i) {
      if (std::all_of(edges.begin(), edges.end(), [&](const Edge& edge) {
            return !takes(options[i], edge) || pays(edge);
          }))
        best = static_cast<int64_t>(i);
    }
    return best;
  };
  const Bits bits = IsFloat(reduction.compute.combiner->acc())
                        ? Bits::kMayChange
                        : Bits::kSame;
  const Option& taken =
      options[decider.DecideNumber("edges", Space::OneOf(names), rule, bits)];
  std::map<TensorId, std::vector<int>> dims;
  for (const Edge& edge : edges) {
    if (takes(taken, edge)) dims[edge.tensor].push_back(edge.dim);
  }
  std::vector<SkippedZeros> skipped;
  for (auto& [tensor, of] : dims) {
    std::sort(of.begin(), of.end());
    skipped.push_back({workload.graph.tensor(tensor).name, std::move(of)});
  }
  return skipped;
}

void SkipZeros(ScheduleWriter& writer, Handle block,
               const std::vector<SkippedZeros>& skipped) {
  for (const SkippedZeros& one : skipped)
    writer.SkipZeros(block, one.tensor, one.dims);
}

}  // namespace tilewright::sketch
