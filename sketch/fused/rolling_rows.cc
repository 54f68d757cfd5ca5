#include "sketch/fused/rolling_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "sketch/fused/inline_maps.h"
#include "sketch/fused/stage_workload.h"
#include "sketch/replay/online_reduction.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/analysis/row_space.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/scratch_layout.h"

namespace tilewright::sketch {
namespace {

using Kind = RollingRows::Part::Kind;

// Vectors of partial results of a row, and of functions, laid out together.
constexpr int64_t kAccumulators = 4;
constexpr int64_t kFunctionVectors = 2;
// Rows reduced together.
constexpr int64_t kRowsTogether = 2;

// Limits of what is laid out together: more is never kept in registers.
constexpr int64_t kMostVectors = 8;
constexpr int64_t kMostPartials = 16;

std::map<TensorId, std::vector<TensorId>> ReadersOf(const TensorGraph& graph) {
  std::map<TensorId, std::vector<TensorId>> readers;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    for (const TensorId input : graph.Inputs(tensor.id))
      readers[input].push_back(tensor.id);
  }
  return readers;
}

class RowsWriter {
 public:
  RowsWriter(const Workload& workload, const RollingRows& rows,
             const RollingLocation& location)
      : graph_(workload.graph),
        rows_(rows),
        location_(location),
        writer_(location.writer) {}

  absl::Status Run() {
    Decide();
    // Readers first.
    for (size_t i = rows_.parts.size(); i-- > 0;) {
      const RollingRows::Part& part = rows_.parts[i];
      const Handle block = writer_.Block(graph_.tensor(part.tensor).name);
      if (part.kind == Kind::kReduction) {
        partial_[part.tensor] =
            writer_.RollingUpdate(block, location_.blocks, location_.split);
      } else {
        writer_.ComputeAt(block, part.kind == Kind::kRow ? location_.inside
                                                         : location_.blocks);
      }
    }
    for (const RollingRows::Part& part : rows_.parts) {
      const std::string& name = graph_.tensor(part.tensor).name;
      if (part.kind == Kind::kElements) {
        TW_RETURN_IF_ERROR(CutElements(part, name));
        continue;
      }
      if (part.kind == Kind::kReduction) {
        TW_RETURN_IF_ERROR(CutPartial(part, partial_.at(part.tensor)));
        for (const char* suffix : {".before", ".rescaling", ".now"}) {
          if (!FindBlock(location_.replayer.tree(), name + suffix).empty())
            TW_RETURN_IF_ERROR(CutRow(part, name + suffix));
        }
      }
      TW_RETURN_IF_ERROR(CutRow(part, name));
    }
    return absl::OkStatus();
  }

 private:
  void Decide() {
    Decider& decider = location_.decider;
    const Space vectors = Space::Integers(1, kMostVectors);
    row_vectors_ = decider.DecideNumber("row.vectors", vectors,
                                        [] { return kAccumulators; });
    element_vectors_ = decider.DecideNumber("element.vectors", vectors,
                                            [] { return kFunctionVectors; });
    const DecisionValue partial = decider.Decide(
        "partial",
        Space::Composite(
            {{"rows", Space::Integers(1, kMostVectors)}, {"vectors", vectors}},
            [](const DecisionValue& value) {
              return value[0] * value[1] <= kMostPartials;
            }),
        [] {
          return DecisionValue{kRowsTogether, kAccumulators};
        },
        Bits::kMayChange);
    partial_rows_ = partial[0];
    partial_vectors_ = partial[1];
  }

  absl::StatusOr<int64_t> ExtentOf(Handle loop) {
    TW_RETURN_IF_ERROR(location_.catch_up());
    TW_ASSIGN_OR_RETURN(const Path path, location_.replayer.FindLoopOf(loop));
    return path.back().node().loop->extent;
  }

  // The loop of the axis, cut into steps of at most `size`: outer and inner.
  absl::StatusOr<std::pair<Handle, Handle>> Cut(Handle loop, int64_t size) {
    TW_ASSIGN_OR_RETURN(const int64_t extent, ExtentOf(loop));
    size = std::min(size, extent);
    const std::vector<Handle> parts =
        writer_.Split(loop, Factors{CeilDiv(extent, size), size});
    return std::make_pair(parts[0], parts[1]);
  }

