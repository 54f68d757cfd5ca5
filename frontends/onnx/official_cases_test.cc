// The official ONNX backend cases through importer and reference interpreter.
// They are looked for in $TILEWRIGHT_ONNX_CASES, then where Debian's
// libonnx-testdata puts them.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/load_model.h"
#include "frontends/onnx/test_case.h"
#include "gtest/gtest.h"
#include "tilegraph/verifier.h"

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

// Inputs that decide shapes must be known when compiling: takes them, whole
// numbers of at most one dimension, from the case, and leaves the others in
// `inputs`.
ImportOptions BindShapeInputs(const std::string& path,
                              std::vector<HostTensor>& inputs) {
  ImportOptions options;
  const absl::StatusOr<onnx::ModelProto> proto = LoadModel(path);
  std::vector<HostTensor> left;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0 && IsInteger(inputs[i].dtype()) && inputs[i].shape().size() < 2) {
      options.bind_tensors[proto->graph().input(static_cast<int>(i)).name()] =
          inputs[i];
    } else {
      left.push_back(inputs[i]);
    }
  }
  inputs = std::move(left);
  return options;
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
  const bool bind =
      absl::StrContains(model.status().message(), "--bind=NAME=VALUE");
  if (!model.ok() && !bind) return model.status();
  TW_ASSIGN_OR_RETURN(TestCase data, ReadTestCase(folder));
  if (bind) {
    model = ImportModel(path, BindShapeInputs(path, data.inputs));
    TW_RETURN_IF_ERROR(model.status());
  }
  TW_RETURN_IF_ERROR(VerifyGraph(model->graph));
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
  EXPECT_GE(passed, 100);
}

}  // namespace
}  // namespace tilewright
