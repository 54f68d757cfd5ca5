// Boxes in rows, and lines between them that run downwards: a layered drawing
// (Sugiyama, Tagawa and Toda, 1981). Lines that pass rows get a place of their
// own there; rows are ordered by the median of their neighbours and placed by
// least squares.
#ifndef TILEWRIGHT_TOOLS_PLAN_LAYERS_H_
#define TILEWRIGHT_TOOLS_PLAN_LAYERS_H_

#include <utility>
#include <vector>

namespace tilewright::tools {

struct LayerBox {
  int row = 0;
  double width = 0, height = 0;
  double x = 0, y = 0;  // of the upper left corner; out
};

struct LayerLine {
  int from = 0, to = 0;  // boxes; REQUIRES: rows ascend
  // Out: where it leaves, passes rows (in pairs: upper and lower end), arrives.
  std::vector<std::pair<double, double>> points;
};

struct LayerOptions {
  double column_gap = 26, row_gap = 46;
  // Beside row_gap, above each row: for frames that begin or end there.
  std::vector<double> space_above;
};

struct LayerSize {
  double width = 0, height = 0;
};

// Places all within the size that it returns. Deterministic.
LayerSize PlaceLayers(std::vector<LayerBox>& boxes,
                      std::vector<LayerLine>& lines,
                      const LayerOptions& options);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PLAN_LAYERS_H_
