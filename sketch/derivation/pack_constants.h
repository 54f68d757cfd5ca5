// Constants laid out as tiles read them: panels as wide as the innermost part
// of a spatial axis.
#ifndef TILEWRIGHT_SKETCH_DERIVATION_PACK_CONSTANTS_H_
#define TILEWRIGHT_SKETCH_DERIVATION_PACK_CONSTANTS_H_

#include <string>

#include "absl/status/status.h"
#include "sketch/derivation/derivation.h"
#include "sketch/derivation/tile_sizes.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// Decides "T.pack.W", plain or panels, of each constant that `id` alone reads;
// asks nothing unless the style packs.
absl::Status PackConstantsOf(Derivation& derivation, TensorId id,
                             const std::string& block, const TileSizes& sizes);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DERIVATION_PACK_CONSTANTS_H_
