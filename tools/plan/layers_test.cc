#include "tools/plan/layers.h"

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright::tools {
namespace {

bool Overlap(const LayerBox& a, const LayerBox& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
         b.y < a.y + a.height;
}

TEST(LayersTest, RandomDrawingsHaveAllInPlace) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    std::vector<LayerBox> boxes;
    const int rows = 1 + static_cast<int>(random.UniformInt(0, 8 - 1));
    for (int row = 0; row < rows; ++row) {
      const int count = 1 + static_cast<int>(random.UniformInt(0, 4 - 1));
      for (int i = 0; i < count; ++i) {
        LayerBox& box = boxes.emplace_back();
        box.row = row;
        box.width = 20 + static_cast<double>(random.UniformInt(0, 200 - 1));
        box.height = 10 + static_cast<double>(random.UniformInt(0, 90 - 1));
      }
    }
    std::vector<LayerLine> lines;
    for (size_t to = 0; to < boxes.size(); ++to) {
      const size_t from = random.Index(boxes.size());
      if (boxes[from].row < boxes[to].row)
        lines.push_back({static_cast<int>(from), static_cast<int>(to), {}});
    }
    LayerOptions options;
    options.space_above.assign(rows + 1, 7);
    const LayerSize size = PlaceLayers(boxes, lines, options);
    for (size_t a = 0; a < boxes.size(); ++a) {
      EXPECT_GE(boxes[a].x, 0);
      EXPECT_LE(boxes[a].x + boxes[a].width, size.width + 1);
      EXPECT_LE(boxes[a].y + boxes[a].height, size.height);
      for (size_t b = 0; b < a; ++b) {
        EXPECT_FALSE(Overlap(boxes[a], boxes[b])) << seed << ": " << a << b;
        if (boxes[a].row > boxes[b].row)
          EXPECT_GE(boxes[a].y, boxes[b].y + boxes[b].height + 7);
      }
    }
    for (const LayerLine& line : lines) {
      // From the lower side of a box to the upper side of one, downwards.
      const LayerBox &from = boxes[line.from], &to = boxes[line.to];
      EXPECT_EQ(line.points.size(),
                2 + 2 * static_cast<size_t>(to.row - from.row - 1));
      EXPECT_EQ(line.points.front().second, from.y + from.height);
      EXPECT_EQ(line.points.back().second, to.y);
      EXPECT_GE(line.points.back().first, to.x);
      EXPECT_LE(line.points.back().first, to.x + to.width);
      for (size_t i = 1; i < line.points.size(); ++i)
        EXPECT_GE(line.points[i].second, line.points[i - 1].second);
    }
  }
}

TEST(LayersTest, AChainIsStraight) {
  std::vector<LayerBox> boxes(3);
  for (int row = 0; row < 3; ++row) boxes[row] = {row, 40, 10, 0, 0};
  std::vector<LayerLine> lines = {{0, 1, {}}, {1, 2, {}}};
  PlaceLayers(boxes, lines, {});
  EXPECT_EQ(boxes[0].x, boxes[1].x);
  EXPECT_EQ(boxes[1].x, boxes[2].x);
}

}  // namespace
}  // namespace tilewright::tools
