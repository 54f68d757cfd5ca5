#include "sketch/one_pass_rows.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "sketch/output_tiles.h"
#include "sketch/replay.h"
#include "sketch/row_blocks.h"
#include "tilegraph/row_space.h"

namespace tilewright::sketch {
namespace {

// Vectors of partial results, or of a map, laid out together.
constexpr int64_t kVectors = 4;

// What the group consists of, in order.
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

// Blocks along the outermost axis of a row, of at most `most` elements, and all
// alike if there is such a size that is not much smaller. 0: there are none.
int64_t StepsOfABlock(const RowBlock& sum, int64_t most) {
  const int64_t extent = sum.inner[0].extent;
  const int64_t longest = most / (sum.row_elements() / extent);
  if (longest >= extent) return 0;
  for (int64_t steps = longest; steps > longest / 2; --steps) {
    if (extent % steps == 0) return steps;
  }
  return longest;
}

class Writer {
 public:
  Writer(const Workload& workload, const DeviceSpec& spec,
         const RowBlocks& blocks, const Parts& parts, int64_t steps)
      : graph_(workload.graph),
        parts_(parts),
        steps_(steps),
        lanes_(Lanes(graph_, spec)),
        inlined_(blocks.inlined) {}

  Schedule Run() {
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
    return std::move(writer_).Finish();
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
    for (const RowAxis& axis : block.single)
      order.push_back(writer_.Loop(handle, axis.name));
    order.insert(order.end(), loops.begin(), loops.end());
    if (order.size() > 1) writer_.Reorder(order);
    int64_t extent =
        block.reduces && loops.size() == 1 ? steps_ : block.inner.back().extent;
    Handle along = loops.back();
    if (loops.size() > 1 && block.fusible == 0) {
      along = writer_.Fuse(loops);
      extent = (block.reduces ? steps_ : block.inner[0].extent) *
               (block.row_elements() / block.inner[0].extent);
    }
    const int64_t size = std::min(kVectors * lanes_, extent);
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
  ScheduleWriter writer_;
};

}  // namespace

std::optional<Schedule> OnePassRowSchedule(const Workload& workload,
                                           const DeviceSpec& spec,
                                           int64_t block_elements) {
  if (workload.graph.outputs().size() != 1) return std::nullopt;
  std::vector<TensorId> members;
  for (const Tensor& tensor : workload.graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute) members.push_back(tensor.id);
  }
  const std::optional<RowSpace> rows = FindRows(workload.graph, members);
  if (!rows) return std::nullopt;
  const RowBlocks blocks = FindRowBlocks(workload, *rows);
  const std::optional<Parts> parts = FindParts(blocks);
  if (!parts) return std::nullopt;
  const int64_t steps = StepsOfABlock(*parts->second, block_elements);
  if (steps == 0) return std::nullopt;
  Schedule schedule = Writer(workload, spec, blocks, *parts, steps).Run();
  // Whether there is a repair is for the rules to say.
  if (!Replay(workload, schedule).ok()) return std::nullopt;
  return schedule;
}

}  // namespace tilewright::sketch
