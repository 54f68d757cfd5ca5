#include "tilegraph/traffic/tile_work.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "tilegraph/ir/operations.h"
#include "tilegraph/traffic/region_sum.h"
#include "tilegraph/traffic/tile_regions.h"
#include "tilegraph/traffic/transactions.h"

namespace tilewright {
class TileWorks::Counter {
 public:
  Counter(const TileGraph& graph, const Subgraph& part, TileWorkOptions options)
      : graph_(graph.graph()),
        part_(part),
        options_(std::move(options)),
        regions_(graph_, part),
        shape_(graph_.tensor(part.outputs.back()).static_shape()) {
    for (const TensorId input : part.inputs) Know(input, Role::kInput);
    for (const TensorId member : part.members)
      Know(member,
           std::binary_search(part.outputs.begin(), part.outputs.end(), member)
               ? Role::kOutput
               : Role::kInside);
    KnowReaders();
  }

  absl::StatusOr<TileWork> Of(const TileShape& tile) {
    TW_RETURN_IF_ERROR(Check(tile));
    TileWork work;
    for (size_t d = 0; d < shape_.size(); ++d) {
      work.trips.push_back(
          CeilDiv(shape_[d], std::min(tile.spatial[d], shape_[d])));
      work.tiles *= work.trips.back();
    }
    std::vector<TileOperand> operands(known_.size());
    Tiles(tile, 0);
    bool hidden = false;  // one whole tile, and a partial one
    for (size_t d = 0; d < shape_.size(); ++d)
      hidden |= trips_[d] == 1 && work.trips[d] > 1;
    if (hidden) {
      // Describes moves, partial tiles being taken for whole ones.
      MoveAlong(work.trips);
      regions_.Of(box_, work.trips, {}, needs_);
      DescribeMoves(operands);
      Tiles(tile, 0);
    }
    regions_.Of(box_, trips_, {}, needs_);
    if (!hidden) DescribeMoves(operands);
    AddTiles(0, work.classes, operands);
    if (!tile.reduce.empty()) regions_.Of(box_, trips_, tile.reduce, needs_);
    for (size_t slot = 0; slot < known_.size(); ++slot) {
      TileOperand& operand = operands[slot];
      operand.tensor = known_[slot].tensor;
      operand.rounding = operand.classes[0].rounding[0];
      Step step = StepOf(slot);
      operand.extents = std::move(step.extents);
      operand.step_bytes = step.bytes;
    }
    // Tiles that are partial along some dimensions.
    for (uint32_t partial = 1; partial < (1u << shape_.size()); ++partial) {
      if (!Tiles(tile, partial)) continue;
      regions_.Of(box_, trips_, {}, needs_);
      AddTiles(partial, work.classes, operands);
    }
    work.inputs.reserve(part_.inputs.size());
    work.outputs.reserve(part_.outputs.size());
    work.inside.reserve(part_.members.size() - part_.outputs.size());
    for (size_t slot = 0; slot < known_.size(); ++slot) {
      const Known& known = known_[slot];
      work.flops += operands[slot].total_bytes /
                    static_cast<double>(known.element_bytes) *
                    known.operations_per_element;
      (known.role == Role::kInput    ? work.inputs
       : known.role == Role::kOutput ? work.outputs
                                     : work.inside)
          .push_back(std::move(operands[slot]));
    }
    return work;
  }

  absl::StatusOr<std::vector<Step>> StepsOf(const TileShape& tile) {
    TW_RETURN_IF_ERROR(Check(tile));
    Tiles(tile, 0);
    regions_.Of(box_, trips_, tile.reduce, needs_);
    std::vector<Step> steps;
    steps.reserve(known_.size());
    for (size_t slot = 0; slot < known_.size(); ++slot)
      steps.push_back(StepOf(slot));
    return steps;
  }

 private:
  enum class Role { kInput, kInside, kOutput };
  // Facts about a tensor that no tile changes.
  struct Known {
    TensorId tensor;
    Role role;
    std::vector<int64_t> shape;
    int64_t element_bytes;
    double operations_per_element = 0;
    Layout layout;
    // Members that load it, with how many loads each of their elements takes.
    std::vector<std::pair<size_t, double>> readers;
  };

