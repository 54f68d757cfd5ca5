// The official ONNX backend cases through importer and reference interpreter.
// They are looked for in $TILEWRIGHT_ONNX_CASES, then where Debian's
// libonnx-testdata puts them.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "frontends/onnx/check_roles.h"
#include "frontends/onnx/graph/load_model.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/test_case.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/verifier.h"

namespace tilewright {
namespace {

constexpr const char* kDebianCases = "/usr/share/libonnx-testdata/data";
// Larger ones are only imported.
constexpr int64_t kMostWork = 20'000'000;

std::string CasesFolder() {
  const char* folder = std::getenv("TILEWRIGHT_ONNX_CASES");
  return folder != nullptr && *folder != '\0' ? folder : kDebianCases;
}

// Their outputs are random, or show what training mode does.
bool HasNoOneAnswer(const std::string& name) {
  return absl::StrContains(name, "bernoulli") ||
         absl::StrContains(name, "training_dropout");
}

// The input that decides a shape and must be known when compiling, if that is
// what the message says.
std::string InputToBind(absl::string_view message) {
  const size_t end = message.find("' decides a shape");
  if (end == absl::string_view::npos) return "";
  const size_t begin = message.rfind('\'', end - 1);
  return std::string(message.substr(begin + 1, end - begin - 1));
}

// Whether the case's inputs tell what the importer must know.
bool NeedsInputs(absl::string_view message) {
  return !InputToBind(message).empty() ||
         absl::StrContains(message, "' has no value; give it one");
}

// Gives dimensions the values that they have in the case. Binds inputs that
// decide shapes to what it gives them and takes them out of `inputs`.
absl::StatusOr<ImportedModel> ImportWithShapes(
    const std::string& path, std::vector<HostTensor>& inputs) {
  ImportOptions options;
  TW_ASSIGN_OR_RETURN(const onnx::ModelProto proto, LoadModel(path));
  std::vector<std::string> names;
  for (const auto& input : proto.graph().input()) {
    const auto& dims = input.type().tensor_type().shape().dim();
    const size_t i = names.size();
    const int known =
        i < inputs.size() ? static_cast<int>(inputs[i].shape().size()) : 0;
    for (int d = 0; d < std::min(dims.size(), known); ++d) {
      const int64_t extent = inputs[i].shape()[d];
      if (extent == 0) return absl::UnimplementedError("an empty input");
      if (dims[d].has_dim_param()) options.dims[dims[d].dim_param()] = extent;
    }
    names.push_back(input.name());
  }
  while (true) {
    absl::StatusOr<ImportedModel> model = ImportModel(path, options);
    const std::string name = InputToBind(model.status().message());
    const auto at = std::find(names.begin(), names.end(), name);
    const size_t index = at - names.begin();
    if (model.ok() || index >= inputs.size()) return model;
    options.bind_tensors[name] = inputs[index];
    inputs.erase(inputs.begin() + static_cast<int64_t>(index));
    names.erase(at);
  }
}

// Cases before ONNX 1.16 store bf16 as u16 and round toward zero.
bool HoldsOldBfloat16(const std::vector<Port>& ports,
                      const std::vector<HostTensor>& tensors) {
  for (size_t i = 0; i < ports.size() && i < tensors.size(); ++i) {
    if (ports[i].dtype == DType::kBFloat16 &&
        tensors[i].dtype() == DType::kUInt16) {
      return true;
    }
  }
  return false;
}

absl::Status RunCase(const std::string& folder, bool has_answer,
                     bool& checked) {
  const std::string path = folder + "/model.onnx";
  absl::StatusOr<ImportedModel> model = ImportModel(path);
  const bool bind = NeedsInputs(model.status().message());
  if (!model.ok() && !bind) return model.status();
  TW_ASSIGN_OR_RETURN(TestCase data, ReadTestCase(folder));
  if (bind) {
    model = ImportWithShapes(path, data.inputs);
    TW_RETURN_IF_ERROR(model.status());
  }
  TW_RETURN_IF_ERROR(VerifyGraph(model->graph));
  TW_RETURN_IF_ERROR(CheckRoles(model->graph).status());
  if (!has_answer || InterpreterWork(model->graph) > kMostWork) {
    return absl::OkStatus();
  }
  if (HoldsOldBfloat16(model->inputs, data.inputs) ||
      HoldsOldBfloat16(model->outputs, data.outputs)) {
    return absl::UnimplementedError("bf16 is stored as u16");
  }
  checked = true;
  return CheckAgainstInterpreter(*model, data.inputs, data.outputs);
}

TEST(OfficialCasesTest, ImportedGraphsGiveTheOfficialOutputs) {
  const std::vector<std::string> cases = FindTestCases(CasesFolder());
  if (cases.empty()) {
    GTEST_SKIP() << "no cases in " << CasesFolder()
                 << "; unpack them and set TILEWRIGHT_ONNX_CASES";
  }
  const bool verbose = std::getenv("TILEWRIGHT_VERBOSE") != nullptr;
  int passed = 0;
  int failed = 0;
  int imported_only = 0;
  int skipped = 0;
  for (const std::string& folder : cases) {
    const std::string name = folder.substr(CasesFolder().size() + 1);
    const auto begin = std::chrono::steady_clock::now();
    bool checked = false;
    const absl::Status status = RunCase(folder, !HasNoOneAnswer(name), checked);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    if (status.ok()) {
      ++(checked ? passed : imported_only);
    } else if (status.code() == absl::StatusCode::kUnimplemented) {
      ++skipped;
    } else {
      ++failed;
      ADD_FAILURE() << name << ": " << status.message();
    }
    if (verbose) {
      std::cout << (status.ok() ? checked ? "passed" : "imported" : "")
                << (status.ok() ? "" : status.message().substr(0, 150)) << " "
                << name << " " << seconds << " s\n";
    }
  }
  std::cout << passed << " passed, " << imported_only << " imported, " << failed
            << " failed, " << skipped << " skipped\n";
  // 847 cases of ONNX 1.12 pass.
  EXPECT_GE(passed, 847);
}

}  // namespace
}  // namespace tilewright
