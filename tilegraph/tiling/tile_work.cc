#include "tilegraph/tiling/tile_work.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "tilegraph/operations.h"
#include "tilegraph/region.h"
#include "tilegraph/simplify.h"

namespace tilewright {
namespace {

// Tile variables have these ids, by dimension of the outputs.
constexpr int kTileVar = 1 << 20;
// More tiles than this are not looked at one by one.
constexpr int64_t kMostEnumerated = 1 << 16;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Which tile variables the region's base moves with along one dimension.
struct Motion {
  LinearForm form;
  std::vector<int> vars;  // dimensions of the outputs, ascending
  bool affine = true;     // every term is a tile variable
};

Motion MotionOf(const Expr& base, int dims, const RangeOf& ranges) {
  Motion motion{ToLinear(base, ranges), {}};
  for (const auto& [term, coefficient] : motion.form.terms)
    motion.affine &= term.op() == Op::kVar && term.var_id() >= kTileVar;
  std::vector<bool> seen(dims, false);
  Visit(base, [&](const Expr& e) {
    if (e.op() == Op::kVar && e.var_id() >= kTileVar)
      seen[e.var_id() - kTileVar] = true;
  });
  for (int d = 0; d < dims; ++d) {
    if (seen[d]) motion.vars.push_back(d);
  }
  return motion;
}

// How many of `extent` elements from `base` on, `step` apart, lie in [0, size).
int64_t Inside(int64_t base, int64_t extent, int64_t step, int64_t size) {
  const int64_t first = base < 0 ? CeilDiv(-base, step) : 0;
  const int64_t end =
      base >= size ? 0 : std::min(extent, CeilDiv(size - base, step));
  return std::max<int64_t>(0, end - first);
}

// Sums regions of one tensor over all tiles.
class Summation {
 public:
  Summation(const Region& region, std::vector<int64_t> shape,
            const std::vector<int64_t>& trips, const RangeOf& ranges)
      : region_(region),
        shape_(std::move(shape)),
        trips_(trips),
        ranges_(ranges) {
    for (const RegionDim& dim : region)
      motions_.push_back(
          MotionOf(dim.base, static_cast<int>(trips.size()), ranges));
  }

  std::vector<bool> Varies() const {
    std::vector<bool> varies(trips_.size(), false);
    for (const Motion& motion : motions_) {
      for (const int var : motion.vars) varies[var] = true;
    }
    return varies;
  }

  // Elements over all tiles, each tile's for itself.
  double Elements() const {
    // Dimensions that move with the same variables are summed together.
    double elements = 1;
    std::vector<bool> summed(region_.size(), false), free(trips_.size(), true);
    for (size_t d = 0; d < region_.size(); ++d) {
      if (summed[d]) continue;
      std::vector<size_t> dims = {d};
      std::vector<bool> vars(trips_.size(), false);
      for (const int var : motions_[d].vars) vars[var] = true;
      for (bool grown = true; grown;) {
        grown = false;
        for (size_t e = d + 1; e < region_.size(); ++e) {
          const std::vector<int>& own = motions_[e].vars;
          if (std::find(dims.begin(), dims.end(), e) != dims.end() ||
              std::none_of(own.begin(), own.end(),
                           [&](int var) { return vars[var]; }))
            continue;
          dims.push_back(e);
          for (const int var : own) vars[var] = true;
          grown = true;
        }
      }
      for (const size_t e : dims) summed[e] = true;
      std::vector<int> together;
      for (size_t v = 0; v < vars.size(); ++v) {
        if (vars[v]) together.push_back(static_cast<int>(v)), free[v] = false;
      }
      elements *= SumOver(dims, together);
    }
    for (size_t v = 0; v < free.size(); ++v) {
      if (free[v]) elements *= static_cast<double>(trips_[v]);
    }
    return elements;
  }

