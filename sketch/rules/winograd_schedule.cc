#include "sketch/rules/winograd_schedule.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/spec/caches.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "sketch/replay/winograd_form.h"
#include "sketch/rules/shared/annotations.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/rules/shared/tile_decisions.h"
#include "sketch/rules/winograd_layouts.h"
#include "sketch/rules/winograd_tasks.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/plan/register_tile.h"
#include "tilegraph/rewrite/winograd.h"
#include "tilegraph/rewrite/winograd_cost.h"

namespace tilewright::sketch {
namespace {

// Output channels whose products are there at a time: those of some register
// tiles, so that M of a task stays there too.
constexpr int64_t kChannelsPerBlock = 64;

// Axes of V (the last is c) and of M (the last is o).
enum : int { kA, kB, kN, kY, kX, kChannel, kRank };

class Builder {
 public:
  Builder(const Workload& workload, const DeviceSpec& spec, const Chain& chain,
          Decider& decider)
      : graph_(workload.graph),
        spec_(spec),
        chain_(chain),
        decider_(decider),
        output_(graph_.tensor(chain.output)),
        products_(graph_.tensor(*chain.reduction)),
        input_(graph_.tensor(graph_.Inputs(products_.id)[0])),
        filters_(graph_.tensor(graph_.Inputs(products_.id)[1])),
        lanes_(Lanes(graph_, spec)),
        m_(products_.compute.axes[kA].extent.value() - 2) {}

  Schedule Run(const std::string& convolution) {
    writer_.Winograd(writer_.Block(convolution), m_);
    for (const std::string& block : chain_.inlined) {
      if (block != input_.name) writer_.ComputeInline(writer_.Block(block));
    }
    DecideTasks();
    DecideOrder();
    const Handle last = writer_.Block(chain_.last);
    PackFilters();
    const Handle task = WriteTasks(writer_, task_, last);
    Products(OutputTransform(last).value_or(task));
    InputTransform(task);
    return std::move(writer_).Finish();
  }

 private:
  int64_t Extent(int axis) const {
    return products_.compute.axes[axis].extent.value();
  }
  int64_t InChannels() const {
    return products_.compute.reduce_axes[0].extent.value();
  }

  // Over all of M, in no tiles yet.
  OutputTiles WholeProducts() const {
    OutputTiles tiles;
    for (int axis = 0; axis < kRank; ++axis)
      tiles.shape.push_back(Extent(axis));
    tiles.axes.assign(kRank, {});
    tiles.vector_axis = kChannel;
    tiles.row_axis = kX;
    tiles.outer_row_axis = kY;
    tiles.axes[kA].tile = Extent(kA);
    tiles.axes[kB].tile = Extent(kB);
    return tiles;
  }

  static void SetTile(OutputTiles& tiles, const RegisterTile& tile,
                      int64_t lanes) {
    tiles.axes[kChannel].tile = tile.vectors * lanes;
    tiles.axes[kX].tile = tile.rows;
    tiles.axes[kY].tile = tile.outer_rows;
  }

  // All columns, and of the rest as many whole tiles as `task` holds.
  static void SetSteps(OutputTiles& tiles, const RegisterTile& tile,
                       const WinogradTask& task) {
    const auto take = [&](int axis, int64_t steps) {
      tiles.axes[axis].steps =
          std::clamp<int64_t>(steps, 1, tiles.TilesLeft(axis));
    };
    take(kX, tiles.TilesLeft(kX));
    take(kY, task.rows / tile.outer_rows);
    take(kChannel, task.vectors / tile.vectors);
  }

  RegisterTile DecideTile(WinogradTask& task) {
    TileSpace space{task.vectors, Extent(kX), task.rows,
                    static_cast<int>(spec_.unit().vector_registers()), 1};
    const RegisterTile rule = ChooseRegisterTile(space);
    // Only the last band may end inside a register tile.
    task.rows = CeilDiv(task.rows, rule.outer_rows) * rule.outer_rows;
    task.vectors = CeilDiv(task.vectors, rule.vectors) * rule.vectors;
    space.vectors = CeilDiv(Extent(kChannel), lanes_);
    space.outer_rows = Extent(kY);
    const auto tasks = [whole = WholeProducts(), task,
                        lanes = lanes_](const RegisterTile& tile) {
      OutputTiles tiles = whole;
      SetTile(tiles, tile, lanes);
      SetSteps(tiles, tile, task);
      return tiles.Tasks();
    };
    const int64_t least = LeastTasks(spec_, tasks(rule));
    space.allowed = [tasks, least](const RegisterTile& tile) {
      return tasks(tile) >= least;
    };
    return DecideRegisterTile(decider_, space, rule);
  }

