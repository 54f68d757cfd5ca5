// The schedules that Ansor's rules for GPUs write (gpu_sketch_rules.h). Each
// returns InvalidArgument with what cannot be expressed. Internal to
// sketch/derivation.
#ifndef TILEWRIGHT_SKETCH_DERIVATION_WRITE_GPU_RULES_H_
#define TILEWRIGHT_SKETCH_DERIVATION_WRITE_GPU_RULES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sketch/derivation/derivation.h"
#include "sketch/simt/thread_nest.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// write_thread_rules.cc
absl::Status WriteThreads(Derivation& derivation, TensorId id,
                          std::string_view variant);
absl::Status WriteThreadConstants(Derivation& derivation, TensorId id,
                                  std::string_view variant);
absl::Status WriteCrossThread(Derivation& derivation, TensorId id,
                              std::string_view variant);

// write_thread_tiles.cc: with the reader that the compute is fused with, if
// there is one.
absl::Status WriteThreadTiles(Derivation& derivation, TensorId id,
                              std::string_view variant);

// The elements of a block of code, or of its axes `which`, divided among the
// threads that share it with `lanes` others each. Asks for "T.threads" and
// "T.vector".
ThreadDivision DecideDivision(Derivation& derivation, const std::string& block,
                              const std::vector<int64_t>& extents,
                              const std::vector<int>& which, int64_t lanes = 1);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DERIVATION_WRITE_GPU_RULES_H_