 private:
  int64_t At(size_t d, const std::vector<int64_t>& tile) const {
    const LinearForm& form = motions_[d].form;
    int64_t base = form.constant;
    for (const auto& [term, coefficient] : form.terms) {
      if (motions_[d].affine) {
        base += coefficient * tile[term.var_id() - kTileVar];
        continue;
      }
      const auto value =
          RangeOfExpr(term, [&](int var) -> std::optional<Range> {
            if (var < kTileVar) return ranges_(var);
            return Range{tile[var - kTileVar], tile[var - kTileVar]};
          });
      if (value) base += coefficient * value->min;
    }
    return Inside(base, region_[d].extent, region_[d].step, shape_[d]);
  }

  double SumOver(const std::vector<size_t>& dims,
                 const std::vector<int>& vars) const {
    if (vars.empty()) {
      const std::vector<int64_t> none;
      return static_cast<double>(At(dims[0], none));
    }
    int64_t tiles = 1;
    for (const int var : vars) tiles *= trips_[var];
    std::vector<int64_t> tile(trips_.size(), 0);
    const auto product = [&] {
      double elements = 1;
      for (const size_t d : dims) elements *= static_cast<double>(At(d, tile));
      return elements;
    };
    if (tiles > kMostEnumerated) {
      // An inner tile stands for all.
      for (const int var : vars) tile[var] = trips_[var] / 2;
      return product() * static_cast<double>(tiles);
    }
    double sum = 0;
    for (int64_t i = 0; i < tiles; ++i) {
      int64_t rest = i;
      for (const int var : vars) {
        tile[var] = rest % trips_[var];
        rest /= trips_[var];
      }
      sum += product();
    }
    return sum;
  }

  const Region& region_;
  const std::vector<int64_t> shape_;
  const std::vector<int64_t>& trips_;
  const RangeOf& ranges_;
  std::vector<Motion> motions_;
};

// Bytes that move, over bytes touched, if whole transactions move: of the runs
// of elements side by side in memory, which start anywhere that tiles and rows
// let them.
double Rounding(const Region& region, const Layout& layout,
                const std::vector<LinearForm>& bases, int64_t size_bytes,
                int64_t transaction_bytes) {
  if (transaction_bytes <= 1) return 1;
  int64_t run = 1, span = 1;
  // Starts of runs are multiples of this many elements.
  int64_t starts = 0;
  bool ended = false;
  for (size_t i = layout.digits().size(); i-- > 0;) {
    const Layout::Digit& digit = layout.digits()[i];
    const RegionDim& dim = region[digit.dim];
    const int64_t stride = layout.stride(static_cast<int>(i));
    const int64_t before = layout.pad_before()[digit.dim];
    const LinearForm& base = bases[digit.dim];
    starts = std::gcd(starts, (base.constant + before) / digit.div * stride);
    for (const auto& [term, coefficient] : base.terms)
      starts = std::gcd(starts,
                        std::max<int64_t>(1, coefficient / digit.div) * stride);
    const int64_t reach = (dim.extent - 1) * dim.step + 1;
    const int64_t covered = std::min(digit.extent, CeilDiv(reach, digit.div));
    if (ended || (stride > span && digit.extent > 1)) {
      ended = true;
      if (covered > 1) starts = std::gcd(starts, stride);
      continue;
    }
    run *= CeilDiv(covered, digit.div == 1 ? dim.step : 1);
    span *= covered;
    ended = covered < digit.extent;
  }
  const int64_t grain = std::gcd(starts * size_bytes, transaction_bytes);
  double moved = 0;
  for (int64_t start = 0; start < transaction_bytes; start += grain)
    moved += static_cast<double>(
        CeilDiv(start + span * size_bytes, transaction_bytes));
  moved *= static_cast<double>(grain);  // transactions on average, in bytes
  const double most = static_cast<double>(run * transaction_bytes * 2);
  return std::min(moved, most) / static_cast<double>(run * size_bytes);
}

class WorkCounter {
 public:
  WorkCounter(const TileGraph& graph, const Subgraph& part,
              const TileShape& tile, const TileWorkOptions& options)
      : graph_(graph.graph()), part_(part), tile_(tile), options_(options) {}

