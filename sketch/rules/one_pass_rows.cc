#include "sketch/rules/one_pass_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/spec/caches.h"
#include "base/ceil_div.h"
#include "sketch/replay/online_reduction.h"
#include "sketch/rules/row_decisions.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kMostVectors = 16;

// The blocks that the group consists of, in order.
struct Parts {
  const RowBlock* first = nullptr;  // the sum that the other one follows
  const RowBlock* second = nullptr;
  std::vector<const RowBlock*> between;  // of the second: inlined
  std::vector<const RowBlock*> behind;   // values of a row
  const RowBlock* output = nullptr;
};

std::optional<Parts> FindParts(const RowBlocks& blocks) {
  if (blocks.contiguous_row) return std::nullopt;  // rows lie side by side
  Parts parts;
  for (const RowBlock& block : blocks.blocks) {
    if (&block == &blocks.blocks.back()) {
      parts.output = &block;
    } else if (block.reduces) {
      if (parts.second != nullptr) return std::nullopt;
      (parts.first == nullptr ? parts.first : parts.second) = &block;
    } else {
      if (parts.first == nullptr || !block.inner.empty()) return std::nullopt;
      (parts.second == nullptr ? parts.between : parts.behind)
          .push_back(&block);
    }
  }
  if (parts.second == nullptr || parts.output->reduces ||
      parts.first->inner.empty() || parts.output->inner.empty() ||
      parts.first->inner.size() != parts.second->inner.size())
    return std::nullopt;
  return parts;
}

// Whether the sum follows the other one, as far as the graph tells.
bool HasRescaling(const TensorGraph& graph, const Parts& parts) {
  const Compute& a = graph.tensor(parts.first->tensor).compute;
  const Compute& b = graph.tensor(parts.second->tensor).compute;
  const size_t spatial = a.axes.size(), first = b.axes.size();
  if (a.combiner->arity() != 1 || b.combiner->arity() != 1 ||
      a.reduce_axes.size() != b.reduce_axes.size())
    return false;
  // rolling_update cuts the first axis into blocks.
  if (a.reduce_axes[0].name != parts.first->inner[0].name ||
      b.reduce_axes[0].name != parts.second->inner[0].name)
    return false;
  int64_t steps = 1;
  for (size_t i = 0; i < a.reduce_axes.size(); ++i) {
    if (a.reduce_axes[i].extent.value() != b.reduce_axes[i].extent.value())
      return false;
    steps *= a.reduce_axes[i].extent.value();
  }
  const Expr value = InlinedBody(graph, parts.first->tensor)[0];
  // In the same steps.
  const auto reduces = [&](const Expr& x, const Expr& load) {
    std::map<int, Expr> bound;
    for (size_t i = 0; i < spatial; ++i)
      bound.emplace(static_cast<int>(i), load.operand(static_cast<int>(i)));
    for (size_t i = 0; i < a.reduce_axes.size(); ++i) {
      bound.emplace(
          static_cast<int>(spatial + i),
          Expr::Var(static_cast<int>(first + i), b.reduce_axes[i].name));
    }
    return Matches(value, x, bound);
  };
  return FindRescaling(*a.combiner, *b.combiner,
                       InlinedBody(graph, parts.second->tensor)[0],
                       parts.first->tensor, steps, reduces) != nullptr;
}

// Steps of a block along the outermost axis of a row: the longest that stays in
// the first-level cache, all alike if there is such a number that is not much
// smaller.
int64_t StepsOfABlock(const RowBlock& sum, int64_t bytes_per_element,
                      const DeviceSpec& spec) {
  const int64_t extent = sum.inner[0].extent;
  const int64_t bytes = sum.row_elements() / extent * bytes_per_element;
  const int64_t longest =
      std::clamp<int64_t>(FirstCacheBytes(spec) / 2 / bytes, 1, extent - 1);
  for (int64_t steps = longest; steps > longest / 2; --steps) {
    if (extent % steps == 0) return steps;
  }
  return longest;
}

class Writer {
 public:
  Writer(const Workload& workload, const DeviceSpec& spec,
         const RowBlocks& blocks, const Parts& parts, int64_t steps,
         const ComputeLocation& location)
      : graph_(workload.graph),
        parts_(parts),
        steps_(steps),
        lanes_(Lanes(graph_, spec)),
        inlined_(blocks.inlined),
        decider_(location.decider),
        writer_(location.writer) {}

  void Run() {
    partials_ = DecideVectors("reduce.partials", LanesExtent(*parts_.second),
                              Bits::kMayChange);
    vectors_ = DecideVectors("elementwise.vectors", LanesExtent(*parts_.output),
                             Bits::kSame);
    for (const std::string& name : inlined_)
      writer_.ComputeInline(writer_.Block(name));
    for (const RowBlock* block : parts_.between)
      writer_.ComputeInline(writer_.Block(block->name));
    const Handle output = writer_.Block(parts_.output->name);
    const Handle first = writer_.Block(parts_.first->name),
                 second = writer_.Block(parts_.second->name);
    const Handle row = WriteTasks(output);
    for (size_t i = parts_.behind.size(); i-- > 0;)
      writer_.ComputeAt(writer_.Block(parts_.behind[i]->name), row);
    writer_.ComputeAt(second, row);

    const RowAxis& along = parts_.second->inner[0];
    const std::vector<int64_t> factors = {CeilDiv(along.extent, steps_),
                                          steps_};
    const Handle blocks =
        writer_.Split(writer_.Loop(second, along.name), factors)[0];
    const std::vector<Axis>& spatial =
        graph_.tensor(parts_.second->tensor).compute.axes;
    std::vector<Handle> order = {blocks};
    for (const Axis& axis : spatial)
      order.push_back(writer_.Loop(second, axis.name));
    if (order.size() > 1) writer_.Reorder(order);
    const Handle squares = writer_.RFactor(second, blocks);
    const Handle loop = writer_.Loop(second, absl::StrCat(along.name, ".0"));
    order = {loop};
    for (const Axis& axis : spatial)
      order.push_back(writer_.Loop(second, axis.name));
    if (order.size() > 1) writer_.Reorder(order);
    writer_.ComputeAt(squares, loop);
    const Handle sums = writer_.RollingUpdate(first, loop, factors);
    CutSum(*parts_.second, squares);
    CutSum(*parts_.first, sums);
    writer_.Annotate(
        CutLanes(*parts_.output, output, parts_.output->inner[0].name), "tile");
  }

