#include "sketch/rules/row_schedule.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "sketch/rules/one_pass_rows.h"
#include "sketch/rules/row_decisions.h"
#include "sketch/rules/shared/annotations.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/rules/shared/row_blocks.h"

namespace tilewright::sketch {
namespace {

class Writer {
 public:
  Writer(const Workload& workload, const DeviceSpec& spec, RowBlocks blocks,
         const ComputeLocation& location)
      : spec_(spec),
        graph_(workload.graph),
        location_(location),
        writer_(location.writer),
        blocks_(std::move(blocks)),
        shape_(graph_.tensor(blocks_.output).static_shape()),
        axes_(graph_.tensor(blocks_.output).compute.axes),
        lanes_(Lanes(graph_, spec)),
        from_memory_(!location.inside &&
                     FillsCaches(graph_, blocks_.output, spec)) {}

  void Run() {
    for (const std::string& block : blocks_.inlined)
      writer_.ComputeInline(writer_.Block(block));
    for (const RowBlock& block : blocks_.blocks)
      handles_.push_back(writer_.Block(block.name));
    cut_sums_.resize(handles_.size());
    if (!last().rows.empty())
      tile_ = DecideRowTile(location_, blocks_, lanes_, from_memory_, spec_);
    cuts_.emplace(location_.decider, lanes_, tile_.together);
    PlaceBlocks();
    for (size_t i = 0; i < blocks_.blocks.size(); ++i) {
      const RowBlock& block = blocks_.blocks[i];
      const bool last = i + 1 == blocks_.blocks.size();
      if (const auto& cut = cut_sums_[i]) {
        WriteReduction(cut->block, cut->handle, false, cut->along);
      } else if (block.reduces) {
        WriteReduction(block, handles_[i], last);
      } else {
        WriteMap(block, handles_[i], last);
      }
    }
  }

 private:
  // The sum of a block of terms.
  struct CutBlock {
    RowBlock block;
    Handle handle;
    // How it goes along its row, as is decided for all terms; absent where the
    // rows are the lanes.
    std::optional<RowCut> along;
  };

  const RowBlock& last() const { return blocks_.blocks.back(); }
  bool lanes_are_rows() const { return blocks_.contiguous_row.has_value(); }

  // Task loops around the last block; returns the innermost.
  Handle WriteTasks() {
    const std::vector<RowAxis>& rows = last().rows;
    std::vector<Factors> tasks;
    for (size_t i = 0; i < shape_.size(); ++i) {
      int64_t per_task = shape_[i];
      for (size_t r = 0; r < rows.size(); ++r) {
        if (rows[r].name != axes_[i].name) continue;
        per_task = r == tile_.axis         ? tile_.in_task
                   : r == tile_.outer_axis ? tile_.outer_in_task
                                           : 1;
      }
      tasks.push_back(Factors{CeilDiv(shape_[i], per_task), per_task});
    }
    return writer_.GroupTile({handles_.back()}, tasks).back();
  }

  // The loop of the last block that the others go into; none if it has none.
  std::optional<Handle> LoopAroundRows() {
    if (shape_.empty()) return std::nullopt;
    const Handle task = location_.inside ? *location_.inside : WriteTasks();
    const std::vector<RowAxis>& rows = last().rows;
    if (rows.empty()) return task;
    const Handle row = writer_.Loop(handles_.back(), rows[tile_.axis].name);
    const std::vector<Handle> parts = writer_.Split(
        row, Factors{CeilDiv(tile_.in_task, tile_.together), tile_.together});
    std::vector<Handle> order = OuterLoops(last(), handles_.back());
    order.insert(order.end(), parts.begin(), parts.end());
    for (const RowAxis& axis : last().inner)
      order.push_back(writer_.Loop(handles_.back(), axis.name));
    writer_.Reorder(order);
    return parts[0];
  }

  void PlaceBlocks() {
    const std::optional<Handle> around = LoopAroundRows();
    for (size_t i = handles_.size(); i-- > 0;) {
      const bool is_last = i + 1 == handles_.size();
      if (!is_last && around) writer_.ComputeAt(handles_[i], *around);
      // Before what it reads has its place.
      if (const auto cut = Cut(blocks_.blocks[i]))
        cut_sums_[i] = CutSum(blocks_.blocks[i], *cut, handles_[i], is_last);
    }
  }