  // Tasks over [n, o, h, w] of the output, tiles over M of one block of
  // products.
  void DecideTasks() {
    WinogradTask task = ChooseWinogradTask(
        {Extent(kN), Extent(kY), Extent(kX), CeilDiv(Extent(kChannel), lanes_)},
        std::max<int64_t>(1, spec_.unit().cores()));
    const RegisterTile tile = DecideTile(task);
    tiles_ = WholeProducts();
    SetTile(tiles_, tile, lanes_);
    OutputTiles rule = tiles_;
    SetSteps(rule, tile, task);
    DecideSteps(decider_, tiles_, spec_, {kChannel, kY, kX}, rule);

    AxisTile& channels = tiles_.axes[kChannel];
    task_.shape = output_.static_shape();
    task_.axes.assign(4, {});
    task_.axes[1].tile = channels.per_task();
    task_.axes[2].tile = tiles_.TaskExtent(kY) * m_;
    task_.axes[3].tile = tiles_.TaskExtent(kX) * m_;

    const int64_t all = channels.steps;
    channels.steps =
        decider_.DecideNumber("block.vectors", Space::Integers(1, all), [&] {
          const int64_t most =
              std::max<int64_t>(1, kChannelsPerBlock / channels.tile);
          return CeilDiv(all, CeilDiv(all, most));  // blocks of one size
        });
    tiles_.shape[kN] = 1;
    for (const int axis : {kY, kX, kChannel})
      tiles_.shape[axis] = tiles_.TaskExtent(axis);

    std::vector<int64_t> input = tiles_.shape;
    input[kChannel] = InChannels();
    input_layout_ =
        DecideInputLayout(decider_, input, lanes_, SizeBytes(input_.dtype));
  }

  void DecideOrder() {
    std::vector<int> axes = {kA};  // stands for all that no task cuts
    std::vector<std::string> roles = {"positions"};
    for (const int axis : tiles_.StepOrder()) {
      if (tiles_.axes[axis].steps == 1) continue;
      axes.push_back(axis);
      roles.push_back(axis == kChannel ? "vectors"
                      : axis == kY     ? "outer_rows"
                                       : "rows");
    }
    const DecisionValue order =
        decider_.Decide("order", Space::Permutation(std::move(roles)), [&] {
          DecisionValue as_they_are(axes.size());
          std::iota(as_they_are.begin(), as_they_are.end(), 0);
          return as_they_are;
        });
    for (const int64_t i : order) order_.push_back(axes[i]);
  }

  void PackFilters() {
    const AxisTile& channels = tiles_.axes[kChannel];
    const std::optional<Layout> layout =
        DecideFilterLayout(decider_, filters_.static_shape(),
                           {channels.tile, channels.per_task()});
    if (layout) writer_.SetLayout(filters_.name, layout->ToString());
  }

  std::vector<Handle> Cut(Handle block, const std::string& axis, int64_t extent,
                          int64_t inner) {
    return writer_.Split(writer_.Loop(block, axis),
                         Factors{CeilDiv(extent, inner), inner});
  }

  // The loop over blocks of channels, if a task has several.
  std::optional<Handle> OutputTransform(Handle last) {
    const std::vector<Axis>& axes = output_.compute.axes;
    const auto cut = [&](int axis, int64_t inner) {
      return Cut(last, axes[axis].name, task_.TaskExtent(axis), inner);
    };
    const int64_t channels = task_.TaskExtent(1),
                  block = tiles_.axes[kChannel].per_task();
    const Factors by_vector = {CeilDiv(std::min(channels, block), lanes_),
                               lanes_};
    std::optional<Handle> blocks;
    Handle o = writer_.Loop(last, axes[1].name);
    if (block < channels) {
      const std::vector<Handle> parts =
          writer_.Split(o, {CeilDiv(channels, block), block});
      blocks = parts[0];
      o = parts[1];
    }
    const std::vector<Handle> v = writer_.Split(o, by_vector), h = cut(2, m_),
                              w = cut(3, m_);
    std::vector<Handle> order = {writer_.Loop(last, axes[0].name)};
    if (blocks) order.push_back(*blocks);
    order.insert(order.end(), {v[0], h[0], w[0], h[1], w[1], v[1]});
    writer_.Reorder(order);
    writer_.Annotate(h[1], "tile");
    return blocks;
  }

  void Products(Handle at) {
    const Handle block = writer_.Block(products_.name);
    writer_.ComputeAt(block, at);
    const std::vector<Axis>& axes = products_.compute.axes;
    const Nest nest = CutSpatial(writer_, tiles_, block, axes, true);
    // First the loops over positions and images, then the steps.
    const auto positions = nest.steps.begin() + 3;
    auto next = positions;
    std::map<int, std::vector<Handle>> loops;  // by axis in order_
    loops[kA].assign(nest.steps.begin(), positions);
    for (const int axis : tiles_.StepOrder()) {
      if (tiles_.axes[axis].steps > 1) loops[axis] = {*next++};
    }
    std::vector<Handle> order;
    for (const int axis : order_)
      order.insert(order.end(), loops[axis].begin(), loops[axis].end());
    Handle terms = writer_.Loop(block, products_.compute.reduce_axes[0].name);
    if (input_layout_ && InChannels() > lanes_) {
      const std::vector<Handle> parts =
          writer_.Split(terms, {InChannels() / lanes_, lanes_});
      order.push_back(parts[0]);
      terms = parts[1];
    }
    order.push_back(terms);
    order.insert(order.end(), nest.tile.begin(), nest.tile.end());
    Arrange(writer_, order, nest.tile.front());
    DecideUnroll(decider_, writer_, terms);
    DecideRunPrefetch(decider_, writer_, terms, FiltersAreFar());
    TileMap(writer_, tiles_, writer_.CacheWrite(block, "registers"), axes,
            false);
  }

