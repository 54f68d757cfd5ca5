// The part of a convolution by Winograd that a task computes, by rule. Internal
// to sketch.
#ifndef TILEWRIGHT_SKETCH_RULES_WINOGRAD_TASKS_H_
#define TILEWRIGHT_SKETCH_RULES_WINOGRAD_TASKS_H_

#include <cstdint>

namespace tilewright::sketch {

// Tiles of outputs, and vectors of output channels.
struct WinogradTiles2d {
  int64_t images, rows, columns, vectors;
};

// Rows of tiles, with all their columns, and vectors of output channels.
struct WinogradTask {
  int64_t rows, vectors;
};

// Every task transforms its input anew: it takes all channels, as long as every
// core gets its share of the tasks.
WinogradTask ChooseWinogradTask(const WinogradTiles2d& tiles, int64_t cores);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_WINOGRAD_TASKS_H_
