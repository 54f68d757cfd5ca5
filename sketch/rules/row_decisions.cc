#include "sketch/rules/row_decisions.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "sketch/rules/shared/like_terms.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/rules/shared/tile_decisions.h"
#include "tilegraph/decision/space.h"

namespace tilewright::sketch {
namespace {

// Vectors of a row, or of several short rows, that are unrolled by rule, and at
// most; rows at most.
constexpr int64_t kVectorsInARow = 8;
constexpr int64_t kMostVectorsInARow = 32;
constexpr int64_t kMostRows = 16;
// Vectors that are added to at the same time, so that none waits for the sum
// before: an addition takes four cycles, and there are two units for it.
constexpr int64_t kChains = 8;
// Rows whose lanes are joined at the same time, so that none waits for the
// shuffles of another: so many, or up to twice as many if those divide the
// rows. They are to keep no more than so many elements in the first-level
// cache.
constexpr int64_t kRowsJoined = 4;
constexpr int64_t kElementsJoined = 4096;
// Where rows come from memory and go there, fewer runs at the same time are
// faster: as many elements in all, or a single row (docs/results/kernels.md).
constexpr int64_t kElementsFromMemory = 256;
// Functions unrolled side by side: their temporaries share the registers.
constexpr int64_t kFunctionVectors = 2;
// Operations per element of a row, roughly.
constexpr int64_t kOperationsPerElement = 8;

// Elements of a row, and of what is kept of one.
int64_t ElementsOfARow(const RowBlocks& blocks) {
  int64_t most = 1, kept = 0;
  for (const RowBlock& block : blocks.blocks) {
    most = std::max(most, block.row_elements());
    if (block.intermediate > 0) kept += block.row_elements();
  }
  return most + kept;
}

int64_t LongestRow(const RowBlocks& blocks) {
  int64_t elements = 1;
  for (const RowBlock& block : blocks.blocks)
    elements = std::max(elements, block.row_elements());
  return elements;
}

// A number of rows up to `most` that divides them, or nearly. A single row left
// over would be computed element by element beside the others.
int64_t DivideRows(int64_t extent, int64_t most, bool exact) {
  most = std::min(most, extent);
  for (int64_t rows = most; rows > (exact ? 0 : most / 2); --rows) {
    if (extent % rows == 0) return rows;
  }
  while (most > 1 && extent % most == 1) --most;
  return most;
}

class TileRule {
 public:
  TileRule(const RowBlocks& blocks, int64_t lanes, bool inside,
           bool from_memory, const DeviceSpec& spec)
      : rows_(blocks.blocks.back().rows),
        lanes_(lanes),
        longest_(LongestRow(blocks)),
        elements_(ElementsOfARow(blocks)),
        operations_(longest_ * kOperationsPerElement *
                    static_cast<int64_t>(blocks.blocks.size())),
        cores_(std::max<int64_t>(1, spec.unit().cores())),
        lanes_are_rows_(blocks.contiguous_row.has_value()),
        inside_(inside),
        joined_(from_memory
                    ? std::clamp<int64_t>(kElementsFromMemory / longest_, 1,
                                          kRowsJoined)
                    : kRowsJoined) {}

  int64_t Rows() const {
    int64_t rows = 1;
    for (const RowAxis& row : rows_) rows *= row.extent;
    return rows;
  }

  int64_t Together(size_t axis) const {
    const int64_t extent = rows_[axis].extent;
    if (lanes_are_rows_) return std::min(extent, kRowVectors * lanes_);
    const int64_t most =
        std::max<int64_t>(1, kVectorsInARow / CeilDiv(longest_, lanes_));
    if (most < joined_ && MayFuse(joined_)) {
      for (int64_t rows = joined_; rows <= 2 * joined_; ++rows) {
        if (extent % rows == 0 && MayFuse(rows)) return rows;
      }
      if (!inside_) return std::min(extent, joined_);
    }
    return DivideRows(extent, most, inside_);
  }

  // Steps of a task.
  int64_t Steps(size_t axis, int64_t together) const {
    const int64_t tiles = CeilDiv(Rows(), together);
    return std::max<int64_t>(
        1, std::min({kOperationsPerTask / (operations_ * together),
                     tiles / (kTasksPerCore * cores_),
                     CeilDiv(rows_[axis].extent, together)}));
  }

  int64_t Tasks(size_t axis) const {
    const int64_t together = Together(axis);
    return Rows() / rows_[axis].extent *
           CeilDiv(rows_[axis].extent, together * Steps(axis, together));
  }

 private:
  // Whether so many rows stay in the cache and leave enough tasks.
  bool MayFuse(int64_t rows) const {
    return rows * elements_ <= kElementsJoined &&
           (inside_ || Rows() / rows >= kTasksPerCore * cores_);
  }