  void InputTransform(Handle task) {
    const Handle block = writer_.Block(input_.name);
    writer_.ComputeAt(block, task);
    const std::vector<Axis>& axes = input_.compute.axes;
    const std::vector<Handle> c = Cut(block, axes[kChannel].name, InChannels(),
                                      std::min(lanes_, InChannels()));
    const auto loop = [&](int axis) {
      return writer_.Loop(block, axes[axis].name);
    };
    const Handle a = loop(kA), b = loop(kB), n = loop(kN), y = loop(kY),
                 x = loop(kX);
    if (input_layout_) {
      writer_.Reorder({n, c[0], y, x, a, b, c[1]});
      writer_.SetLayout(input_.name, input_layout_->ToString());
      if (InChannels() > lanes_) PrefetchData(c[0]);
    } else {
      writer_.Reorder({n, y, x, c[0], a, b, c[1]});
    }
    writer_.Annotate(a, "tile");
  }

  // Vectors of channels ahead: the rows of data that a vector takes are pages
  // away from those of the next, further than hardware follows.
  void PrefetchData(Handle channels) {
    const Tensor& data = graph_.tensor(graph_.Inputs(input_.id)[0]);
    const int64_t steps = decider_.DecideNumber(
        "input.prefetch", Space::Integers(0, 2),
        [&] { return data.num_bytes() > PrivateCacheBytes(spec_) ? 1 : 0; });
    writer_.Annotate(channels, absl::StrCat("prefetch=", steps));
  }

  // Whether the filters come from beyond the core's own cache, where the rest
  // of a task takes its share.
  bool FiltersAreFar() const {
    return filters_.num_bytes() > PrivateCacheBytes(spec_) / 2;
  }

  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const Chain& chain_;
  Decider& decider_;
  const Tensor &output_, &products_, &input_, &filters_;
  const int64_t lanes_, m_;
  OutputTiles task_;                    // over the output
  OutputTiles tiles_;                   // over the products of a block
  std::optional<Layout> input_layout_;  // unset: plain
  std::vector<int> order_;              // of the loops around a register tile
  ScheduleWriter writer_;
};

int DecideTiles(const TensorGraph& graph,
                const WinogradConvolution& convolution, const DeviceSpec& spec,
                Decider& decider) {
  const std::vector<int> tiles = WinogradTiles(graph, convolution);
  std::vector<std::string> options;
  for (const int m : tiles) options.push_back(absl::StrCat(m));
  const int64_t taken = decider.DecideNumber(
      "winograd.m", Space::OneOf(std::move(options)),
      [&] {
        const int m = FastestWinogradTile(convolution.shape, tiles, spec);
        return std::find(tiles.begin(), tiles.end(), m) - tiles.begin();
      },
      Bits::kMayChange);
  return tiles[taken];
}

}  // namespace

bool OffersWinograd(const Workload& workload) {
  const std::optional<WinogradConvolution> convolution =
      FindWinograd(workload.graph);
  if (!convolution || !workload.stages.empty() ||
      WinogradTiles(workload.graph, *convolution).empty())
    return false;
  const absl::StatusOr<Chain> chain = FindChain(workload.graph);
  return chain.ok() && chain->reduction == convolution->output &&
         workload.graph.tensor(chain->output).shape.size() == 4;
}

bool DecideWinograd(Decider& decider) {
  const int64_t form = decider.DecideNumber(
      "form", Space::OneOf({"direct", "winograd"}), [] { return 1; },
      Bits::kMayChange);
  return form == 1;
}

absl::StatusOr<Schedule> WinogradSchedule(const Workload& workload,
                                          const DeviceSpec& spec,
                                          Decider& decider) {
  const WinogradConvolution convolution = *FindWinograd(workload.graph);
  const int m = DecideTiles(workload.graph, convolution, spec, decider);
  const WinogradForm form = MakeWinogradForm(workload, convolution, m);
  TW_ASSIGN_OR_RETURN(const Chain chain, FindChain(form.workload.graph));
  return Builder(form.workload, spec, chain, decider)
      .Run(workload.graph.tensor(convolution.output).name);
}

}  // namespace tilewright::sketch