 private:
  // One row a task; returns its loop.
  Handle WriteTasks(Handle output) {
    const Tensor& tensor = graph_.tensor(parts_.output->tensor);
    const std::vector<int64_t> shape = tensor.static_shape();
    std::vector<Factors> tasks;
    for (size_t i = 0; i < shape.size(); ++i) {
      bool of_row = false;
      for (const RowAxis& axis : parts_.output->rows)
        of_row |= axis.name == tensor.compute.axes[i].name;
      const int64_t per_task = of_row ? 1 : shape[i];
      tasks.push_back(Factors{shape[i] / per_task, per_task});
    }
    return writer_.GroupTile({output}, tasks).back();
  }

  // Whether the axes of a row are one loop.
  static bool TakesWhole(const RowBlock& block) {
    return block.inner.size() > 1 && block.fusible == 0;
  }

  // Elements of the loop along a row, or along a block of it, that is cut into
  // vectors.
  int64_t LanesExtent(const RowBlock& block) const {
    const int64_t outermost = block.reduces ? steps_ : block.inner[0].extent;
    if (block.inner.size() == 1) return outermost;
    return TakesWhole(block)
               ? outermost * (block.row_elements() / block.inner[0].extent)
               : block.inner.back().extent;
  }

  int64_t DecideVectors(const char* name, int64_t extent, Bits bits) {
    const int64_t most = std::min(kMostVectors, CeilDiv(extent, lanes_));
    return decider_.DecideNumber(
        name, Space::Integers(1, most),
        [&] { return std::min(kRowVectors, most); }, bits);
  }

  // The loops along a row, the outermost named `outermost`, cut into vectors
  // that are laid out together; returns the loop over those.
  Handle CutLanes(const RowBlock& block, Handle handle,
                  const std::string& outermost) {
    std::vector<std::string> names = {outermost};
    for (size_t i = 1; i < block.inner.size(); ++i)
      names.push_back(block.inner[i].name);
    std::vector<Handle> loops;
    for (const std::string& name : names)
      loops.push_back(writer_.Loop(handle, name));
    std::vector<Handle> order;
    for (const RowAxis& axis : block.rows)
      order.push_back(writer_.Loop(handle, axis.name));
    for (const RowAxis& axis : block.AllSingle())
      order.push_back(writer_.Loop(handle, axis.name));
    order.insert(order.end(), loops.begin(), loops.end());
    if (order.size() > 1) writer_.Reorder(order);
    const Handle along = TakesWhole(block) ? writer_.Fuse(loops) : loops.back();
    const int64_t extent = LanesExtent(block);
    const int64_t size =
        std::min((block.reduces ? partials_ : vectors_) * lanes_, extent);
    return writer_.Split(along, Factors{CeilDiv(extent, size), size})[1];
  }

  // The sum of a block of steps: partial sums in vectors, joined in the end.
  void CutSum(const RowBlock& block, Handle partial) {
    const Handle lanes =
        CutLanes(block, partial, absl::StrCat(block.inner[0].name, ".1"));
    writer_.SetLevel(writer_.RFactor(partial, lanes), "registers");
    writer_.Annotate(lanes, "tile");
  }

  const TensorGraph& graph_;
  const Parts& parts_;
  const int64_t steps_;
  const int64_t lanes_;
  const std::vector<std::string>& inlined_;
  Decider& decider_;
  ScheduleWriter& writer_;
  int64_t partials_ = 1;
  int64_t vectors_ = 1;  // of the output
};

}  // namespace

bool WriteOnePassRows(const Workload& workload, const DeviceSpec& spec,
                      const RowBlocks& blocks,
                      const ComputeLocation& location) {
  if (location.inside) return false;
  const std::optional<Parts> parts = FindParts(blocks);
  if (!parts) return false;
  const RowBlock& sum = *parts->second;
  const int64_t extent = sum.inner[0].extent;
  if (extent == 1 || !HasRescaling(workload.graph, *parts)) return false;
  const bool one = location.decider.DecideNumber(
                       "passes", Space::OneOf({"one", "two"}), [] { return 1; },
                       Bits::kMayChange) == 0;
  if (!one) return false;
  const int64_t steps = location.decider.DecideNumber(
      "passes.block", Space::Integers(1, extent - 1),
      [&] { return StepsOfABlock(sum, LaneBytes(workload.graph), spec); },
      Bits::kMayChange);
  Writer(workload, spec, blocks, *parts, steps, location).Run();
  return true;
}

}  // namespace tilewright::sketch
