#include "sketch/row_schedule.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "sketch/output_tiles.h"
#include "sketch/row_blocks.h"
#include "tilegraph/decision/policies.h"

namespace tilewright::sketch {
namespace {

// Vectors of partial results: enough to hide the latency of an addition.
constexpr int64_t kAccumulators = 4;
// Vectors of a row, or of several short rows, that are laid out without loops.
constexpr int64_t kVectorsInARow = 8;
// Functions laid out side by side: their temporaries share the registers.
constexpr int64_t kExpensiveVectors = 2;
// Operations per element of a row, roughly.
constexpr int64_t kOperationsPerElement = 8;

class Writer {
 public:
  Writer(const Workload& workload, const DeviceSpec& spec, RowBlocks blocks,
         const Place& place)
      : spec_(spec),
        place_(place),
        writer_(place.writer),
        blocks_(std::move(blocks)),
        shape_(workload.graph.tensor(blocks_.output).static_shape()),
        axes_(workload.graph.tensor(blocks_.output).compute.axes),
        lanes_(Lanes(workload.graph, spec)) {}

  void Run() {
    for (const std::string& block : blocks_.inlined)
      writer_.ComputeInline(writer_.Block(block));
    for (const RowBlock& block : blocks_.blocks)
      handles_.push_back(writer_.Block(block.name));
    ChooseRows();
    PlaceBlocks();
    for (size_t i = 0; i < blocks_.blocks.size(); ++i) {
      const RowBlock& block = blocks_.blocks[i];
      const bool last = i + 1 == blocks_.blocks.size();
      if (block.reduces) {
        WriteReduction(block, handles_[i], last);
      } else {
        WriteMap(block, handles_[i], last);
      }
    }
  }

 private:
  const RowBlock& last() const { return blocks_.blocks.back(); }
  bool lanes_are_rows() const { return blocks_.contiguous_row.has_value(); }

  int64_t LongestRow() const {
    int64_t elements = 1;
    for (const RowBlock& block : blocks_.blocks)
      elements = std::max(elements, block.row_elements());
    return elements;
  }

  // Which rows are done together, and how many times per task.
  void ChooseRows() {
    const std::vector<RowAxis>& rows = last().rows;
    if (rows.empty()) return;
    tiled_row_ = blocks_.contiguous_row.value_or(rows.size() - 1);
    const int64_t extent = rows[tiled_row_].extent;
    const int64_t vectors = CeilDiv(LongestRow(), lanes_);
    if (lanes_are_rows()) {
      row_tile_ = std::min(extent, kAccumulators * lanes_);
    } else if (vectors < kVectorsInARow) {
      row_tile_ = RowsTogether(extent, kVectorsInARow / vectors,
                               place_.inside.has_value());
    }
    rows_ = extent;
    if (place_.inside) return;
    int64_t tiles = 1;
    for (const RowAxis& row : rows) tiles *= row.extent;
    tiles = CeilDiv(tiles, row_tile_);
    const int64_t cores = std::max<int64_t>(1, spec_.unit().cores());
    const int64_t operations = LongestRow() * row_tile_ *
                               kOperationsPerElement *
                               static_cast<int64_t>(blocks_.blocks.size());
    rows_ = row_tile_ *
            std::max<int64_t>(1, std::min({kOperationsPerTask / operations,
                                           tiles / (kTasksPerCore * cores),
                                           CeilDiv(extent, row_tile_)}));
  }

  // A number of rows up to `most` that divides them, or nearly. A single row
  // left over would be computed element by element beside the others.
  static int64_t RowsTogether(int64_t extent, int64_t most, bool exact) {
    most = std::min(most, extent);
    for (int64_t rows = most; rows > (exact ? 0 : most / 2); --rows) {
      if (extent % rows == 0) return rows;
    }
    while (most > 1 && extent % most == 1) --most;
    return most;
  }

  // Task loops around the last block; returns the innermost.
  Handle WriteTasks() {
    const std::vector<RowAxis>& rows = last().rows;
    std::vector<Factors> tasks;
    for (size_t i = 0; i < shape_.size(); ++i) {
      int64_t per_task = shape_[i];
      for (size_t r = 0; r < rows.size(); ++r) {
        if (rows[r].name == axes_[i].name)
          per_task = r == tiled_row_ ? rows_ : 1;
      }
      tasks.push_back(Factors{CeilDiv(shape_[i], per_task), per_task});
    }
    return writer_.GroupTile({handles_.back()}, tasks).back();
  }

