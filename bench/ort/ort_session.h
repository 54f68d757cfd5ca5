// Runs an ONNX model with ONNX Runtime, the peer on the CPU.
//
// ONNX Runtime is not a dependency: its shared library is opened at run time.
// The npm package onnxruntime-node carries one, see README.md beside this file.
#ifndef BENCH_ORT_ORT_SESSION_H_
#define BENCH_ORT_ORT_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright::bench {

// A dense tensor, row-major, as ONNX defines it.
struct OrtTensor {
  std::string name;
  int32_t data_type = 0;  // onnx.TensorProto.DataType
  std::vector<int64_t> dims;
  std::string bytes;  // little endian
};

struct OrtOptions {
  int threads = 1;  // intra-op; inter-op is always 1
  // Empty: no profile. Otherwise ending the session writes one, in Chrome's
  // trace format, to a file whose name begins like this.
  std::string profile_prefix;
};

// Not thread-safe. A session's pool spins after a run: destroy the session, or
// wait a second, before measuring something else.
class OrtSession {
 public:
  // NotFound if there is no usable library at `library_path`, InvalidArgument,
  // with ONNX Runtime's message, if it refuses the model. All graph
  // optimisations are on; the library stays loaded until the process ends.
  static absl::StatusOr<std::unique_ptr<OrtSession>> Open(
      const std::string& library_path, const std::string& model_path,
      const OrtOptions& options);
  ~OrtSession();
  OrtSession(const OrtSession&) = delete;
  OrtSession& operator=(const OrtSession&) = delete;

  const std::string& version() const { return version_; }
  const std::vector<std::string>& input_names() const { return input_names_; }
  const std::vector<std::string>& output_names() const { return output_names_; }

  // Copies `inputs`; they are matched by name, or by position where the name
  // is empty. Must be called before RunBound.
  absl::Status Bind(const std::vector<OrtTensor>& inputs);

  // One run, which a benchmark times: from the bound inputs into the outputs,
  // which the first run allocates and later ones overwrite.
  absl::Status RunBound();

  // Copies of the last run's outputs, in the model's order.
  absl::StatusOr<std::vector<OrtTensor>> Outputs() const;

  // Bind, RunBound, Outputs.
  absl::StatusOr<std::vector<OrtTensor>> Run(
      const std::vector<OrtTensor>& inputs);

 private:
  struct State;
  explicit OrtSession(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
  std::string version_;
  std::vector<std::string> input_names_;
  std::vector<std::string> output_names_;
};

}  // namespace tilewright::bench

#endif  // BENCH_ORT_ORT_SESSION_H_