  absl::StatusOr<TileWork> Run() {
    TW_RETURN_IF_ERROR(PlaceTile());
    TW_RETURN_IF_ERROR(DescribeWholeTiles());
    // Tiles that are partial along some dimensions, along none of them first.
    for (uint32_t partial = 0; partial < (1u << shape_.size()); ++partial)
      TW_RETURN_IF_ERROR(AddTiles(partial));
    for (auto* list : {&work_.outputs, &work_.inside}) {
      for (const TileOperand& operand : *list) {
        const Tensor& tensor = graph_.tensor(operand.tensor);
        double points = operand.total_bytes / SizeBytes(tensor.dtype);
        for (const Axis& axis : tensor.compute.reduce_axes)
          points *= static_cast<double>(axis.extent.value());
        work_.flops +=
            points * static_cast<double>(OperationsPerPoint(tensor.compute));
      }
    }
    return std::move(work_);
  }

 private:
  absl::Status PlaceTile() {
    shape_ = graph_.tensor(part_.outputs.back()).static_shape();
    for (const TensorId output : part_.outputs) {
      if (graph_.tensor(output).static_shape() != shape_)
        return absl::InvalidArgumentError(absl::StrCat(
            "outputs ", graph_.tensor(part_.outputs.back()).name, " and ",
            graph_.tensor(output).name, " have no common tiling"));
    }
    if (tile_.spatial.size() != shape_.size())
      return absl::InvalidArgumentError(
          absl::StrCat("a tile of ", tile_.spatial.size(), " dimensions for ",
                       shape_.size()));
    for (size_t d = 0; d < shape_.size(); ++d) {
      if (tile_.spatial[d] < 1)
        return absl::InvalidArgumentError("an empty tile");
      tile_extents_.push_back(std::min(tile_.spatial[d], shape_[d]));
      work_.trips.push_back(CeilDiv(shape_[d], tile_extents_[d]));
      work_.tiles *= work_.trips.back();
    }
    return absl::OkStatus();
  }

  // Tiles that are partial along the dimensions in `partial` and whole along
  // the others: where they lie and how many there are per dimension. False if
  // there is none.
  bool TilesAre(uint32_t partial, Region& region,
                std::vector<int64_t>& trips) const {
    for (size_t d = 0; d < shape_.size(); ++d) {
      const int64_t rest = shape_[d] % tile_extents_[d];
      RegionDim dim;
      trips.push_back(rest == 0 ? work_.trips[d] : work_.trips[d] - 1);
      if (partial >> d & 1) {
        if (rest == 0) return false;
        dim.base = Expr::Int(shape_[d] - rest);
        dim.extent = rest;
        trips.back() = 1;
      } else {
        const Expr var =
            Expr::Var(kTileVar + static_cast<int>(d), absl::StrCat("tile", d));
        dim.base = trips.back() == 1 ? Expr::Int(0)
                                     : var * Expr::Int(tile_extents_[d]);
        dim.extent = tile_extents_[d];
      }
      region.push_back(std::move(dim));
    }
    return true;
  }

  absl::StatusOr<std::map<TensorId, Region>> RegionsOf(
      const Region& tile, const std::map<TensorId, Region>& steps,
      const RangeOf& ranges) const {
    std::map<TensorId, Region> tiles;
    for (const TensorId output : part_.outputs) tiles[output] = tile;
    return Propagate(graph_, tiles, part_.members, steps, ranges);
  }

  static RangeOf RangesOf(const std::vector<int64_t>& trips) {
    return [&trips](int var) -> std::optional<Range> {
      if (var < kTileVar) return std::nullopt;
      return Range{0, trips[var - kTileVar] - 1};
    };
  }

  // Everything but the sums.
  absl::Status DescribeWholeTiles() {
    Region tile;
    std::vector<int64_t> trips;
    TilesAre(0, tile, trips);
    const RangeOf ranges = RangesOf(trips);
    TW_ASSIGN_OR_RETURN(const auto whole, RegionsOf(tile, {}, ranges));
    TW_ASSIGN_OR_RETURN(const auto step,
                        RegionsOf(tile, ReduceSteps(), ranges));
    for (const TensorId input : part_.inputs)
      work_.inputs.push_back(Operand(input, whole.at(input), step.at(input),
                                     trips, ranges,
                                     options_.read_transaction_bytes));
    for (const TensorId member : part_.members) {
      const bool leaves = std::binary_search(part_.outputs.begin(),
                                             part_.outputs.end(), member);
      (leaves ? work_.outputs : work_.inside)
          .push_back(Operand(member, whole.at(member), whole.at(member), trips,
                             ranges, options_.write_transaction_bytes));
    }
    return absl::OkStatus();
  }

