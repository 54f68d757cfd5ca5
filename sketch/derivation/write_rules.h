// The schedules that Ansor's rules write (sketch_rules.h). Each returns
// InvalidArgument with what cannot be expressed. Internal to sketch/derivation.
#ifndef TILEWRIGHT_SKETCH_DERIVATION_WRITE_RULES_H_
#define TILEWRIGHT_SKETCH_DERIVATION_WRITE_RULES_H_

#include <string_view>

#include "absl/status/status.h"
#include "sketch/derivation/derivation.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// write_simple_rules.cc
absl::Status WriteInline(Derivation& derivation, TensorId id,
                         std::string_view variant);
absl::Status WriteSkip(Derivation& derivation, TensorId id,
                       std::string_view variant);
absl::Status WriteUnrolledConstants(Derivation& derivation, TensorId id,
                                    std::string_view variant);
// "outer" or "inner"; "T.rfactor": the reduced steps, cut in two.
absl::Status WriteRfactor(Derivation& derivation, TensorId id,
                          std::string_view variant);

// write_tiled_rules.cc: "1" or "2", the level that readers are fused at.
absl::Status WriteCacheWrite(Derivation& derivation, TensorId id,
                             std::string_view variant);
absl::Status WriteTileFused(Derivation& derivation, TensorId id,
                            std::string_view variant);
absl::Status WriteTile(Derivation& derivation, TensorId id,
                       std::string_view variant);
// A tensor that another block stores is inlined there unless it leaves the
// group: the block then computes the tensor.
absl::Status Settle(Derivation& derivation, TensorId id);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DERIVATION_WRITE_RULES_H_
