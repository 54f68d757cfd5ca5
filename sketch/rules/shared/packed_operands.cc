#include "sketch/rules/shared/packed_operands.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ceil_div.h"
#include "sketch/rules/shared/group_chain.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {
namespace {

// A constant each of whose dimensions an axis of its own indexes.
struct Packable {
  const Tensor* tensor;
  std::map<int, int> dims;  // axis ordinal -> dimension
};

std::optional<std::map<int, int>> DimOfAxis(const Expr& load) {
  std::map<int, int> dims;
  for (size_t d = 0; d < load.operands().size(); ++d) {
    const Expr& index = load.operand(static_cast<int>(d));
    if (index.op() != Op::kVar ||
        !dims.emplace(index.var_id(), static_cast<int>(d)).second)
      return std::nullopt;
  }
  return dims;
}

// A panel: `width` elements of an axis side by side.
struct Panel {
  int axis;
  int64_t width;
  bool blocks_outside = false;  // the loop over blocks of terms, then panels
};

// Panels, then the terms in the order of the loops, then a panel's width, then
// the terms of a group.
std::optional<Layout> PanelLayout(const Packable& constant, int spatial,
                                  const Panel& panel,
                                  const ReduceLoops& loops) {
  const std::vector<int64_t> shape = constant.tensor->static_shape();
  std::vector<Layout::Digit> digits;
  const auto add_terms = [&](const ReduceLoops::Part& part) {
    const auto dim = constant.dims.find(spatial + part.axis);
    if (dim != constant.dims.end())
      digits.push_back({dim->second, loops.divisor(part), loops.extent(part)});
  };
  const size_t end = loops.order.size() - (loops.grouped ? 1 : 0);
  const size_t outside = panel.blocks_outside ? 1 : 0;
  for (size_t i = 0; i < outside; ++i) add_terms(loops.order[i]);
  for (const auto& [axis, dim] : constant.dims) {
    if (axis >= spatial) continue;
    digits.push_back(
        axis == panel.axis
            ? Layout::Digit{dim, panel.width, CeilDiv(shape[dim], panel.width)}
            : Layout::Digit{dim, 1, shape[dim]});
  }
  for (size_t i = outside; i < end; ++i) add_terms(loops.order[i]);
  digits.push_back({constant.dims.at(panel.axis), 1, panel.width});
  if (loops.grouped) add_terms(loops.order.back());
  const std::vector<int64_t> none(shape.size(), 0);
  const absl::StatusOr<Layout> layout =
      Layout::Create(shape, none, none, digits, Layout::Fill::kUndefined);
  if (!layout.ok()) return std::nullopt;
  return *layout;
}

class Packer {
 public:
  Packer(ScheduleWriter& writer, Decider& decider, const Workload& workload,
         const Tensor& reduction, const OutputTiles& tiles,
         const ReduceLoops& loops)
      : writer_(writer),
        decider_(decider),
        workload_(workload),
        spatial_(static_cast<int>(reduction.compute.axes.size())),
        tiles_(tiles),
        loops_(loops) {}

  void Run(absl::Span<const Expr> body) {
    std::set<TensorId> done;
    ForEachLoad(body, [&](const Expr& load) {
      const Tensor& constant = workload_.graph.tensor(load.source());
      if (constant.kind != TensorKind::kConstant ||
          !done.insert(constant.id).second)
        return;
      const auto dims = DimOfAxis(load);
      if (!dims) return;
      if (dims->count(tiles_.vector_axis) != 0) {
        vectors_.push_back({&constant, *dims});
      } else if (dims->count(tiles_.row_axis) != 0) {
        rows_.push_back({&constant, *dims});
      }
    });
    if (!vectors_.empty()) PackVectors();
    if (!rows_.empty() && tiles_.axes[tiles_.row_axis].tile > 1) PackRows();
  }

 private:
  // Whether each of those that give vectors does so as it lies in memory.
  bool PlainGivesVectors() const {
    return std::all_of(
        vectors_.begin(), vectors_.end(), [&](const Packable& constant) {
          const Contiguous last =
              FindContiguous(workload_, constant.tensor->id);
          return last.dim == constant.dims.at(tiles_.vector_axis);
        });
  }

  void PackVectors() {
    std::vector<std::string> options = {"panels"};
    if (loops_.blocked) options.push_back("blocks");
    if (!loops_.grouped && PlainGivesVectors()) options.push_back("plain");
    const std::string& option = options[decider_.DecideNumber(
        "pack.b", Space::OneOf(options), [] { return 0; })];
    if (option == "plain") return;
    const AxisTile& tile = tiles_.axes[tiles_.vector_axis];
    const int64_t width = tile.vectors * tile.tile;
    const int64_t tiles = CeilDiv(tiles_.shape[tiles_.vector_axis], width);
    const int64_t together = decider_.DecideNumber(
        "pack.b.width", Space::Integers(1, tiles), [] { return 1; });
    Pack(vectors_, {tiles_.vector_axis, width * together, option == "blocks"});
  }

  void PackRows() {
    const int64_t panels = decider_.DecideNumber(
        "pack.a", Space::OneOf({"plain", "panels"}), [] { return 0; });
    if (panels == 1)
      Pack(rows_, {tiles_.row_axis, tiles_.axes[tiles_.row_axis].tile});
  }

  void Pack(const std::vector<Packable>& constants, const Panel& panel) {
    for (const Packable& constant : constants) {
      const std::optional<Layout> layout =
          PanelLayout(constant, spatial_, panel, loops_);
      if (layout) writer_.SetLayout(constant.tensor->name, layout->ToString());
    }
  }

  ScheduleWriter& writer_;
  Decider& decider_;
  const Workload& workload_;
  const int spatial_;
  const OutputTiles& tiles_;
  const ReduceLoops& loops_;
  std::vector<Packable> vectors_, rows_;
};

}  // namespace

void PackConstants(ScheduleWriter& writer, Decider& decider,
                   const Workload& workload, const Tensor& reduction,
                   absl::Span<const Expr> body, const OutputTiles& tiles,
                   const ReduceLoops& loops) {
  Packer(writer, decider, workload, reduction, tiles, loops).Run(body);
}

}  // namespace tilewright::sketch
