#include "tools/plan/layers.h"

#include <algorithm>
#include <cmath>

namespace tilewright::tools {
namespace {

constexpr int kOrderSweeps = 12, kPlaceSweeps = 80;
// Sweeps that look at one side only, to get near.
constexpr int kFirstSweeps = 4;
// How strongly boxes stay near the middle, against one neighbour.
constexpr double kToMiddle = 0.4;
constexpr double kLaneWidth = 10;  // of a line that passes a row

struct Place {
  int row = 0;
  int box = -1;  // or a line that passes
  double width = 0, height = 0;
  double x = 0;  // of the middle
  std::vector<int> above, below;
};

class Drawing {
 public:
  Drawing(std::vector<LayerBox>& boxes, std::vector<LayerLine>& lines,
          const LayerOptions& options)
      : boxes_(boxes), lines_(lines), options_(options) {
    for (size_t b = 0; b < boxes.size(); ++b)
      AddPlace(boxes[b].row, static_cast<int>(b), boxes[b].width,
               boxes[b].height);
    for (const LayerLine& line : lines) {
      std::vector<int>& way = ways_.emplace_back();
      way.push_back(line.from);
      for (int row = boxes[line.from].row + 1; row < boxes[line.to].row; ++row)
        way.push_back(AddPlace(row, -1, kLaneWidth, 0));
      way.push_back(line.to);
      for (size_t i = 0; i + 1 < way.size(); ++i) {
        places_[way[i]].below.push_back(way[i + 1]);
        places_[way[i + 1]].above.push_back(way[i]);
      }
    }
  }

  LayerSize Draw() {
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep)
      ForRows(sweep % 2 == 0, [&](int row) { Order(row, sweep % 2 == 0); });
    for (std::vector<int>& row : rows_) Pack(row);
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
      ForRows(sweep % 2 == 0, [&](int row) {
        Settle(rows_[row], sweep % 2 == 0, sweep >= kFirstSweeps);
      });
    }
    return Finish();
  }

 private:
  int AddPlace(int row, int box, double width, double height) {
    if (row >= static_cast<int>(rows_.size())) rows_.resize(row + 1);
    const int index = static_cast<int>(places_.size());
    places_.push_back({row, box, width, height, 0, {}, {}});
    rows_[row].push_back(index);
    return index;
  }

  template <typename Visit>
  void ForRows(bool downwards, const Visit& visit) {
    const int rows = static_cast<int>(rows_.size());
    for (int i = 0; i < rows; ++i) visit(downwards ? i : rows - 1 - i);
  }

  const std::vector<int>& Neighbours(const Place& place, bool above) const {
    return above ? place.above : place.below;
  }

  // By the mean position of the neighbours; what has none keeps its position.
  void Order(int row, bool above) {
    std::vector<double> position(places_.size(), 0);
    for (const std::vector<int>& other : rows_) {
      for (size_t i = 0; i < other.size(); ++i)
        position[other[i]] =
            (static_cast<double>(i) + 0.5) / static_cast<double>(other.size());
    }
    std::vector<std::pair<double, int>> keyed;
    for (const int index : rows_[row]) {
      const std::vector<int>& near = Neighbours(places_[index], above);
      double sum = 0;
      for (const int other : near) sum += position[other];
      keyed.emplace_back(near.empty() ? position[index]
                                      : sum / static_cast<double>(near.size()),
                         index);
    }
    std::stable_sort(
        keyed.begin(), keyed.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < keyed.size(); ++i) rows_[row][i] = keyed[i].second;
  }

  double Distance(int left, int right) const {
    const double gap = places_[left].box < 0 || places_[right].box < 0
                           ? options_.column_gap / 2
                           : options_.column_gap;
    return (places_[left].width + places_[right].width) / 2 + gap;
  }

