// A folder in the style of ONNX's backend tests: model.onnx and, under
// test_data_set_0, input_K.pb and output_K.pb.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_TEST_CASE_H_
#define TILEWRIGHT_FRONTENDS_ONNX_TEST_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frontends/onnx/import_model.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

struct TestCase {
  std::string model_path;
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> outputs;
};

// Unimplemented if an input or output is no tensor of a known type.
absl::StatusOr<TestCase> ReadTestCase(const std::string& folder);

// One file with a TensorProto.
absl::StatusOr<HostTensor> ReadTensorFile(const std::string& path);

// Evaluates every output with the reference interpreter and compares it with
// what is expected: dtype and shape exactly, y with r if
// |y - r| <= 1e-7 + 1e-3 |r| or, for floats, <= 2e-5 max|r|; NaN equals NaN.
// The message names output, element and both values.
absl::Status CheckAgainstInterpreter(const ImportedModel& model,
                                     const std::vector<HostTensor>& inputs,
                                     const std::vector<HostTensor>& expected);

// Elements times terms of all computes: about how long the interpreter takes.
int64_t InterpreterWork(const TensorGraph& graph);

// The folders below `root` (two levels) that hold a model.onnx, sorted.
std::vector<std::string> FindTestCases(const std::string& root);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_TEST_CASE_H_
