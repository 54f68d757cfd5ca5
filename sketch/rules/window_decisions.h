// The decisions of sliding windows, beside those of tile_decisions.h, and in
// kernels of their own edges.h. Reduce axes are named r0, r1, ...: outermost
// first, as the graph has them.
//
//   taps.rN        steps of a reduce axis that are unrolled around the tile,
//                  the innermost axis asked first; may change bits
//   tile           vectors, rows and outer rows of one register tile
//   reduce.order   the loops over the other steps of reduce axes, outermost
//                  first; may change bits
//   taps.order     the unrolled steps likewise; may change bits
//   pack           how constants that vary along the vector axis lie
#ifndef TILEWRIGHT_SKETCH_RULES_WINDOW_DECISIONS_H_
#define TILEWRIGHT_SKETCH_RULES_WINDOW_DECISIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sketch/rules/window_tile.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/plan/register_tile.h"

namespace tilewright::sketch {

// "taps.rN" and "tile": any that fit the registers and are allowed; preferred
// is ChooseWindowTile's. Taps come first, so that equal answers to what may
// change bits give equal bits, whatever the tile. Of a kernel with `tasks`, no
// answer leaves too few of them (tile_decisions.h). REQUIRES: `space.allowed`
// captures by value.
WindowTile DecideWindowTile(Decider& decider, WindowSpace space,
                            const std::optional<TileTasks>& tasks = {});

// `name`: an order of these reduce axes, outermost first; preferred is the one
// they are in.
std::vector<int> DecideReduceOrder(Decider& decider, const std::string& name,
                                   std::vector<int> axes);

enum class WindowPack : uint8_t {
  kTile,    // panels as wide as the tile, window positions side by side
  kVector,  // likewise, of one vector
  kPlain,
};
// "pack". `wide`: tiles have several vectors.
WindowPack DecideWindowPack(Decider& decider, bool wide);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_WINDOW_DECISIONS_H_