  const std::vector<RowAxis>& rows_;
  const int64_t lanes_;
  const int64_t longest_;
  const int64_t elements_;
  const int64_t operations_;
  const int64_t cores_;
  const bool lanes_are_rows_;
  const bool inside_;
  const int64_t joined_;  // rows
};

size_t DecideAxis(const ComputeLocation& location, const RowBlocks& blocks) {
  // Vectors lie along the rows that are neighbours.
  if (blocks.contiguous_row) return *blocks.contiguous_row;
  const size_t rows = blocks.blocks.back().rows.size();
  if (location.bounds.AnyRolls()) return rows - 1;
  std::vector<std::string> names;
  for (size_t i = 0; i < rows; ++i) names.push_back(absl::StrCat("axis", i));
  return location.decider.DecideNumber(
      "row", Space::OneOf(std::move(names)), [&] { return rows - 1; },
      Bits::kMayChange);
}

// `lanes`: in rows; 1 where they lie inside a row. `most`: so that enough tasks
// are left.
int64_t DecideTogether(const ComputeLocation& location, int64_t extent,
                       int64_t most, int64_t lanes, int64_t rule) {
  // By value: the table keeps the space.
  const auto admits =
      [=, inside = location.inside.has_value(),
       rolls = location.bounds.AnyRolls()](const DecisionValue& value) {
        if (value[0] == rule) return true;
        return (value[0] % lanes == 0 || value[0] == extent) && !rolls &&
               (!inside || extent % value[0] == 0);
      };
  most = std::min(most, lanes > 1 ? 2 * kRowVectors * lanes : kMostRows);
  return location.decider.DecideNumber(
      "rows.together",
      Space::Composite({{"rows", Space::Integers(1, most)}}, admits),
      [&] { return rule; }, Bits::kMayChange);
}

std::vector<int64_t> ExtentsOf(const RowBlock& block) {
  std::vector<int64_t> extents = {static_cast<int64_t>(block.fusible)};
  for (const RowAxis& axis : block.inner) extents.push_back(axis.extent);
  return extents;
}

const char* RoleOf(const RowBlock& block) {
  if (block.reduces) return "reduce";
  return block.expensive ? "functions" : "elementwise";
}

}  // namespace

RowTile DecideRowTile(const ComputeLocation& location, const RowBlocks& blocks,
                      int64_t lanes, bool from_memory, const DeviceSpec& spec) {
  const bool inside = location.inside.has_value();
  const std::vector<RowAxis>& rows = blocks.blocks.back().rows;
  const TileRule rule(blocks, lanes, inside, from_memory, spec);
  const int64_t least =
      inside ? 1
             : LeastTasks(
                   spec,
                   rule.Tasks(blocks.contiguous_row.value_or(rows.size() - 1)));
  RowTile tile;
  tile.axis = DecideAxis(location, blocks);
  const int64_t extent = rows[tile.axis].extent;
  int64_t others = rule.Rows() / extent;
  int64_t most = MostStepsOfATask(extent, others, least);
  tile.together =
      DecideTogether(location, extent, most, blocks.contiguous_row ? lanes : 1,
                     std::min(most, rule.Together(tile.axis)));
  tile.in_task = extent;
  if (inside) return tile;
  const int64_t steps = CeilDiv(extent, tile.together);
  most = MostStepsOfATask(steps, others, least);
  const int64_t taken = location.decider.DecideNumber(
      "task.rows", Space::Integers(1, most),
      [&] { return std::min(most, rule.Steps(tile.axis, tile.together)); });
  tile.in_task = tile.together * taken;
  if (rows.size() == 1) return tile;
  tile.outer_axis = tile.axis == 0 ? 1 : tile.axis - 1;
  const int64_t outer = rows[*tile.outer_axis].extent;
  others = others / outer * CeilDiv(steps, taken);
  tile.outer_in_task = location.decider.DecideNumber(
      "task.outer_rows",
      Space::Integers(1, MostStepsOfATask(outer, others, least)),
      [] { return 1; });
  return tile;
}

template <typename Ask>
RowCut RowCuts::Once(const RowBlock& block, Ask ask) {
  const std::string role = RoleOf(block);
  auto& known = cuts_[role];
  const Extents extents = ExtentsOf(block);
  for (const auto& [of, cut] : known) {
    if (of == extents) return cut;
  }
  const Decider::Scope scope(
      decider_, known.empty() ? role : absl::StrCat(role, known.size() + 1));
  return known.emplace_back(extents, ask()).second;
}

RowCut RowCuts::Of(const RowBlock& block) {
  return Once(block, [&] { return Decide(block); });
}

RowCut RowCuts::Decide(const RowBlock& block) {
  // Elementwise blocks may change bits, too: where a kept value lives follows
  // from its vectors, and sums that read it were seen to differ in their last
  // bits.
  const Bits bits = Bits::kMayChange;
  const int64_t vectors =
      !block.reduces && block.expensive ? kFunctionVectors : kRowVectors;
  int64_t extent = block.inner.back().extent;
  RowCut cut;
  size_t loops = block.inner.size();
  if (block.fusible + 1 < loops) {
    cut.fused = decider_.DecideWhether(
        "fuse",
        [&] { return extent < vectors * lanes_ || extent % lanes_ != 0; },
        bits);
  }
  if (cut.fused) {
    extent = 1;
    for (size_t i = block.fusible; i < block.inner.size(); ++i)
      extent *= block.inner[i].extent;
    loops = block.fusible + 1;
  }
  const int64_t in_row = CeilDiv(extent, lanes_);
  const int64_t most =
      std::min(in_row, std::max<int64_t>(1, kMostVectorsInARow / together_));
  cut.vectors = decider_.DecideNumber(
      block.reduces ? "partials" : "vectors", Space::Integers(1, most),
      [&] {
        const bool whole = loops == 1 && in_row * together_ <= kVectorsInARow;
        return std::min(most, whole ? in_row : vectors);
      },
      bits);
  return cut;
}

int64_t RowCuts::PartialsAcross(const RowBlock& block) {
  const int64_t extent = block.inner.back().extent;
  const int64_t vectors = CeilDiv(together_, lanes_);
  const int64_t by_rule =
      extent < 2 * kRowVectors
          ? 1
          : std::clamp<int64_t>(kChains / vectors, 1, kRowVectors);
  return Once(block,
              [&] {
                const int64_t most =
                    std::clamp<int64_t>(extent / 2, 1, 2 * kRowVectors);
                return RowCut{false,
                              decider_.DecideNumber(
                                  "partials", Space::Integers(1, most),
                                  [&] { return by_rule; }, Bits::kMayChange)};
              })
      .vectors;
}

std::optional<TermBlocks> BlocksOfTerms(const RowBlock& block) {
  const int64_t terms = block.row_elements();
  if (!block.reduces || terms <= kMostLikeTerms) return std::nullopt;
  TermBlocks blocks;
  for (size_t i = 1; i < block.inner.size(); ++i) {
    if (block.inner[i].extent > block.inner[blocks.axis].extent)
      blocks.axis = i;
  }
  // As many blocks as one has terms, nearly; all of them alike if they can be.
  const int64_t extent = block.inner[blocks.axis].extent;
  const double terms_of_step = static_cast<double>(terms / extent);
  const auto wanted = std::clamp<int64_t>(
      std::llround(LikeTermsOfABlock(terms) / terms_of_step), 1, extent);
  blocks.steps = wanted;
  for (int64_t steps = wanted; steps < 2 * wanted; ++steps) {
    if (extent % steps != 0) continue;
    blocks.steps = steps;
    break;
  }
  return blocks;
}

std::optional<TermBlocks> BlocksOfLanes(const RowBlock& block, RowCuts& cuts,
                                        int64_t lanes) {
  const int64_t terms = block.row_elements();
  // Most sums are short enough whatever is decided.
  if (!block.reduces || FewestBlocks(terms, lanes) == 1) return std::nullopt;
  const int64_t wanted = FewestBlocks(terms, lanes * cuts.Of(block).vectors);
  if (wanted == 1) return std::nullopt;
  // Of the outermost axis that is long enough: what lies inside stays together.
  TermBlocks blocks;
  while (blocks.axis + 1 < block.inner.size() &&
         block.inner[blocks.axis].extent < wanted)
    ++blocks.axis;
  const int64_t extent = block.inner[blocks.axis].extent;
  int64_t count = std::min(wanted, extent);
  while (count < std::min(2 * wanted, extent) && extent % count != 0) ++count;
  blocks.steps = CeilDiv(extent, extent % count == 0 ? count : wanted);
  return blocks;
}

std::string DecideLevel(Decider& decider, const RowBlock& block,
                        bool unrolled) {
  if (block.inner.empty()) return "registers";  // one value per row
  const std::vector<std::string> levels = {"scratch", "registers"};
  return levels[decider.DecideNumber(
      absl::StrCat("intermediate.", block.intermediate, ".level"),
      Space::OneOf(unrolled ? levels : std::vector<std::string>{"scratch"}),
      [&] { return unrolled ? 1 : 0; }, Bits::kMayChange)];
}

}  // namespace tilewright::sketch
