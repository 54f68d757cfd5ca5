// Loads an ONNX model that nobody vouches for.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_GRAPH_LOAD_MODEL_H_
#define TILEWRIGHT_FRONTENDS_ONNX_GRAPH_LOAD_MODEL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "onnx/onnx_pb.h"

namespace tilewright {

struct LoadLimits {
  int64_t max_model_bytes = INT32_MAX;  // protobuf's own limit
  int64_t max_external_bytes = int64_t{16} << 30;
  int max_nesting = 64;  // of protobuf messages
};

// The model in file `path`, its external data read into it. Every error is one
// line that says what is wrong and what to do: NotFound, InvalidArgument (not a
// model, truncated, external data outside the folder, ...), ResourceExhausted.
absl::StatusOr<onnx::ModelProto> LoadModel(const std::string& path,
                                           const LoadLimits& limits = {});

// The same from memory; external data is left unresolved. `name` is for
// messages.
absl::StatusOr<onnx::ModelProto> ParseModel(absl::string_view bytes,
                                            absl::string_view name,
                                            const LoadLimits& limits = {});

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_GRAPH_LOAD_MODEL_H_