  // The other blocks go into the loops of the last.
  void PlaceBlocks() {
    if (shape_.empty()) return;  // no loops to be in
    const std::vector<RowAxis>& rows = last().rows;
    Handle place = place_.inside ? *place_.inside : WriteTasks();
    if (!rows.empty()) {
      const Handle row = writer_.Loop(handles_.back(), rows[tiled_row_].name);
      const std::vector<Handle> parts =
          writer_.Split(row, Factors{CeilDiv(rows_, row_tile_), row_tile_});
      place = parts[0];
      // In a task of its own, only loops of one step stand around the loop
      // over rows.
      std::vector<Handle> order = OneStepLoops(last(), handles_.back());
      order.insert(order.end(), parts.begin(), parts.end());
      for (const RowAxis& axis : last().inner)
        order.push_back(writer_.Loop(handles_.back(), axis.name));
      writer_.Reorder(order);
    }
    for (size_t i = blocks_.blocks.size() - 1; i-- > 0;)
      writer_.ComputeAt(handles_[i], place);
  }

  // Over axes of extent 1, and rows of which a task has one.
  std::vector<Handle> OneStepLoops(const RowBlock& block, Handle handle) {
    std::vector<Handle> loops;
    for (const RowAxis& axis : block.single)
      loops.push_back(writer_.Loop(handle, axis.name));
    for (size_t r = 0; r < block.rows.size(); ++r) {
      if (r != tiled_row_)
        loops.push_back(writer_.Loop(handle, block.rows[r].name));
    }
    return loops;
  }

  // The loops of one block inside the loop over rows, each kind from the
  // outside to the inside.
  struct Loops {
    std::vector<Handle> outer;  // of one step
    std::vector<Handle> steps;  // over a row
    std::vector<Handle> tile;   // rows and elements done together
    Handle factor = -1;         // the last of the tile, if it is inside a row
    std::string factor_name;
    bool whole_row = false;  // the tile takes it at once
  };

  Loops CutRow(const RowBlock& block, Handle handle, int64_t vectors) {
    Loops loops;
    const bool is_last = handle == handles_.back();
    if (!is_last || block.rows.empty())
      loops.outer = OneStepLoops(block, handle);
    if (!block.rows.empty())
      loops.tile.push_back(writer_.Loop(handle, block.rows[tiled_row_].name));
    std::vector<Handle> inner;
    for (const RowAxis& axis : block.inner)
      inner.push_back(writer_.Loop(handle, axis.name));
    if (inner.empty()) return loops;
    if (lanes_are_rows()) {
      if (block.reduces && row_tile_ < kAccumulators * lanes_ &&
          block.inner.back().extent >= 2 * kAccumulators) {
        // Several partial results per row all the same.
        const int64_t extent = block.inner.back().extent;
        const std::vector<Handle> parts = writer_.Split(
            inner.back(),
            Factors{CeilDiv(extent, kAccumulators), kAccumulators});
        inner.back() = parts[0];
        loops.factor = parts[1];
        loops.factor_name = block.inner.back().name + ".1";
        loops.tile.push_back(parts[1]);
      }
      loops.steps = inner;
      return loops;
    }
    std::vector<Handle> order = loops.outer;
    order.insert(order.end(), loops.tile.begin(), loops.tile.end());
    order.insert(order.end(), inner.begin(), inner.end());
    if (order.size() > 1) writer_.Reorder(order);
    int64_t extent = block.inner.back().extent;
    Handle along = inner.back();
    loops.factor_name = block.inner.back().name;
    if (block.fusible + 1 < inner.size() &&
        (extent < vectors * lanes_ || extent % lanes_ != 0)) {
      extent = 1;
      loops.factor_name.clear();
      for (size_t i = block.fusible; i < inner.size(); ++i) {
        extent *= block.inner[i].extent;
        absl::StrAppend(&loops.factor_name, i == block.fusible ? "" : "_",
                        block.inner[i].name);
      }
      along = writer_.Fuse(
          {inner.begin() + static_cast<std::ptrdiff_t>(block.fusible),
           inner.end()});
      inner.resize(block.fusible);
    } else {
      inner.pop_back();
    }
    const int64_t in_row = CeilDiv(extent, lanes_);
    const int64_t together =
        inner.empty() && in_row * row_tile_ <= kVectorsInARow
            ? in_row
            : std::min(in_row, vectors);
    loops.whole_row = inner.empty() && together == in_row;
    const std::vector<Handle> parts = writer_.Split(
        along, Factors{CeilDiv(extent, together * lanes_), together * lanes_});
    loops.steps = std::move(inner);
    loops.steps.push_back(parts[0]);
    loops.factor = parts[1];
    loops.factor_name += ".1";
    loops.tile.push_back(parts[1]);
    return loops;
  }

