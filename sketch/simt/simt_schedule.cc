#include "sketch/simt/simt_schedule.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/spec/device_spec.pb.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "sketch/replay/growing_trace.h"
#include "sketch/simt/inline_maps.h"
#include "sketch/simt/lane_sums.h"
#include "sketch/simt/own_loops.h"
#include "sketch/simt/reused_operands.h"
#include "sketch/simt/stage_operands.h"
#include "sketch/simt/step_loops.h"
#include "sketch/simt/term_loops.h"
#include "sketch/simt/thread_nest.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/thread_loops.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/ir/longest_axis.h"
#include "tilegraph/plan/even_slices.h"
#include "tilegraph/plan/tile_plan.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kMostTermsInARow = 64;

// Of its reduce axes.
int64_t LongestExtent(const Block& block) {
  return block.reduce_axes[LongestAxis(block.reduce_axes)].extent.value();
}

class Builder {
 public:
  Builder(GrowingTrace& trace, const TensorGraph& graph, const DeviceSpec& spec,
          Decider& decider, const std::optional<BlockTile>& planned)
      : trace_(trace),
        graph_(graph),
        spec_(spec),
        decider_(decider),
        planned_(planned) {}

  absl::Status Run() {
    with_operands_ = InlineMaps(trace_, graph_);
    TW_RETURN_IF_ERROR(FindOutputs());
    TW_RETURN_IF_ERROR(Decide());
    PlaceStages();
    TW_RETURN_IF_ERROR(trace_.status());
    std::vector<std::string> names;
    for (const Block* block : AllBlocks(trace_.tree()))
      names.push_back(block->name);
    for (const std::string& name : names) {
      if (!IsWithOperand(name)) WriteStage(name);
      TW_RETURN_IF_ERROR(trace_.status());
    }
    return absl::OkStatus();
  }

  // What was decided; REQUIRES: Run() was ok.
  TilePlan Decided() const {
    TilePlan plan;
    plan.tile = tile_.tile;
    plan.block = tile_;
    plan.generated = true;
    return plan;
  }

 private:
  ScheduleWriter& w() { return trace_.writer(); }

  // Whether it is copied into scratch with its operand.
  bool IsWithOperand(const std::string& name) const {
    for (const auto& [sums, maps] : with_operands_)
      if (std::count(maps.begin(), maps.end(), name) > 0) return true;
    return false;
  }

  bool IsOutput(const Block& block) {
    return std::any_of(block.dst.begin(), block.dst.end(), [&](int id) {
      return trace_.tree().buffers[id].level == MemLevel::kGlobal;
    });
  }

  absl::Status FindOutputs() {
    for (const Block* block : AllBlocks(trace_.tree())) {
      if (block->combiner) {
        terms_ = std::max(terms_, LongestExtent(*block));
      }
      if (!IsOutput(*block)) continue;
      std::vector<int64_t> shape;
      std::vector<std::string> axes;
      for (const Axis& axis : block->axes) {
        shape.push_back(axis.extent.value());
        axes.push_back(axis.name);
      }
      if (!outputs_.empty() && shape != shape_)
        return absl::InvalidArgumentError("its outputs share no tiles");
      shape_ = std::move(shape);
      axes_ = std::move(axes);
      outputs_.push_back(block->name);
    }
    return shape_.empty() ? absl::InvalidArgumentError("a scalar has no tiles")
                          : absl::OkStatus();
  }

  absl::Status Decide() {
    const BlockTile preferred =
        planned_ ? *planned_ : DefaultBlockTile(shape_, terms_);
    TW_ASSIGN_OR_RETURN(
        tile_, DecideBlockTile(axes_, shape_, terms_, preferred, decider_));
    threads_ = tile_.num_threads();
    return absl::OkStatus();
  }

  // The grid, and all stages inside it.
  void PlaceStages() {
    std::vector<Handle> handles;
    for (const std::string& name : outputs_) handles.push_back(w().Block(name));
    std::vector<Factors> tiles;
    for (size_t d = 0; d < shape_.size(); ++d)
      tiles.push_back({CeilDiv(shape_[d], tile_.tile[d]), tile_.tile[d]});
    const Handle task = w().GroupTile(handles, tiles).back();
    std::vector<std::string> inside;
    for (const Block* block : AllBlocks(trace_.tree())) {
      if (!IsOutput(*block) && !IsWithOperand(block->name))
        inside.push_back(block->name);
    }
    for (auto name = inside.rbegin(); name != inside.rend(); ++name)
      w().ComputeAt(w().Block(*name), task);
  }

  // The extents of the block's spatial loops, none of which is cut yet.
  std::vector<int64_t> SpatialExtents(const std::string& name) {
    const std::vector<LoopAround> loops = OwnLoops(trace_, name);
    std::vector<int64_t> extents;
    for (size_t i = 0; i < trace_.FindBlockNamed(name)->axes.size(); ++i)
      extents.push_back(loops[i].extent);
    return extents;
  }