  // Over axes of extent 1, and rows that are done one after another.
  std::vector<Handle> OuterLoops(const RowBlock& block, Handle handle) {
    std::vector<Handle> loops;
    for (const RowAxis& axis : block.AllSingle())
      loops.push_back(writer_.Loop(handle, axis.name));
    for (size_t r = 0; r < block.rows.size(); ++r) {
      if (r != tile_.axis)
        loops.push_back(writer_.Loop(handle, block.rows[r].name));
    }
    return loops;
  }

  // The loops of one block inside the loop over rows, each kind from the
  // outside to the inside.
  struct Loops {
    std::vector<Handle> outer;  // around rows done together
    std::vector<Handle> steps;  // over a row
    std::vector<Handle> tile;   // rows and elements done together
    Handle factor = -1;         // the last of the tile, if it is inside a row
    std::string factor_name;
    bool whole_row = false;  // the tile takes it at once
  };

  // `given`: how it goes along its row, where that is decided already.
  Loops CutRow(const RowBlock& block, Handle handle,
               const std::optional<RowCut>& given = std::nullopt) {
    Loops loops;
    const bool is_last = handle == handles_.back();
    if (!is_last || block.rows.empty()) loops.outer = OuterLoops(block, handle);
    if (!block.rows.empty())
      loops.tile.push_back(writer_.Loop(handle, block.rows[tile_.axis].name));
    std::vector<Handle> inner;
    for (const RowAxis& axis : block.inner)
      inner.push_back(writer_.Loop(handle, axis.name));
    if (inner.empty()) return loops;
    if (lanes_are_rows()) {
      const int64_t partials = block.reduces ? cuts_->PartialsAcross(block) : 1;
      if (partials > 1) {
        const int64_t extent = block.inner.back().extent;
        const std::vector<Handle> parts = writer_.Split(
            inner.back(), Factors{CeilDiv(extent, partials), partials});
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
    const RowCut cut = given ? *given : cuts_->Of(block);
    int64_t extent = block.inner.back().extent;
    Handle along = inner.back();
    loops.factor_name = block.inner.back().name;
    if (cut.fused) {
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
    loops.whole_row = inner.empty() && cut.vectors == in_row;
    const std::vector<Handle> parts = writer_.Split(
        along,
        Factors{CeilDiv(extent, cut.vectors * lanes_), cut.vectors * lanes_});
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
    const Loops loops = CutRow(block, handle);
    Arrange({loops.outer, loops.steps, loops.tile});
    Tile(loops.tile);
    if (is_last) return;
    const std::string level =
        DecideLevel(location_.decider, block, loops.whole_row);
    writer_.SetLevel(handle, level);
    if (level != "scratch") return;
    if (const auto order = LanesInnermost(block))
      writer_.SetLayout(block.name, *order);
  }

  // Vectors are kept as they are computed; nullopt where those of a row-major
  // tensor are.
  std::optional<std::string> LanesInnermost(const RowBlock& block) const {
    if (lanes_are_rows() ? block.rows.empty() : block.inner.empty())
      return std::nullopt;
    const std::string& lanes = lanes_are_rows() ? block.rows[tile_.axis].name
                                                : block.inner.back().name;
    const std::vector<Axis>& axes = graph_.tensor(block.tensor).compute.axes;
    std::string order = "order ";
    size_t innermost = 0;
    bool moved = false;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].name == lanes) {
        innermost = i;
        moved = false;
      } else {
        absl::StrAppend(&order, i, ",");
        moved |= axes[i].extent.value() > 1;
      }
    }
    if (!moved) return std::nullopt;
    return absl::StrCat(order, innermost);
  }

  // Where results go: of the last block to memory, through a copy.
  void PutResults(const RowBlock& block, Handle handle, bool is_last) {
    if (!is_last) return writer_.SetLevel(handle, "registers");
    const Handle copy = writer_.CacheWrite(handle, "registers");
    if (!block.rows.empty())
      Tile({writer_.Loop(copy, block.rows[tile_.axis].name)});
  }

