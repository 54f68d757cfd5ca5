// Reads the files beside a model that hold its weights, and no others.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_GRAPH_EXTERNAL_DATA_H_
#define TILEWRIGHT_FRONTENDS_ONNX_GRAPH_EXTERNAL_DATA_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "onnx/onnx_pb.h"

namespace tilewright {

// One folder, opened once. A location is a relative path without "..", and no
// part of it may be a symbolic link: nothing outside the folder can be reached,
// also not by renaming things while the model loads.
class ExternalData {
 public:
  // The folder of the model file `model_path`. At most `max_bytes` are read in
  // total. Without openat2 (kernels before 5.6) paths are opened part by part.
  static absl::StatusOr<ExternalData> Open(const std::string& model_path,
                                           int64_t max_bytes,
                                           bool use_openat2 = true);
  ExternalData(ExternalData&& other) noexcept;
  ExternalData& operator=(ExternalData&& other) = delete;
  ~ExternalData();

  // Replaces the reference to a file by the bytes in it (`raw_data`).
  // InvalidArgument, ResourceExhausted or NotFound naming tensor and file.
  absl::Status Resolve(onnx::TensorProto& tensor);

 private:
  ExternalData(int folder, int64_t budget_bytes, bool use_openat2)
      : folder_(folder),
        budget_bytes_(budget_bytes),
        use_openat2_(use_openat2) {}

  int folder_;
  int64_t budget_bytes_;
  bool use_openat2_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_GRAPH_EXTERNAL_DATA_H_