  void Arrange(const std::vector<std::vector<Handle>>& parts) {
    std::vector<Handle> order;
    for (const std::vector<Handle>& part : parts)
      order.insert(order.end(), part.begin(), part.end());
    if (order.size() > 1) writer_.Reorder(order);
  }
  void Tile(const std::vector<Handle>& tile) {
    if (!tile.empty()) writer_.Annotate(tile.front(), "tile");
  }

  void WriteMap(const RowBlock& block, Handle handle, bool is_last) {
    const Loops loops = CutRow(
        block, handle, block.expensive ? kExpensiveVectors : kAccumulators);
    Arrange({loops.outer, loops.steps, loops.tile});
    Tile(loops.tile);
    if (is_last) return;
    const bool fits = block.inner.empty() || loops.whole_row;
    writer_.SetLevel(handle, fits ? "registers" : "scratch");
  }

  // Partial results per lane where a row has lanes; then the lanes are joined,
  // for all rows of the tile.
  void WriteReduction(const RowBlock& block, Handle handle, bool is_last) {
    const Loops loops = CutRow(block, handle, kAccumulators);
    Arrange({loops.outer, loops.steps, loops.tile});
    if (is_last) {
      const Handle copy = writer_.CacheWrite(handle, "registers");
      if (!block.rows.empty())
        Tile({writer_.Loop(copy, block.rows[tiled_row_].name)});
    } else {
      writer_.SetLevel(handle, "registers");
    }
    if (loops.factor < 0) return Tile(loops.tile);
    writer_.SetLevel(writer_.RFactor(handle, loops.factor), "registers");
    Tile(loops.tile);
    if (block.rows.empty()) return;
    const Handle rows = writer_.Loop(handle, block.rows[tiled_row_].name);
    writer_.Reorder({writer_.Loop(handle, loops.factor_name), rows});
    Tile({rows});
  }

  const DeviceSpec& spec_;
  const Place place_;
  ScheduleWriter& writer_;
  const RowBlocks blocks_;
  const std::vector<int64_t> shape_;
  const std::vector<Axis> axes_;
  const int64_t lanes_;
  std::vector<Handle> handles_;  // by block
  size_t tiled_row_ = 0;
  int64_t row_tile_ = 1;  // done together
  int64_t rows_ = 1;      // in a task
};

// Of all its computes; nullopt if they are no row group with one output.
std::optional<RowSpace> RowsOf(const TensorGraph& graph) {
  if (graph.outputs().size() != 1) return std::nullopt;
  std::vector<TensorId> members;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute) members.push_back(tensor.id);
  }
  return FindRows(graph, members);
}

}  // namespace

bool IsRowGroup(const Workload& workload) {
  return RowsOf(workload.graph).has_value();
}

bool WriteRows(const Workload& workload, const DeviceSpec& spec,
               const Place& place) {
  const std::optional<RowSpace> rows = RowsOf(workload.graph);
  if (!rows) return false;
  Writer(workload, spec, FindRowBlocks(workload, *rows), place).Run();
  return true;
}

std::optional<Schedule> RowSchedule(const Workload& workload,
                                    const DeviceSpec& spec) {
  ScheduleWriter writer;
  PreferredPolicy policy;
  Decider decider(policy);
  if (!WriteRows(workload, spec, {writer, decider, std::nullopt, {}}))
    return std::nullopt;
  return std::move(writer).Finish();
}

}  // namespace tilewright::sketch