  void Pack(const std::vector<int>& row) {
    double at = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) at += Distance(row[i - 1], row[i]);
      places_[row[i]].x = at;
    }
    for (const int index : row) places_[index].x -= at / 2;
  }

  // As near as can be to the means of the neighbours, in least squares, with
  // the distances kept: offsets from the tightest packing must not decrease,
  // so neighbours that would are pooled.
  void Settle(const std::vector<int>& row, bool above, bool both) {
    struct Pool {
      double sum, weight;
      size_t size;
    };
    std::vector<Pool> pools;
    double packed = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) packed += Distance(row[i - 1], row[i]);
      const Place& place = places_[row[i]];
      double sum = 0;
      size_t count = 0;
      for (const bool side : {true, false}) {
        if (side != above && !both) continue;
        for (const int other : Neighbours(place, side)) sum += places_[other].x;
        count += Neighbours(place, side).size();
      }
      const double pull = place.box < 0 ? 0 : kToMiddle;
      const double wanted =
          count == 0 ? place.x : sum / (static_cast<double>(count) + pull);
      const double weight = count == 0      ? 0.1
                            : place.box < 0 ? 4
                                            : static_cast<double>(count);
      pools.push_back({(wanted - packed) * weight, weight, 1});
      while (pools.size() > 1) {
        const Pool last = pools.back();
        Pool& before = pools[pools.size() - 2];
        if (before.sum / before.weight <= last.sum / last.weight) break;
        before = {before.sum + last.sum, before.weight + last.weight,
                  before.size + last.size};
        pools.pop_back();
      }
    }
    size_t i = 0;
    packed = 0;
    for (const Pool& pool : pools) {
      for (size_t n = 0; n < pool.size; ++n, ++i) {
        if (i > 0) packed += Distance(row[i - 1], row[i]);
        places_[row[i]].x = pool.sum / pool.weight + packed;
      }
    }
  }

  LayerSize Finish() {
    double left = 0, right = 0;
    for (const Place& place : places_) {
      left = std::min(left, place.x - place.width / 2);
      right = std::max(right, place.x + place.width / 2);
    }
    std::vector<double> top, bottom;
    double y = 0;
    for (size_t row = 0; row < rows_.size(); ++row) {
      if (row > 0) y += options_.row_gap;
      if (row < options_.space_above.size()) y += options_.space_above[row];
      double height = 0;
      for (const int index : rows_[row])
        height = std::max(height, places_[index].height);
      top.push_back(y);
      bottom.push_back(y += height);
    }
    for (const Place& place : places_) {
      if (place.box < 0) continue;
      LayerBox& box = boxes_[place.box];
      box.x = std::round(place.x - place.width / 2 - left);
      box.y = std::round(top[place.row]);
    }
    for (size_t l = 0; l < lines_.size(); ++l) {
      for (const int index : ways_[l]) {
        const Place& place = places_[index];
        const double x = std::round(place.x - left);
        auto& points = lines_[l].points;
        if (place.box >= 0) {
          const LayerBox& box = boxes_[place.box];
          points.emplace_back(x, points.empty() ? box.y + box.height : box.y);
        } else {
          points.emplace_back(x, top[place.row]);
          points.emplace_back(x, bottom[place.row]);
        }
      }
    }
    SpreadArrivals();
    const double below = options_.space_above.size() > rows_.size()
                             ? options_.space_above[rows_.size()]
                             : 0;
    return {std::ceil(right - left), std::ceil(y + below)};
  }

  // Lines that arrive at one box do so side by side, in the order in which they
  // come.
  void SpreadArrivals() {
    std::vector<std::vector<LayerLine*>> arriving(boxes_.size());
    for (LayerLine& line : lines_) arriving[line.to].push_back(&line);
    for (size_t b = 0; b < boxes_.size(); ++b) {
      std::vector<LayerLine*>& lines = arriving[b];
      const auto before = [](const LayerLine* line) {
        return line->points[line->points.size() - 2].first;
      };
      std::stable_sort(lines.begin(), lines.end(),
                       [&](const LayerLine* one, const LayerLine* other) {
                         return before(one) < before(other);
                       });
      const double count = static_cast<double>(lines.size());
      const double step = std::min(24.0, boxes_[b].width * 0.8 / count);
      for (size_t i = 0; i < lines.size(); ++i)
        lines[i]->points.back().first +=
            std::round((static_cast<double>(i) - (count - 1) / 2) * step);
    }
  }

  std::vector<LayerBox>& boxes_;
  std::vector<LayerLine>& lines_;
  const LayerOptions& options_;
  std::vector<Place> places_;  // boxes first
  std::vector<std::vector<int>> rows_;
  std::vector<std::vector<int>> ways_;  // of lines: places
};

}  // namespace

LayerSize PlaceLayers(std::vector<LayerBox>& boxes,
                      std::vector<LayerLine>& lines,
                      const LayerOptions& options) {
  return Drawing(boxes, lines, options).Draw();
}

}  // namespace tilewright::tools