  const std::vector<Axis>& Axes(const RollingRows::Part& part) const {
    return graph_.tensor(part.tensor).compute.axes;
  }

  // The loops over all axes but that one.
  std::vector<Handle> Others(const RollingRows::Part& part, Handle block,
                             const std::set<int>& axes) {
    std::vector<Handle> loops;
    for (int i = 0; i < static_cast<int>(Axes(part).size()); ++i) {
      if (!axes.count(i))
        loops.push_back(writer_.Loop(block, Axes(part)[i].name));
    }
    return loops;
  }

  void Arrange(std::vector<Handle> order, const std::vector<Handle>& tile) {
    order.insert(order.end(), tile.begin(), tile.end());
    if (order.size() > 1) writer_.Reorder(order);
    writer_.Annotate(tile.front(), "tile");
  }

  // One value per row: rows in lanes.
  absl::Status CutRow(const RollingRows::Part& part, const std::string& name) {
    const Handle block = writer_.Block(name);
    const Handle row = writer_.Loop(block, Axes(part)[part.row_axis].name);
    TW_ASSIGN_OR_RETURN(const auto rows,
                        Cut(row, row_vectors_ * location_.lanes));
    std::vector<Handle> order = Others(part, block, {part.row_axis});
    order.push_back(rows.first);
    Arrange(std::move(order), {rows.second});
    return absl::OkStatus();
  }

  absl::Status CutElements(const RollingRows::Part& part,
                           const std::string& name) {
    TW_RETURN_IF_ERROR(location_.catch_up());
    for (const Buffer& buffer : location_.replayer.tree().buffers) {
      if (buffer.name != name) continue;
      writer_.SetLayout(
          name, LayoutInScratch(Layout::RowMajor(buffer.layout.shape()),
                                buffer.layout.shape(), SizeBytes(buffer.dtype))
                    .ToString());
    }
    const Handle block = writer_.Block(name);
    const int last = static_cast<int>(Axes(part).size()) - 1;
    const Handle along = writer_.Loop(block, Axes(part)[last].name);
    TW_ASSIGN_OR_RETURN(const auto lanes,
                        Cut(along, element_vectors_ * location_.lanes));
    std::vector<Handle> order = Others(part, block, {last});
    order.push_back(lanes.first);
    Arrange(std::move(order), {lanes.second});
    return absl::OkStatus();
  }

  // The result of a block of a row: several vectors of partial results that are
  // combined in the end.
  absl::Status CutPartial(const RollingRows::Part& part, Handle block) {
    const Tensor& tensor = graph_.tensor(part.tensor);
    const std::string row_name = Axes(part)[part.row_axis].name,
                      along_name = absl::StrCat(
                          tensor.compute.reduce_axes[0].name, ".1");
    TW_ASSIGN_OR_RETURN(const auto rows,
                        Cut(writer_.Loop(block, row_name), partial_rows_));
    TW_ASSIGN_OR_RETURN(const auto lanes,
                        Cut(writer_.Loop(block, along_name),
                            partial_vectors_ * location_.lanes));
    std::vector<Handle> order = Others(part, block, {part.row_axis});
    order.push_back(rows.first);
    order.push_back(lanes.first);
    order.push_back(rows.second);
    order.push_back(lanes.second);
    writer_.Reorder(order);
    const Handle vectors = writer_.RFactor(block, lanes.second);
    writer_.SetLevel(vectors, "registers");
    writer_.Annotate(rows.second, "tile");
    const Handle together = writer_.Loop(block, row_name);
    writer_.Reorder(
        {writer_.Loop(block, absl::StrCat(along_name, ".1")), together});
    writer_.Annotate(together, "tile");
    return absl::OkStatus();
  }