  // Finds the readers of every tensor among the members.
  void KnowReaders() {
    for (size_t slot = part_.inputs.size(); slot < known_.size(); ++slot) {
      const Compute& compute = graph_.tensor(known_[slot].tensor).compute;
      double points = 1;
      for (const Axis& axis : compute.reduce_axes)
        points *= static_cast<double>(axis.extent.value());
      for (const Expr& body : compute.body) {
        Visit(body, [&](const Expr& e) {
          if (e.op() != Op::kLoad) return;
          const auto source = std::find_if(
              known_.begin(), known_.end(),
              [&](const Known& k) { return k.tensor == e.source(); });
          source->readers.emplace_back(slot, points);
        });
      }
    }
  }

  void Know(TensorId id, Role role) {
    const Tensor& tensor = graph_.tensor(id);
    const auto layout = options_.layouts.find(id);
    Known known{id,
                role,
                tensor.static_shape(),
                SizeBytes(tensor.dtype),
                0,
                layout == options_.layouts.end()
                    ? Layout::RowMajor(tensor.static_shape())
                    : layout->second};
    if (role != Role::kInput) {
      known.operations_per_element =
          static_cast<double>(OperationsPerPoint(tensor.compute));
      for (const Axis& axis : tensor.compute.reduce_axes)
        known.operations_per_element *=
            static_cast<double>(axis.extent.value());
    }
    known_.push_back(std::move(known));
  }

  absl::Status Check(const TileShape& tile) const {
    for (const TensorId output : part_.outputs) {
      if (graph_.tensor(output).static_shape() != shape_)
        return absl::InvalidArgumentError(absl::StrCat(
            "outputs ", graph_.tensor(part_.outputs.back()).name, " and ",
            graph_.tensor(output).name, " have no common tiling"));
    }
    if (tile.spatial.size() != shape_.size())
      return absl::InvalidArgumentError(
          absl::StrCat("a tile of ", tile.spatial.size(), " dimensions for ",
                       shape_.size()));
    const auto empty = [](const std::vector<int64_t>& extents) {
      return std::any_of(extents.begin(), extents.end(),
                         [](int64_t extent) { return extent < 1; });
    };
    if (empty(tile.spatial)) return absl::InvalidArgumentError("an empty tile");
    for (const auto& [member, steps] : tile.reduce) {
      if (!std::binary_search(part_.members.begin(), part_.members.end(),
                              member) ||
          steps.size() != graph_.tensor(member).compute.reduce_axes.size() ||
          empty(steps))
        return absl::InvalidArgumentError(absl::StrCat(
            "steps that are none of the reduction of tensor ", member));
    }
    return absl::OkStatus();
  }

  // Tiles that are partial along the dimensions in `partial` and whole along
  // the others: where they lie and how many there are per dimension. False if
  // there is none.
  bool Tiles(const TileShape& tile, uint32_t partial) {
    for (size_t d = 0; d < shape_.size(); ++d) {
      const int64_t extent = std::min(tile.spatial[d], shape_[d]);
      if ((partial >> d & 1) && shape_[d] % extent == 0) return false;
    }
    box_.assign(shape_.size(), {});
    trips_.assign(shape_.size(), 1);
    for (size_t d = 0; d < shape_.size(); ++d) {
      const int64_t extent = std::min(tile.spatial[d], shape_[d]);
      const int64_t rest = shape_[d] % extent;
      box_[d].moves.assign(shape_.size(), 0);
      if (partial >> d & 1) {
        box_[d].constant = shape_[d] - rest;
        box_[d].extent = rest;
      } else {
        trips_[d] = shape_[d] / extent;
        box_[d].extent = extent;
        if (trips_[d] > 1) box_[d].moves[d] = extent;
      }
    }
    return true;
  }

  // As many tiles as there are with the partial ones.
  void MoveAlong(const std::vector<int64_t>& trips) {
    for (size_t d = 0; d < trips.size(); ++d)
      box_[d].moves[d] = trips[d] > 1 ? box_[d].extent : 0;
  }

