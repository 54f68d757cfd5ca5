// Reads the folder that bench/models/export.py writes and verifies outputs.
//
//   MODEL_DIR/test_data_set_0/input_K.pb      what the model takes
//   MODEL_DIR/test_data_set_0/output_K.pb     what it should give
//   MODEL_DIR/test_data_set_0/reference_K.pb  the same in float64, optional
#ifndef BENCH_ORT_TEST_DATA_H_
#define BENCH_ORT_TEST_DATA_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/ort/ort_session.h"

namespace tilewright::bench {

// A TensorProto file. Strings and types narrower than a byte are refused.
absl::StatusOr<OrtTensor> ReadTensor(const std::string& path);

struct TestData {
  std::vector<OrtTensor> inputs;
  std::vector<OrtTensor> references;  // float64 where the folder has it
};

// `folder` is one test_data_set. NotFound if it has no input_0.pb and no
// output_0.pb.
absl::StatusOr<TestData> ReadTestData(const std::string& folder);

// The elements as double; integers and bool too.
absl::StatusOr<std::vector<double>> ToDouble(const OrtTensor& tensor);

// The error of design/numerics.md, e(y) = max|y - r| / max|r|, the largest over
// the outputs, which are matched by position. Infinite where a NaN stands
// against a number. InvalidArgument if counts or shapes differ.
absl::StatusOr<double> Error(const std::vector<OrtTensor>& outputs,
                             const std::vector<OrtTensor>& references);

// The largest e(ours) allowed, given e(ONNX Runtime): max(4 * e, 2e-6).
double ErrorLimit(double peer_error);

}  // namespace tilewright::bench

#endif  // BENCH_ORT_TEST_DATA_H_