  void WriteStage(const std::string& name) {
    const Block* block = trace_.FindBlockNamed(name);
    const std::vector<int64_t> spatial = SpatialExtents(name);
    const bool is_output = IsOutput(*block);
    const int64_t lanes = block->combiner ? LanesOf(*block, spatial) : 1;
    const int64_t slices = lanes == 1 ? SlicesOf(*block, spatial) : 1;
    const ThreadDivision division = DivisionOf(name, spatial, lanes, slices);
    tile_.divisions[trace_.tree().buffers[block->dst[0]].tensor] = {
        division.threads, division.vector, lanes, slices, division.rows};
    if (!block->combiner) {
      WriteMap(w(), name, division);
      // Lowering shares what other threads read.
      if (!is_output) w().SetLevel(w().Block(name), "registers");
    } else if (lanes > 1) {
      for (const std::string& map : with_operands_[name])
        w().ComputeInline(w().Block(map));
      WriteLaneSums(trace_, name, division, lanes);
      if (!is_output) w().SetLevel(w().Block(name), "registers");
    } else {
      WriteSums(name, division, slices, is_output);
    }
  }

  // As decided for what has the shape of the outputs' tile, and if slices were
  // decided, sums them.
  ThreadDivision DivisionOf(const std::string& name,
                            const std::vector<int64_t>& extents, int64_t lanes,
                            int64_t slices) {
    const Block* block = trace_.FindBlockNamed(name);
    ThreadDivision division;
    if (extents == tile_.tile && slices == tile_.slices) {
      division.threads = tile_.threads;
      division.vector = tile_.vector;
      division.rows = tile_.rows;
    } else {
      division = DivideThreads(
          extents, threads_ / (lanes * slices),
          16 / SizeBytes(trace_.tree().buffers[block->dst[0]].dtype));
    }
    for (const Axis& axis : block->axes) division.axes.push_back(axis.name);
    division.extents = extents;
    return division;
  }

  // Lanes that share the terms of an element, where threads would be idle.
  int64_t LanesOf(const Block& block, const std::vector<int64_t>& spatial) {
    if (!TermsCanBeShared(block)) return 1;
    int64_t elements = 1, lanes = 1;
    for (const int64_t extent : spatial) elements *= extent;
    const int64_t longest = LongestExtent(block);
    if (spatial == tile_.tile && planned_) {
      for (lanes = tile_.lanes; lanes > 1 && lanes / 2 >= longest;) lanes /= 2;
      return lanes;
    }
    while (lanes * 2 <= std::min(kWarpLanes, longest) &&
           elements * lanes * 2 <= threads_ && threads_ % (lanes * 2) == 0)
      lanes *= 2;
    return lanes;
  }

  // Slices of a step's terms, if these can be cut evenly; a single element is
  // for lanes.
  int64_t SlicesOf(const Block& block, const std::vector<int64_t>& spatial) {
    if (tile_.slices == 1 || !TermsCanBeShared(block) ||
        std::all_of(spatial.begin(), spatial.end(),
                    [](int64_t extent) { return extent == 1; }))
      return 1;
    return EvenSlices(LongestExtent(block), tile_.step, tile_.slices);
  }

  // Step by step: what several threads read, then the sums in registers.
  void WriteSums(const std::string& name, const ThreadDivision& division,
                 int64_t slices, bool is_output) {
    const StepLoops steps = CutSteps(trace_, name, tile_.step, slices);
    if (!trace_.status().ok()) return;
    const ThreadDivision own =
        slices > 1 ? InSlices(division, steps.slice_axis, slices) : division;
    const Handle handle = w().Block(steps.block);
    const NestHandles nest = CutNest(w(), handle, own, NestKind::kThreads);
    const int64_t most =
        decider_.DecideNumber(absl::StrCat("block.unroll.", name),
                              Space::Integers(1, kMostTermsInARow),
                              [&] { return PreferredTerms(division); });
    const TermLoops loops = WriteOutTerms(w(), steps.terms, most);
    std::vector<Handle> order = {steps.step};
    order.insert(order.end(), nest.threads.begin(), nest.threads.end());
    order.insert(order.end(), loops.order.begin(), loops.order.end());
    order.insert(order.end(), nest.elements.begin(), nest.elements.end());
    ArrangeNest(w(), order, nest);
    if (!trace_.status().ok()) return;
    const std::vector<std::string> operands =
        ReusedOperands(trace_.tree(), *trace_.FindBlockNamed(steps.block));
    OperandStager stager(trace_, decider_, planned_, tile_);
    const StagedSums sums = {name, steps.block, own, loops, steps.step};
    for (const std::string& map : with_operands_[name])
      stager.StageMap(sums, map);
    for (const std::string& operand : operands) stager.Stage(sums, operand);
    if (tile_.buffers() < tile_.stages) w().Annotate(steps.step, "stages=2");
    if (tile_.buffers() > 1)
      w().Annotate(steps.step, absl::StrCat("buffers=", tile_.buffers()));
    if (slices == 1) return FinishSums(name, division, is_output);
    w().CacheWrite(handle, "registers");
    WriteMap(w(), absl::StrCat(steps.block, ".out"), own);
    if (!trace_.status().ok()) return;
    const ThreadDivision of_all =
        DivisionOf(name, SpatialExtents(name), /*lanes=*/1, /*slices=*/1);
    WriteSumOfSlices(w(), name, of_all, steps.slice_axis);
    FinishSums(name, of_all, is_output);
  }

