#include "frontends/onnx/test_case.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "onnx/onnx_pb.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

absl::Status Compare(const std::string& name, const HostTensor& found,
                     const HostTensor& expected) {
  if (found.dtype() != expected.dtype() || found.shape() != expected.shape()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "output '", name, "' is ", DTypeText(found.dtype()), " ",
        ShapeText(found.shape()), ", expected ", DTypeText(expected.dtype()),
        " ", ShapeText(expected.shape())));
  }
  const bool is_float = IsFloat(expected.dtype());
  double largest = 0;
  for (int64_t i = 0; is_float && i < expected.num_elements(); ++i) {
    const double r = std::abs(expected.Get(i).f);
    if (std::isfinite(r)) largest = std::max(largest, r);
  }
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const Scalar y = found.Get(i);
    const Scalar r = expected.Get(i);
    if (!is_float) {
      const double error =
          std::abs(static_cast<double>(y.i) - static_cast<double>(r.i));
      if (error <= 1e-7 + 1e-3 * std::abs(static_cast<double>(r.i))) continue;
    } else {
      if (std::isnan(y.f) && std::isnan(r.f)) continue;
      if (y.f == r.f) continue;
      const double error = std::abs(y.f - r.f);
      if (error <= 1e-7 + 1e-3 * std::abs(r.f) && std::isfinite(r.f)) continue;
      if (error <= 2e-5 * largest) continue;
    }
    return absl::FailedPreconditionError(absl::StrCat(
        "output '", name, "' of ", ShapeText(expected.shape()), ", element ", i,
        " is ", is_float ? absl::StrCat(y.f) : absl::StrCat(y.i), ", expected ",
        is_float ? absl::StrCat(r.f) : absl::StrCat(r.i)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<HostTensor> ReadTensorFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  onnx::TensorProto proto;
  if (!file || !proto.ParseFromString(bytes.str()) ||
      (proto.data_type() == 0 && proto.dims_size() == 0)) {
    return absl::UnimplementedError(absl::StrCat(path, " is no tensor"));
  }
  return ToHostTensor(proto);
}

absl::StatusOr<TestCase> ReadTestCase(const std::string& folder) {
  TestCase result;
  result.model_path = folder + "/model.onnx";
  const std::string data = folder + "/test_data_set_0/";
  for (int i = 0; fs::exists(absl::StrCat(data, "input_", i, ".pb")); ++i) {
    TW_ASSIGN_OR_RETURN(HostTensor tensor,
                        ReadTensorFile(absl::StrCat(data, "input_", i, ".pb")));
    result.inputs.push_back(std::move(tensor));
  }
  for (int i = 0; fs::exists(absl::StrCat(data, "output_", i, ".pb")); ++i) {
    TW_ASSIGN_OR_RETURN(HostTensor tensor, ReadTensorFile(absl::StrCat(
                                               data, "output_", i, ".pb")));
    result.outputs.push_back(std::move(tensor));
  }
  return result;
}

absl::Status CheckAgainstInterpreter(const ImportedModel& model,
                                     const std::vector<HostTensor>& inputs,
                                     const std::vector<HostTensor>& expected) {
  if (inputs.size() != model.inputs.size() ||
      expected.size() != model.outputs.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the model has ", model.inputs.size(), " inputs and ",
                     model.outputs.size(), " outputs, the data ", inputs.size(),
                     " and ", expected.size()));
  }
  std::map<TensorId, HostTensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values[model.inputs[i].tensor] = inputs[i];
  }
  // Values between operators are rounded, as the model says.
  Interpreter::Options options;
  options.round_floats = true;
  TW_ASSIGN_OR_RETURN(
      const std::unique_ptr<Interpreter> interpreter,
      Interpreter::Create(model.graph, std::move(values), options));
  for (size_t i = 0; i < expected.size(); ++i) {
    TW_ASSIGN_OR_RETURN(const HostTensor found,
                        interpreter->Evaluate(model.outputs[i].tensor));
    TW_RETURN_IF_ERROR(Compare(model.outputs[i].name, found, expected[i]));
  }
  return absl::OkStatus();
}

int64_t InterpreterWork(const TensorGraph& graph) {
  double work = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    double terms = static_cast<double>(tensor.num_elements());
    for (const Axis& axis : tensor.compute.reduce_axes) {
      terms *= static_cast<double>(axis.extent.value());
    }
    work += terms;
  }
  return static_cast<int64_t>(std::min(work, 1e18));
}

std::vector<std::string> FindTestCases(const std::string& root) {
  std::vector<std::string> cases;
  std::error_code error;
  for (const auto& outer : fs::directory_iterator(root, error)) {
    if (!outer.is_directory()) continue;
    for (const auto& inner : fs::directory_iterator(outer.path(), error)) {
      if (fs::exists(inner.path() / "model.onnx")) {
        cases.push_back(inner.path().string());
      }
    }
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

}  // namespace tilewright
