// A model through everything of ours: bytes, importer, compiler, runtime.
#ifndef TILEWRIGHT_BENCH_FUZZ_OWN_CASE_H_
#define TILEWRIGHT_BENCH_FUZZ_OWN_CASE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/device.h"
#include "bench/fuzz/fuzz_answer.h"
#include "onnx/onnx_pb.h"

namespace tilewright::bench {

// Extents for the dimensions that mutants name.
std::map<std::string, int64_t> FuzzDims(const onnx::ModelProto& model);

class OwnCase {
 public:
  // For the host. Starts threads: REQUIRES: in the child.
  static absl::StatusOr<std::unique_ptr<OwnCase>> Create();

  // Runs the model on inputs drawn from `seed` unless it takes more than
  // `max_work` elementary operations or 256 MiB.
  FuzzAnswer Run(const onnx::ModelProto& model, uint64_t seed,
                 double max_work) const;
  // Compiles it alone: the bytes of the .tw.
  absl::StatusOr<std::string> CompileToTw(const onnx::ModelProto& model) const;

  const std::shared_ptr<backends::Device>& device() const { return device_; }

 private:
  OwnCase() = default;
  std::unique_ptr<backends::Codegen> codegen_;
  std::shared_ptr<backends::Device> device_;
};

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_FUZZ_OWN_CASE_H_