  // Where the sums of the block grow, and the copy of what is done.
  void FinishSums(const std::string& name, const ThreadDivision& division,
                  bool is_output) {
    if (!trace_.status().ok()) return;
    const Handle handle = w().Block(name);
    const Block block = *trace_.FindBlockNamed(name);
    if (is_output) {
      w().CacheWrite(handle, "registers");
    } else if (!KeepInRegisters(block, division)) {
      w().SetLevel(handle, "registers");
      return;
    }
    if (!trace_.status().ok()) return;
    const std::string copy = absl::StrCat(name, ".out");
    // Lowering shares what other threads read.
    if (!is_output) w().SetLevel(w().Block(copy), "registers");
    ThreadDivision of_copy = division;
    of_copy.extents = SpatialExtents(copy);
    WriteMap(w(), copy, of_copy);
  }

  // Whether sums that are no output are computed in registers of their own, and
  // copied to where they are read once they are done.
  bool KeepInRegisters(const Block& block, const ThreadDivision& division) {
    if (block.dst.size() != 1 || block.rescaling) return false;
    Decider::Trial decision(decider_);
    const bool kept =
        decider_.DecideNumber(absl::StrCat("block.sums.", block.name),
                              Space::OneOf({"in_place", "registers"}), [&] {
                                return PreferRegisters(block, division) ? 1 : 0;
                              }) == 1;
    if (kept && !trace_.Try([&](ScheduleWriter& writer) {
          writer.CacheWrite(writer.Block(block.name), "registers");
        }))
      return false;
    decision.Keep();
    return kept;
  }

  // Sums that other threads read, if half of a thread's registers hold them.
  bool PreferRegisters(const Block& block, const ThreadDivision& division) {
    const Buffer& sums = trace_.tree().buffers[block.dst[0]];
    const ComputeUnit& unit = spec_.unit();
    const int64_t taken =
        2 * division.elements_per_thread() * SizeBytes(sums.dtype) / 4;
    // A spec that says nothing of registers has as many as it takes.
    const bool fits = (unit.registers_per_thread() == 0 ||
                       taken <= unit.registers_per_thread()) &&
                      (unit.registers_per_block() == 0 ||
                       taken * threads_ <= unit.registers_per_block());
    return fits && IsReadByOtherThreads(sums.id, division);
  }

  // Whether some reader is divided otherwise than who computes the buffer, or
  // reads more than its own element. REQUIRES: no reader is cut yet.
  bool IsReadByOtherThreads(int buffer, const ThreadDivision& division) {
    std::vector<std::string> readers;
    for (const Block* reader : ReadersOf(trace_.tree(), buffer)) {
      if (!IsElementwiseIn(*reader, buffer)) return true;
      readers.push_back(reader->name);
    }
    return std::any_of(
        readers.begin(), readers.end(), [&](const std::string& reader) {
          const ThreadDivision own =
              DivisionOf(reader, SpatialExtents(reader), 1, 1);
          return own.extents != division.extents ||
                 own.threads != division.threads ||
                 own.vector != division.vector || own.rows != division.rows;
        });
  }

  GrowingTrace& trace_;
  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  Decider& decider_;
  const std::optional<BlockTile>& planned_;
  // Maps, by the block that sums.
  std::map<std::string, std::vector<std::string>> with_operands_;
  std::vector<std::string> outputs_, axes_;  // blocks; axes of the last
  std::vector<int64_t> shape_;
  int64_t terms_ = 1;  // of the longest reduction
  BlockTile tile_;
  int64_t threads_ = 1;
};

}  // namespace

Generator SimtGenerator(std::optional<BlockTile> planned) {
  return {"simt",
          [planned = std::move(planned)](
              const Workload& workload, const DeviceSpec& spec,
              Decider& decider) -> absl::StatusOr<Schedule> {
            TW_ASSIGN_OR_RETURN(GrowingTrace trace,
                                GrowingTrace::Create(workload));
            Builder builder(trace, workload.graph, spec, decider, planned);
            TW_RETURN_IF_ERROR(builder.Run());
            TW_ASSIGN_OR_RETURN(Schedule schedule, std::move(trace).Finish());
            schedule.tile_plan = builder.Decided();
            return schedule;
          }};
}

}  // namespace tilewright::sketch
