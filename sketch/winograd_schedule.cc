#include "sketch/winograd_schedule.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "sketch/output_tiles.h"
#include "sketch/register_tile.h"
#include "tilegraph/winograd.h"

namespace tilewright::sketch {
namespace {

// Tiles of one task: enough rows for the products to run at full speed, few
// enough for V and M of a task to stay in the second-level cache.
constexpr int64_t kTilesPerTask = 28;
// Output channels of one task: the input transform is done once for them.
constexpr int64_t kChannelsPerTask = 64;

// Axes of V (the last is c) and of M (the last is o).
enum : int { kA, kB, kN, kY, kX, kChannel, kRank };

class Builder {
 public:
  Builder(const Workload& workload, const DeviceSpec& spec, const Chain& chain)
      : graph_(workload.graph),
        spec_(spec),
        chain_(chain),
        output_(graph_.tensor(chain.output)),
        products_(graph_.tensor(*chain.reduction)),
        input_(graph_.tensor(graph_.Inputs(products_.id)[0])),
        filters_(graph_.tensor(graph_.Inputs(products_.id)[1])),
        lanes_(Lanes(graph_, spec)),
        m_(products_.compute.axes[kA].extent.value() - 2) {}

  Schedule Run() {
    for (const std::string& block : chain_.inlined) {
      if (block != input_.name) writer_.ComputeInline(writer_.Block(block));
    }
    ChooseTask();
    const Handle last = writer_.Block(chain_.last);
    SetFilterLayout();
    const Handle task = WriteTasks(writer_, task_, last);
    OutputTransform(last);
    Products(task);
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

  // Tasks over [n, o, h, w] of the output, tiles over M of one task.
  void ChooseTask() {
    const int64_t bands =
        CeilDiv(Extent(kY), std::max<int64_t>(1, kTilesPerTask / Extent(kX)));
    int64_t rows = CeilDiv(Extent(kY), bands);
    const int64_t vectors = CeilDiv(Extent(kChannel), lanes_);
    int64_t block = std::min(vectors, kChannelsPerTask / lanes_);
    const int64_t wanted = 2 * std::max<int64_t>(1, spec_.unit().cores());
    while (block > 1 && bands * Extent(kN) * CeilDiv(vectors, block) < wanted)
      block = CeilDiv(block, 2);
    const RegisterTile tile = ChooseRegisterTile(
        {block, Extent(kX), rows,
         static_cast<int>(spec_.unit().vector_registers()), 1});
    block = CeilDiv(block, tile.vectors) * tile.vectors;
    // Only the last band may end inside a register tile.
    rows =
        std::min(Extent(kY), CeilDiv(rows, tile.outer_rows) * tile.outer_rows);

    product_tiles_.shape = {Extent(kA), Extent(kB), 1,
                            rows,       Extent(kX), block * lanes_};
    product_tiles_.axes.assign(kRank, {});
    product_tiles_.vector_axis = kChannel;
    product_tiles_.row_axis = kX;
    product_tiles_.outer_row_axis = kY;
    const auto cut = [&](int axis, int64_t size) {
      product_tiles_.axes[axis].tile = size;
      product_tiles_.axes[axis].steps =
          CeilDiv(product_tiles_.shape[axis], size);
    };
    product_tiles_.axes[kA].tile = Extent(kA);
    product_tiles_.axes[kB].tile = Extent(kB);
    cut(kChannel, tile.vectors * lanes_);
    cut(kX, tile.rows);
    cut(kY, tile.outer_rows);
    // The channels there are may be fewer than whole tiles.
    product_tiles_.shape[kChannel] = std::min(block * lanes_, Extent(kChannel));

    task_.shape = output_.static_shape();
    task_.axes.assign(4, {});
    task_.axes[1].tile = block * lanes_;
    task_.axes[2].tile = rows * m_;
    task_.axes[3].tile = task_.shape[3];
  }

  // In the order in which tasks and loops read them.
  void SetFilterLayout() {
    const int64_t block = task_.axes[1].tile,
                  panel = product_tiles_.axes[kChannel].tile;
    const std::vector<int64_t> shape = filters_.static_shape();
    const std::vector<int64_t> none(4, 0);
    const absl::StatusOr<Layout> layout =
        Layout::Create(shape, none, none,
                       {{2, block, CeilDiv(shape[2], block)},
                        {0, 1, shape[0]},
                        {1, 1, shape[1]},
                        {2, panel, block / panel},
                        {3, 1, shape[3]},
                        {2, 1, panel}},
                       Layout::Fill::kUndefined);
    if (layout.ok()) writer_.SetLayout(filters_.name, layout->ToString());
  }

  std::vector<Handle> Cut(Handle block, const std::string& axis, int64_t extent,
                          int64_t inner) {
    return writer_.Split(writer_.Loop(block, axis),
                         Factors{CeilDiv(extent, inner), inner});
  }

  void OutputTransform(Handle last) {
    const std::vector<Axis>& axes = output_.compute.axes;
    const auto cut = [&](int axis, int64_t inner) {
      return Cut(last, axes[axis].name, task_.TaskExtent(axis), inner);
    };
    const std::vector<Handle> o = cut(1, lanes_), h = cut(2, m_),
                              w = cut(3, m_);
    writer_.Reorder(
        {writer_.Loop(last, axes[0].name), o[0], h[0], w[0], h[1], w[1], o[1]});
    writer_.Annotate(h[1], "tile");
  }

  void Products(Handle task) {
    const Handle block = writer_.Block(products_.name);
    writer_.ComputeAt(block, task);
    const std::vector<Axis>& axes = products_.compute.axes;
    const Nest nest = CutSpatial(writer_, product_tiles_, block, axes, true);
    std::vector<Handle> order = nest.steps;
    order.push_back(writer_.Loop(block, products_.compute.reduce_axes[0].name));
    order.insert(order.end(), nest.tile.begin(), nest.tile.end());
    Arrange(writer_, order, nest.tile.front());
    TileMap(writer_, product_tiles_, writer_.CacheWrite(block, "registers"),
            axes, false);
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
    const Handle a = loop(kA);
    writer_.Reorder({loop(kN), loop(kY), loop(kX), c[0], a, loop(kB), c[1]});
    writer_.Annotate(a, "tile");
  }

  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const Chain& chain_;
  const Tensor &output_, &products_, &input_, &filters_;
  const int64_t lanes_, m_;
  OutputTiles task_, product_tiles_;
  ScheduleWriter writer_;
};

}  // namespace

bool IsWinograd(const Workload& workload, const Chain& chain) {
  const TensorGraph& graph = workload.graph;
  if (!chain.reduction) return false;
  const Tensor& products = graph.tensor(*chain.reduction);
  if (products.hint != kWinogradHint || products.compute.axes.size() != kRank ||
      products.compute.reduce_axes.size() != 1)
    return false;
  const std::vector<TensorId> inputs = graph.Inputs(products.id);
  return inputs.size() == 2 &&
         graph.tensor(inputs[0]).kind == TensorKind::kCompute &&
         graph.tensor(inputs[0]).compute.axes.size() == kRank &&
         graph.tensor(inputs[1]).kind == TensorKind::kConstant &&
         graph.tensor(chain.output).shape.size() == 4;
}

Schedule WinogradSchedule(const Workload& workload, const DeviceSpec& spec,
                          const Chain& chain, Decider&) {
  return Builder(workload, spec, chain).Run();
}

}  // namespace tilewright::sketch
