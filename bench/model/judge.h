// The judge of whole models: what a folder's committed judgement of the peer
// says.
#ifndef TILEWRIGHT_BENCH_MODEL_JUDGE_H_
#define TILEWRIGHT_BENCH_MODEL_JUDGE_H_

#include <string>

#include "absl/status/statusor.h"

namespace tilewright::bench {

struct PeerJudgement {
  std::string version;     // of ONNX Runtime
  double peer_error = 0;   // e(ONNX Runtime)
  double error_limit = 0;  // max(4 · e, 2e-6), computed here
};

// Reads `data_folder`/judge.json, which bench/ort writes with --record.
// NotFound if there is none.
absl::StatusOr<PeerJudgement> ReadJudgement(const std::string& data_folder);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MODEL_JUDGE_H_
