// Annotations beyond TVM's, and the tile sizes that a style asks for.
#ifndef TILEWRIGHT_SKETCH_DERIVATION_DERIVATION_STYLE_H_
#define TILEWRIGHT_SKETCH_DERIVATION_DERIVATION_STYLE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sketch/trace/schedule.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

class Derivation;

inline constexpr int kSpatialLevels = 4, kReduceLevels = 2;  // SSRSRS

// The axes to cut: extents of the spatial and the reduce axes at the compute's
// location, in its order.
struct TileProblem {
  TensorId id;
  std::string block;
  std::vector<int64_t> spatial, reduce;
};

// By axis, the parts of each level, outermost first.
struct TileSizes {
  std::vector<Factors> spatial, reduce;
  // The spatial axes as their loops nest at each level: the one whose
  // neighbours lie side by side innermost.
  std::vector<int> order;
};

struct DerivationStyle {
  bool tails = false;        // splits need not divide extents
  bool fit_vectors = false;  // innermost tiles: whole vectors × rows that fit
                             // the registers
  bool anywhere = false;  // tiled computes may be computed at their readers too
  bool pack = false;      // constants lie as tiles read them
  bool roll = false;      // iterations keep what the next ones read too
  bool threads = false;   // rules bind loops to threads: nothing is annotated
  // Decide tiles themselves, of computes that they know: those of several
  // levels; and those of two levels of the spatial axes, whose parts divide
  // extents where the compute reduces.
  using Sizes =
      std::function<std::optional<TileSizes>(Derivation&, const TileProblem&)>;
  Sizes sizes = nullptr;
  Sizes simple_sizes = nullptr;
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DERIVATION_DERIVATION_STYLE_H_
