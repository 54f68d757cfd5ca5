#include "sketch/rules/shared/edges.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "tilegraph/decision/space.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::sketch {
namespace {

// An option and the taps that it leaves out.
struct Option {
  std::string name;
  bool rows, columns;
};

}  // namespace

std::vector<SkippedZeros> DecideEdges(
    Decider& decider, const Workload& workload, const Tensor& reduction,
    absl::Span<const Edge> edges,
    const std::function<bool(const Edge&)>& pays) {
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