  // Partial results per lane where a row has lanes; then the lanes are joined,
  // for all rows of the tile.
  void WriteReduction(const RowBlock& block, Handle handle, bool is_last,
                      const std::optional<RowCut>& given = std::nullopt) {
    const Loops loops = CutRow(block, handle, given);
    Arrange({loops.outer, loops.steps, loops.tile});
    PutResults(block, handle, is_last);
    if (loops.factor < 0) return Tile(loops.tile);
    writer_.SetLevel(writer_.RFactor(handle, loops.factor), "registers");
    Tile(loops.tile);
    if (block.rows.empty()) return;
    const Handle rows = writer_.Loop(handle, block.rows[tile_.axis].name);
    writer_.Reorder({writer_.Loop(handle, loops.factor_name), rows});
    Tile({rows});
  }

  std::optional<TermBlocks> Cut(const RowBlock& block) {
    if (!block.reduces) return std::nullopt;
    const Combiner& combiner = *graph_.tensor(block.tensor).compute.combiner;
    if (combiner.kind() != Combiner::Kind::kSum || !IsFloat(combiner.acc()))
      return std::nullopt;
    return lanes_are_rows() ? BlocksOfTerms(block)
                            : BlocksOfLanes(block, *cuts_, lanes_);
  }

  // Cuts a sum into blocks of terms, each added to what those before gave;
  // returns the sum of one, whose loops are left as they are.
  CutBlock CutSum(const RowBlock& block, const TermBlocks& cut, Handle handle,
                  bool is_last) {
    const RowAxis& along = block.inner[cut.axis];
    const Factors factors = {CeilDiv(along.extent, cut.steps), cut.steps};
    CutBlock part;
    part.block = block;
    const Handle cut_loop =
        writer_.Split(writer_.Loop(handle, along.name), factors)[0];
    // Loops outside would be shared by both sums, those of a tile are not.
    if (!block.rows.empty()) {
      writer_.Reorder(
          {cut_loop, writer_.Loop(handle, block.rows[tile_.axis].name)});
    }
    part.handle = writer_.RFactor(handle, cut_loop);
    if (!lanes_are_rows()) {
      part.along = cuts_->Of(block);
      part.block.fusible = std::max(block.fusible, cut.axis);
      part.along->fused &= part.block.fusible + 1 < block.inner.size();
    }
    part.block.inner[cut.axis] = {absl::StrCat(along.name, ".1"), cut.steps};
    part.block.single.push_back({absl::StrCat(along.name, ".0"), 1});

    const Handle blocks = writer_.Loop(handle, part.block.single.back().name);
    std::vector<Handle> outer;
    RowBlock joined = block;
    joined.single_terms.clear();  // the sum of one block has them
    if (!is_last) outer = OuterLoops(joined, handle);
    std::vector<Handle> rows;
    if (!block.rows.empty())
      rows.push_back(writer_.Loop(handle, block.rows[tile_.axis].name));
    Arrange({outer, {blocks}, rows});
    PutResults(block, handle, is_last);
    Tile(rows);
    writer_.ComputeAt(part.handle, blocks);
    return part;
  }

  const DeviceSpec& spec_;
  const TensorGraph& graph_;
  const ComputeLocation location_;
  ScheduleWriter& writer_;
  const RowBlocks blocks_;
  const std::vector<int64_t> shape_;
  const std::vector<Axis> axes_;
  const int64_t lanes_;
  const bool from_memory_;
  std::vector<Handle> handles_;  // by block
  std::vector<std::optional<CutBlock>> cut_sums_;
  RowTile tile_;
  std::optional<RowCuts> cuts_;
};

// Returns the row space of all computes of `graph`; nullopt if they are no row
// group with one output.
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
               const ComputeLocation& location) {
  const std::optional<RowSpace> rows = RowsOf(workload.graph);
  if (!rows) return false;
  RowBlocks blocks = FindRowBlocks(workload, *rows, location.decider);
  if (WriteOnePassRows(workload, spec, blocks, location)) return true;
  Writer(workload, spec, std::move(blocks), location).Run();
  return true;
}

}  // namespace tilewright::sketch