  const TensorGraph& graph_;
  const RollingRows& rows_;
  const RollingLocation& location_;
  ScheduleWriter& writer_;
  std::map<TensorId, Handle> partial_;
  int64_t row_vectors_ = 1, element_vectors_ = 1;
  int64_t partial_rows_ = 1, partial_vectors_ = 1;
};

// The row group whose output is a factor of the product of that stage.
std::optional<RollingRows> FindRowsOf(const Workload& workload,
                                      const StagePlan& plan, size_t stage) {
  const TensorGraph& graph = workload.graph;
  const auto readers = ReadersOf(graph);
  RollingRows result;
  result.product_stage = stage;
  std::optional<RowSpace> space;
  for (size_t s = 0; s < stage && !space; ++s) {
    const std::vector<TensorId>& members = plan.stages[s].members;
    const auto of = readers.find(members.back());
    if (of == readers.end() || of->second.size() != 1) continue;
    result.product = of->second[0];
    const std::vector<TensorId>& product = plan.stages[stage].members;
    const Tensor& reader = graph.tensor(result.product);
    if (!std::count(product.begin(), product.end(), result.product) ||
        !reader.compute.combiner || reader.compute.combiner->arity() != 1 ||
        graph.tensor(members.back()).compute.combiner)
      continue;
    space = FindRows(graph, members);
    result.stage = s;
  }
  if (!space || space->extents.empty()) return std::nullopt;

  const std::vector<TensorId>& members = plan.stages[result.stage].members;
  std::set<TensorId> inlined;
  bool reduces = false;
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    const Tensor& tensor = graph.tensor(*member);
    const std::vector<int>& rows = space->axes.at(*member);
    if (rows.empty()) return std::nullopt;
    bool in_row = false;
    const int rank = static_cast<int>(tensor.compute.axes.size());
    for (int i = 0; i < rank; ++i) {
      in_row |= tensor.compute.axes[i].extent.value() > 1 &&
                !std::count(rows.begin(), rows.end(), i);
    }
    RollingRows::Part part = {*member, Kind::kElements, rows.back()};
    if (tensor.compute.combiner) {
      if (in_row || tensor.compute.reduce_axes.size() != 1) return std::nullopt;
      part.kind = Kind::kReduction;
      reduces = true;
    } else if (!in_row) {
      part.kind = Kind::kRow;
    } else if (*member == members.back() || readers.at(*member).size() == 1) {
      inlined.insert(*member);
      continue;
    } else if (std::count(rows.begin(), rows.end(), rank - 1)) {
      return std::nullopt;  // its rows lie side by side
    }
    result.parts.push_back(part);
  }
  if (!reduces || !inlined.count(members.back())) return std::nullopt;
  std::reverse(result.parts.begin(), result.parts.end());
  result.inlined.assign(inlined.begin(), inlined.end());
  std::set<TensorId> of_product = inlined;
  const int spatial =
      static_cast<int>(graph.tensor(result.product).compute.axes.size());
  result.factored =
      FactorOut(InlineMaps(graph, result.product, of_product), spatial,
                Expr::Load(-1, graph.tensor(result.product).dtype, {}))
          .has_value();
  return result;
}

}  // namespace

std::optional<RollingRows> FindRollingRows(const Workload& workload,
                                           const StagePlan& plan) {
  for (size_t stage = plan.stages.size(); stage-- > 0;) {
    if (plan.stages[stage].reduce_step == 0) continue;
    std::optional<RollingRows> rows = FindRowsOf(workload, plan, stage);
    // A result that others read too has to be right when it is written.
    if (rows &&
        !LeavesGroup(workload.graph, plan.stages[rows->stage].members.back()))
      return rows;
  }
  return std::nullopt;
}

void WriteRollingInlines(const Workload& workload, const RollingRows& rows,
                         ScheduleWriter& writer) {
  for (const TensorId id : rows.inlined)
    writer.ComputeInline(writer.Block(workload.graph.tensor(id).name));
  if (rows.factored)
    writer.FactorOut(writer.Block(workload.graph.tensor(rows.product).name));
}

absl::Status WriteRollingRows(const Workload& workload, const RollingRows& rows,
                              const RollingLocation& location) {
  return RowsWriter(workload, rows, location).Run();
}

}  // namespace tilewright::sketch
