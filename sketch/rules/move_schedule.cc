#include "sketch/rules/move_schedule.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "base/memory_units.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/rules/shared/tile_decisions.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::sketch {
namespace {

// Contiguous bytes that a tile spans: several lines, so that those which two
// rows share are still there, and pages are used for a while.
constexpr int64_t kSideBytes = 1024;
// Bytes of a tile: both sides stay in the second-level cache.
constexpr int64_t kTileBytes = int64_t{256} << 10;
// Lines beside each other that may be decided for.
constexpr int64_t kMostLines = 64;

// The offset of a load at one point of the output.
std::optional<int64_t> OffsetAt(const Expr& offset, int axis, int64_t at) {
  const Expr bound = Simplify(
      Substitute(offset,
                 [&](int var) { return Expr::Int(var == axis ? at : 0); }),
      [](int) { return std::nullopt; });
  if (bound.op() != Op::kConst) return std::nullopt;
  return bound.int_value();
}

// How many elements along `axis` lie side by side from the first on: `extent`
// of them, or a power of two.
int64_t RunAlong(const Expr& offset, int axis, int64_t extent) {
  const std::optional<int64_t> first = OffsetAt(offset, axis, 0);
  const auto side_by_side = [&](int64_t count) {
    return first && OffsetAt(offset, axis, count - 1) == *first + count - 1;
  };
  int64_t run = 1;
  while (2 * run < extent && side_by_side(2 * run)) run *= 2;
  return side_by_side(extent) ? extent : run;
}

}  // namespace

std::vector<Crossing> FindCrossings(const Workload& workload,
                                    const Chain& chain) {
  const TensorGraph& graph = workload.graph;
  const std::vector<int64_t> shape = graph.tensor(chain.output).static_shape();
  std::vector<Crossing> found;
  if (shape.empty()) return found;
  const int vector_axis = FindContiguous(workload, chain.output).dim;
  int64_t largest = 0;
  ForEachLoad(InlinedBody(graph, chain.output), [&](const Expr& load) {
    const Tensor& source = graph.tensor(load.source());
    const Layout layout = workload.LayoutOf(load.source());
    const int64_t bytes = layout.physical_elements() * SizeBytes(source.dtype);
    const Expr offset = layout.Offset(load.operands());
    const std::optional<int64_t> here = OffsetAt(offset, vector_axis, 0),
                                 next = OffsetAt(offset, vector_axis, 1);
    // Nothing moves along the vectors, or it is contiguous there.
    if (!here || !next || *here == *next || *next == *here + 1) return;
    std::vector<Crossing> axes;  // the longest run first
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
      const int64_t run =
          RunAlong(offset, axis, std::min<int64_t>(shape[axis], kSideBytes));
      if (axis != vector_axis && run > 1) axes.push_back({axis, run});
    }
    if (axes.empty()) return;
    std::stable_sort(
        axes.begin(), axes.end(),
        [](const Crossing& a, const Crossing& b) { return a.run > b.run; });
    found.insert(bytes > largest ? found.begin() : found.end(), axes.begin(),
                 axes.end());
    largest = std::max(largest, bytes);
  });
  std::vector<Crossing> distinct;
  for (const Crossing& crossing : found) {
    if (std::none_of(
            distinct.begin(), distinct.end(),
            [&](const Crossing& one) { return one.axis == crossing.axis; }))
      distinct.push_back(crossing);
  }
  return distinct;
}

namespace {

// The distance from one to the next of where `body` changes along an axis, as
// where a part of a concatenation ends; 0: it does not.
int64_t StepOfParts(const std::vector<Expr>& body, int axis) {
  int64_t step = 0;
  for (const Expr& e : body) {
    Visit(e, [&](const Expr& part) {
      const auto bound = AsUpperBound(part);
      if (bound && bound->first == axis) step = std::gcd(step, bound->second);
    });
  }
  return step;
}

// At most `count` units, as many as fill such steps: a tile of several parts
// loads one element after the other.
int64_t FillingParts(int64_t count, int64_t unit, int64_t step) {
  if (step % unit != 0) return count;
  while (step % (count * unit) != 0) --count;
  return count;
}

// The tiles of a move whose vectors cross `crossing`, inside of whatever else
// there is: so many units of the vector axis, and pieces of that one.
class MoveTiles {
 public:
  // `body`: of the output, with all before it.
  MoveTiles(const OutputTiles& start, const VectorUnit& unit,
            const Crossing& crossing, int64_t bytes,
            const std::vector<Expr>& body)
      : start_(start), unit_(unit), bytes_(bytes) {
    if (start_.row_axis != crossing.axis) {
      start_.outer_row_axis = start_.row_axis;
      start_.row_axis = crossing.axis;
    }
    const int64_t line = std::max<int64_t>(1, kLineBytes / bytes);
    const int64_t extent = start_.shape[crossing.axis];
    const int64_t side = std::min(extent, kSideBytes / bytes);
    const int64_t columns =
        std::min(kSideBytes / bytes, kTileBytes / bytes / side);
    // Runs shorter than a line are powers of two, or the whole axis.
    piece_ = std::min(crossing.run, line);
    units_ = CeilDiv(start_.shape[start_.vector_axis], unit.elements);
    pieces_ = CeilDiv(extent, piece_);
    rule_ = {std::min(units_, std::max<int64_t>(1, columns / unit.elements)),
             CeilDiv(std::min(crossing.run, side), piece_)};
    if (piece_ < line) return;  // nothing is transposed in whole lines
    rule_ = {FillingParts(rule_[0], unit.elements,
                          StepOfParts(body, start_.vector_axis)),
             FillingParts(rule_[1], piece_, StepOfParts(body, crossing.axis))};
  }