  absl::Status AddTiles(uint32_t partial) {
    Region tile;
    std::vector<int64_t> trips;
    if (!TilesAre(partial, tile, trips)) return absl::OkStatus();
    const RangeOf ranges = RangesOf(trips);
    TW_ASSIGN_OR_RETURN(const auto regions, RegionsOf(tile, {}, ranges));
    for (auto* list : {&work_.inputs, &work_.inside, &work_.outputs}) {
      for (TileOperand& operand : *list) {
        const Tensor& tensor = graph_.tensor(operand.tensor);
        const Summation sum(regions.at(operand.tensor), tensor.static_shape(),
                            trips, ranges);
        const double bytes = sum.Elements() * SizeBytes(tensor.dtype);
        operand.total_bytes += bytes;
        operand.total_moved_bytes +=
            bytes * RoundingOf(operand.tensor, regions.at(operand.tensor),
                               ranges,
                               list == &work_.inputs
                                   ? options_.read_transaction_bytes
                                   : options_.write_transaction_bytes);
      }
    }
    return absl::OkStatus();
  }

  std::map<TensorId, Region> ReduceSteps() const {
    std::map<TensorId, Region> steps;
    for (const auto& [member, extents] : tile_.reduce) {
      for (const int64_t extent : extents) {
        RegionDim dim;
        dim.base = Expr::Int(0);
        dim.extent = extent;
        steps[member].push_back(std::move(dim));
      }
    }
    return steps;
  }

  double RoundingOf(TensorId id, const Region& region, const RangeOf& ranges,
                    int64_t transaction_bytes) const {
    const Tensor& tensor = graph_.tensor(id);
    const std::vector<int64_t> shape = tensor.static_shape();
    std::vector<LinearForm> bases;
    Region clipped = region;
    for (size_t d = 0; d < shape.size(); ++d) {
      clipped[d].extent = std::min(region[d].extent, shape[d]);
      bases.push_back(ToLinear(region[d].base, ranges));
    }
    const auto layout = options_.layouts.find(id);
    return Rounding(clipped,
                    layout == options_.layouts.end() ? Layout::RowMajor(shape)
                                                     : layout->second,
                    bases, SizeBytes(tensor.dtype), transaction_bytes);
  }

  TileOperand Operand(TensorId id, const Region& whole, const Region& step,
                      const std::vector<int64_t>& trips, const RangeOf& ranges,
                      int64_t transaction_bytes) const {
    const Tensor& tensor = graph_.tensor(id);
    const std::vector<int64_t> shape = tensor.static_shape();
    TileOperand operand;
    operand.tensor = id;
    operand.step_bytes = SizeBytes(tensor.dtype);
    for (size_t d = 0; d < shape.size(); ++d) {
      operand.extents.push_back(std::min(step[d].extent, shape[d]));
      operand.step_bytes *= operand.extents.back();
    }
    operand.varies = Summation(whole, shape, trips, ranges).Varies();
    operand.rounding = RoundingOf(id, whole, ranges, transaction_bytes);
    return operand;
  }

  const TensorGraph& graph_;
  const Subgraph& part_;
  const TileShape& tile_;
  const TileWorkOptions& options_;
  std::vector<int64_t> shape_, tile_extents_;
  TileWork work_;
};

}  // namespace

absl::StatusOr<TileWork> WorkOfTiles(const TileGraph& graph,
                                     const Subgraph& part,
                                     const TileShape& tile,
                                     const TileWorkOptions& options) {
  return WorkCounter(graph, part, tile, options).Run();
}

}  // namespace tilewright
