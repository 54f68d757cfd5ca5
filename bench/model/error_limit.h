// The verifier of whole models: what a model's error may be, and what a
// folder's committed verdict of the peer says.
#ifndef TILEWRIGHT_BENCH_MODEL_ERROR_LIMIT_H_
#define TILEWRIGHT_BENCH_MODEL_ERROR_LIMIT_H_

#include <string>

#include "absl/status/statusor.h"

namespace tilewright::bench {

struct PeerError {
  std::string version;     // of ONNX Runtime
  double peer_error = 0;   // e(ONNX Runtime)
  double error_limit = 0;  // of ModelErrorLimit
};

// The largest e(ours) allowed for the model whose data lie in `data_folder`:
// where its class.json names a class of precision, 4 times what the class
// itself errs (0 for integers: bit for bit); else max(4 · e(peer), 2e-6).
absl::StatusOr<double> ModelErrorLimit(const std::string& data_folder,
                                       double peer_error);

// Reads `data_folder`/peer_error.json, which bench/ort writes with --record.
// NotFound if there is none.
absl::StatusOr<PeerError> ReadPeerError(const std::string& data_folder);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MODEL_ERROR_LIMIT_H_