  void AddTiles(uint32_t partial, std::vector<TileClass>& classes,
                std::vector<TileOperand>& operands) {
    TileClass own{partial, 1};
    for (const int64_t count : trips_) own.tiles *= static_cast<double>(count);
    classes.push_back(own);
    // Readers first: of an input no more elements are needed than are loaded.
    std::vector<double> elements(known_.size());
    for (size_t slot = known_.size(); slot-- > 0;) {
      const Known& known = known_[slot];
      elements[slot] =
          SumOfElements(needs_[slot], known.shape, trips_, regions_);
      if (known.role == Role::kInput) {
        double loads = 0;
        for (const auto& [reader, per_element] : known.readers)
          loads += elements[reader] * per_element;
        elements[slot] = std::min(elements[slot], loads);
      }
      TileOperand& operand = operands[slot];
      operand.classes.push_back(
          {elements[slot] * static_cast<double>(known.element_bytes),
           RoundingOf(slot)});
      const TileOperand::OfClass& added = operand.classes.back();
      operand.total_bytes += added.bytes;
      operand.total_moved_bytes += added.bytes * added.rounding[0];
    }
  }

  Rounding RoundingOf(size_t slot) const {
    const Known& known = known_[slot];
    return TransactionRounding(
        needs_[slot].box, known.shape, known.layout, known.element_bytes,
        known.role == Role::kInput ? options_.read_transaction_bytes
                                   : options_.write_transaction_bytes);
  }

  Step StepOf(size_t slot) const {
    const TileBox& box = needs_[slot].box;
    Step step{known_[slot].tensor, std::vector<int64_t>(box.size()),
              known_[slot].element_bytes};
    for (size_t d = 0; d < box.size(); ++d) {
      step.extents[d] = std::min(box[d].extent, known_[slot].shape[d]);
      step.bytes *= step.extents[d];
    }
    return step;
  }

  void DescribeMoves(std::vector<TileOperand>& operands) const {
    for (size_t slot = 0; slot < known_.size(); ++slot) {
      TileOperand& operand = operands[slot];
      operand.varies.assign(shape_.size(), false);
      operand.moved_digit.assign(shape_.size(), -1);
      for (size_t dim = 0; dim < needs_[slot].box.size(); ++dim) {
        const TileSpan& span = needs_[slot].box[dim];
        const uint32_t moves = Moves(span, regions_);
        for (size_t v = 0; v < shape_.size(); ++v) {
          if (!(moves >> v & 1)) continue;
          operand.varies[v] = true;
          operand.moved_digit[v] =
              std::max(operand.moved_digit[v],
                       MovedDigit(known_[slot].layout, static_cast<int>(dim),
                                  span.moves[v] != 0 ? span.moves[v] : 1));
        }
      }
    }
  }

  const TensorGraph& graph_;
  const Subgraph& part_;
  const TileWorkOptions options_;
  TileRegions regions_;
  const std::vector<int64_t> shape_;  // of the outputs
  std::vector<Known> known_;          // by slot of regions_
  // State of the tiles being counted.
  TileBox box_;
  std::vector<int64_t> trips_;
  std::vector<TileNeed> needs_;  // by slot
};

TileWorks::TileWorks(const TileGraph& graph, const Subgraph& part,
                     TileWorkOptions options)
    : counter_(std::make_unique<Counter>(graph, part, std::move(options))) {}

TileWorks::~TileWorks() = default;

absl::StatusOr<TileWork> TileWorks::Of(const TileShape& tile) {
  return counter_->Of(tile);
}

absl::StatusOr<std::vector<TileWorks::Step>> TileWorks::StepsOf(
    const TileShape& tile) {
  return counter_->StepsOf(tile);
}

absl::StatusOr<TileWork> WorkOfTiles(const TileGraph& graph,
                                     const Subgraph& part,
                                     const TileShape& tile,
                                     const TileWorkOptions& options) {
  return TileWorks(graph, part, options).Of(tile);
}

}  // namespace tilewright
