#include "tilegraph/tiling/tile_work.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tilegraph/operations.h"
#include "tilegraph/tiling/region_sum.h"
#include "tilegraph/tiling/tile_regions.h"
#include "tilegraph/tiling/transactions.h"

namespace tilewright {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t ElementsOf(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  return elements;
}

}  // namespace

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
  }

  absl::StatusOr<TileWork> Of(const TileShape& tile) {
    TW_RETURN_IF_ERROR(Check(tile));
    TileWork work;
    for (size_t d = 0; d < shape_.size(); ++d) {
      work.trips.push_back(
          CeilDiv(shape_[d], std::min(tile.spatial[d], shape_[d])));
      work.tiles *= work.trips.back();
    }
    std::vector<int64_t> trips;
    TileBox box;
    Tiles(tile, 0, box, trips);
    const std::vector<TileBox> whole = regions_.Of(box, trips, {});
    const std::vector<TileBox> step =
        tile.reduce.empty() ? whole : regions_.Of(box, trips, tile.reduce);
    std::vector<TileOperand> operands;
    for (size_t slot = 0; slot < known_.size(); ++slot)
      operands.push_back(Describe(
          slot, whole[slot],
          known_[slot].role == Role::kInput ? step[slot] : whole[slot]));
    AddTiles(whole, trips, operands);
    // Tiles that are partial along some dimensions.
    for (uint32_t partial = 1; partial < (1u << shape_.size()); ++partial) {
      if (!Tiles(tile, partial, box, trips)) continue;
      AddTiles(regions_.Of(box, trips, {}), trips, operands);
    }
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

  absl::StatusOr<std::vector<int64_t>> StepBytes(const TileShape& tile) {
    TW_RETURN_IF_ERROR(Check(tile));
    std::vector<int64_t> trips;
    TileBox box;
    Tiles(tile, 0, box, trips);
    const std::vector<TileBox> step = regions_.Of(box, trips, tile.reduce);
    std::vector<int64_t> bytes;
    for (size_t slot = 0; slot < part_.inputs.size(); ++slot)
      bytes.push_back(known_[slot].element_bytes *
                      ElementsOf(Extents(slot, step[slot])));
    return bytes;
  }

 private:
  enum class Role { kInput, kInside, kOutput };
  // What no tile changes.
  struct Known {
    TensorId tensor;
    Role role;
    std::vector<int64_t> shape;
    int64_t element_bytes;
    double operations_per_element = 0;
    Layout layout;
  };

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
  bool Tiles(const TileShape& tile, uint32_t partial, TileBox& box,
             std::vector<int64_t>& trips) const {
    box.assign(shape_.size(), {});
    trips.assign(shape_.size(), 1);
    for (size_t d = 0; d < shape_.size(); ++d) {
      const int64_t extent = std::min(tile.spatial[d], shape_[d]);
      const int64_t rest = shape_[d] % extent;
      box[d].moves.assign(shape_.size(), 0);
      if (partial >> d & 1) {
        if (rest == 0) return false;
        box[d].constant = shape_[d] - rest;
        box[d].extent = rest;
      } else {
        trips[d] = shape_[d] / extent;
        box[d].extent = extent;
        if (trips[d] > 1) box[d].moves[d] = extent;
      }
    }
    return true;
  }

  void AddTiles(const std::vector<TileBox>& boxes,
                const std::vector<int64_t>& trips,
                std::vector<TileOperand>& operands) {
    for (size_t slot = 0; slot < known_.size(); ++slot) {
      const double bytes =
          SumOfElements(boxes[slot], known_[slot].shape, trips, regions_) *
          static_cast<double>(known_[slot].element_bytes);
      operands[slot].total_bytes += bytes;
      operands[slot].total_moved_bytes += bytes * Rounding(slot, boxes[slot]);
    }
  }

  std::vector<int64_t> Extents(size_t slot, const TileBox& box) const {
    std::vector<int64_t> extents;
    for (size_t d = 0; d < box.size(); ++d)
      extents.push_back(std::min(box[d].extent, known_[slot].shape[d]));
    return extents;
  }

  double Rounding(size_t slot, const TileBox& box) const {
    const Known& known = known_[slot];
    const int64_t transaction_bytes = known.role == Role::kInput
                                          ? options_.read_transaction_bytes
                                          : options_.write_transaction_bytes;
    if (transaction_bytes <= 1) return 1;
    TileBox clipped = box;
    for (size_t d = 0; d < box.size(); ++d)
      clipped[d].extent = std::min(box[d].extent, known.shape[d]);
    return TransactionRounding(clipped, known.layout, known.element_bytes,
                               transaction_bytes);
  }

  TileOperand Describe(size_t slot, const TileBox& whole,
                       const TileBox& step) const {
    TileOperand operand;
    operand.tensor = known_[slot].tensor;
    operand.extents = Extents(slot, step);
    operand.step_bytes =
        known_[slot].element_bytes * ElementsOf(operand.extents);
    operand.rounding = Rounding(slot, whole);
    operand.varies.assign(shape_.size(), false);
    for (const TileSpan& span : whole) {
      const std::vector<bool> moves = Moves(span, regions_);
      for (size_t v = 0; v < moves.size(); ++v)
        if (moves[v]) operand.varies[v] = true;
    }
    return operand;
  }

  const TensorGraph& graph_;
  const Subgraph& part_;
  const TileWorkOptions options_;
  TileRegions regions_;
  const std::vector<int64_t> shape_;  // of the outputs
  std::vector<Known> known_;          // by slot of regions_
};

TileWorks::TileWorks(const TileGraph& graph, const Subgraph& part,
                     TileWorkOptions options)
    : counter_(std::make_unique<Counter>(graph, part, std::move(options))) {}

TileWorks::~TileWorks() = default;

absl::StatusOr<TileWork> TileWorks::Of(const TileShape& tile) {
  return counter_->Of(tile);
}

absl::StatusOr<std::vector<int64_t>> TileWorks::StepBytes(
    const TileShape& tile) {
  return counter_->StepBytes(tile);
}

absl::StatusOr<TileWork> WorkOfTiles(const TileGraph& graph,
                                     const Subgraph& part,
                                     const TileShape& tile,
                                     const TileWorkOptions& options) {
  return TileWorks(graph, part, options).Of(tile);
}

}  // namespace tilewright