  // Tiles that the rule leaves, and the smallest one.
  int64_t CountByRule() const { return With(rule_).Tasks(); }
  int64_t MostTiles() const { return With({1, 1}).Tasks(); }

  // "tile". `least`: tiles that are left at least.
  OutputTiles Decide(const ComputeLocation& location, int64_t least) const {
    const DecisionValue rule =
        CountByRule() < least ? DecisionValue{1, 1} : rule_;
    const auto admits = [*this, rule, least,
                         inside = location.inside.has_value(),
                         bounds = location.bounds](const DecisionValue& value) {
      if (value == rule) return true;
      const OutputTiles tiles = With(value);
      const int64_t rows = tiles.axes[tiles.row_axis].tile;
      const int64_t width = value[0] * unit_.elements;
      if (width * rows * bytes_ > kTileBytes) return false;
      if (!inside) return tiles.Tasks() >= least;
      return bounds.Allow(tiles.vector_axis, width,
                          tiles.shape[tiles.vector_axis]) &&
             bounds.Allow(tiles.row_axis, rows, tiles.shape[tiles.row_axis]);
    };
    const auto most = [](int64_t all, int64_t by_rule) {
      return std::min(all, std::max(kMostLines, by_rule));
    };
    return With(location.decider.Decide(
        "tile",
        Space::Composite(
            {{"columns", Space::Integers(1, most(units_, rule[0]))},
             {"rows", Space::Integers(1, most(pieces_, rule[1]))}},
            admits),
        [&] { return rule; }));
  }

 private:
  OutputTiles With(const DecisionValue& value) const {
    OutputTiles result = start_;
    SetVectors(result, unit_, value[0]);
    result.axes[result.row_axis].tile =
        std::min(value[1] * piece_, result.shape[result.row_axis]);
    return result;
  }

  OutputTiles start_;
  VectorUnit unit_;
  int64_t bytes_;  // of an element
  int64_t piece_;  // elements of the crossing axis that are moved together
  int64_t units_, pieces_;
  DecisionValue rule_;
};

// "across": those of the crossings that can leave `least` tasks; the first one
// by preference.
size_t DecideCrossing(Decider& decider, const std::vector<Crossing>& crossings,
                      const std::vector<MoveTiles>& tiles, int64_t least) {
  std::vector<size_t> options;
  std::vector<std::string> axes;
  for (size_t i = 0; i < crossings.size(); ++i) {
    if (tiles[i].MostTiles() < least) continue;
    options.push_back(i);
    axes.push_back(absl::StrCat("axis", crossings[i].axis));
  }
  return options[decider.DecideNumber("across", Space::OneOf(std::move(axes)),
                                      [] { return 0; })];
}

}  // namespace

void WriteMove(const Workload& workload, const DeviceSpec& spec,
               const Chain& chain, const std::vector<Crossing>& crossings,
               const ComputeLocation& location) {
  const TensorGraph& graph = workload.graph;
  const Tensor& output = graph.tensor(chain.output);
  ScheduleWriter& writer = location.writer;
  for (const std::string& block : chain.inlined)
    writer.ComputeInline(writer.Block(block));
  const Handle last = writer.Block(chain.last);
  const int64_t bytes = SizeBytes(output.dtype);
  const VectorUnit unit =
      UnitOf(workload, chain.output, std::max<int64_t>(1, kLineBytes / bytes));
  const OutputTiles start = StartTiles(workload, chain.output);
  std::vector<MoveTiles> across;
  const std::vector<Expr> body = InlinedBody(graph, chain.output);
  for (const Crossing& crossing : crossings)
    across.emplace_back(start, unit, crossing, bytes, body);
  const int64_t least =
      location.inside ? 1 : LeastTasks(spec, across[0].CountByRule());
  OutputTiles tiles =
      across[DecideCrossing(location.decider, crossings, across, least)].Decide(
          location, least);
  if (location.inside) {
    TakeWhole(tiles);
  } else {
    DecideSteps(location.decider, tiles, spec,
                {tiles.row_axis, tiles.vector_axis, tiles.outer_row_axis},
                BudgetOf(tiles, spec, 2));
  }
  DecideStepOrder(location.decider, tiles);
  if (!location.inside) WriteTasks(writer, tiles, last);
  TileMap(writer, tiles, last, output.compute.axes, true);
}

}  // namespace tilewright::sketch
