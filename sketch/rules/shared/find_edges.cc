#include "sketch/rules/shared/find_edges.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sketch/replay/zero_steps.h"
#include "sketch/rules/shared/group_chain.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/expr/interval.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::sketch {
namespace {

// Windows of more taps are not looked at one by one.
constexpr int64_t kMostTapsListed = 64;

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
  int Spatial() const { return static_cast<int>(compute_.axes.size()); }

  int64_t Extent(int axis) const {
    return (axis < Spatial() ? compute_.axes[axis]
                             : compute_.reduce_axes[axis - Spatial()])
        .extent.value();
  }

  std::optional<Range> RangeOf(int axis) const {
    return Range{0, Extent(axis) - 1};
  }

  void Add(const Expr& load, const KnownZeros& zeros, int dim) {
    const std::vector<int64_t> shape =
        graph_.tensor(load.source()).static_shape();
    const auto ranges = [&](int axis) { return RangeOf(axis); };
    const bool known =
        std::any_of(edges_.begin(), edges_.end(), [&](const Edge& edge) {
          return edge.tensor == load.source() && edge.dim == dim;
        });
    if (known || !ReadsNoZero(load, zeros, dim, shape, ranges)) return;
    const bool column = dim + 1 == static_cast<int>(shape.size());
    edges_.push_back({load.source(), dim, column, load.operand(dim),
                      ShareOfZeros(load, zeros, dim, shape, ranges)});
    FindTaps(edges_.back(), zeros.before[dim], shape[dim] - zeros.after[dim]);
  }

  // Indices in [begin, end) read no known zero.
  void FindTaps(Edge& edge, int64_t begin, int64_t end) const {
    const LinearForm form =
        ToLinear(edge.index, [&](int axis) { return RangeOf(axis); });
    if (form.terms.size() != 2 || form.terms[0].first.op() != Op::kVar ||
        form.terms[1].first.op() != Op::kVar)
      return;
    auto [output, stride] = form.terms[0];
    auto [tap, dilation] = form.terms[1];
    if (output.var_id() >= Spatial()) {
      std::swap(output, tap);
      std::swap(stride, dilation);
    }
    if (output.var_id() >= Spatial() || tap.var_id() < Spatial() ||
        stride <= 0 || Extent(tap.var_id()) > kMostTapsListed)
      return;
    edge.output_axis = output.var_id();
    edge.reduce_axis = tap.var_id() - Spatial();
    edge.output_extent = Extent(edge.output_axis);
    const auto position_from = [&, step = stride](int64_t index) {
      return std::clamp<int64_t>(-FloorDivide(-index, step), 0,
                                 edge.output_extent);
    };
    for (int64_t value = 0; value < Extent(tap.var_id()); ++value) {
      const int64_t first = form.constant + value * dilation;
      edge.taps.push_back(
          {position_from(begin - first), position_from(end - first)});
    }
  }

  const TensorGraph& graph_;
  const std::map<TensorId, KnownZeros> zeros_;
  const Compute& compute_;
  const absl::Span<const Expr> body_;
  std::vector<Edge> edges_;
};

}  // namespace

bool Edge::SameTapsIn(int64_t tile) const {
  const auto between_tiles = [&](int64_t position) {
    return position % tile == 0 || position == output_extent;
  };
  return !taps.empty() &&
         std::all_of(taps.begin(), taps.end(), [&](const Positions& tap) {
           return tap.first >= tap.end ||
                  (between_tiles(tap.first) && between_tiles(tap.end));
         });
}

int64_t Edge::MostTaps() const {
  // Taps begin at positions: the most are where one does.
  int64_t most = 0;
  for (const Positions& at : taps) {
    most = std::max<int64_t>(
        most,
        std::count_if(taps.begin(), taps.end(), [&](const Positions& tap) {
          return tap.first <= at.first && at.first < tap.end;
        }));
  }
  return most;
}

std::vector<Edge> FindEdges(const Workload& workload, const Tensor& reduction,
                            absl::Span<const Expr> body) {
  return EdgeFinder(workload, reduction, body).Run();
}

int64_t MostTermsOf(absl::Span<const Edge> edges, int64_t terms) {
  std::set<int> seen;
  for (const Edge& edge : edges) {
    if (edge.taps.empty() || !seen.insert(edge.reduce_axis).second) continue;
    terms = terms / static_cast<int64_t>(edge.taps.size()) * edge.MostTaps();
  }
  return terms;
}

}  // namespace tilewright::sketch
