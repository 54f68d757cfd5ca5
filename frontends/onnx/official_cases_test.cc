// The official ONNX backend cases through importer and reference interpreter.
// They are looked for in $TILEWRIGHT_ONNX_CASES, then where Debian's
// libonnx-testdata puts them.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontends/onnx/import_model.h"
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
    const absl::StatusOr<TestCase> data = ReadTestCase(folder);
    absl::Status status = data.status();
    bool checked = false;
    if (status.ok()) {
      // Inputs that decide shapes must be known when compiling: where the model
      // does not know them, take the case's.
      absl::StatusOr<ImportedModel> model = ImportModel(data->model_path);
      std::vector<HostTensor> inputs = data->inputs;
      if (!model.ok() &&
          absl::StrContains(model.status().message(), "--bind=")) {
        absl::StatusOr<onnx::ModelProto> proto = LoadModel(data->model_path);
        ImportOptions options;
        inputs.clear();
        size_t next = 0;
        for (const auto& input : proto->graph().input()) {
          if (next >= data->inputs.size()) break;
          const HostTensor& value = data->inputs[next++];
          if (IsInteger(value.dtype()) && value.shape().size() <= 1 &&
              next > 1) {
            options.bind_tensors[input.name()] = value;
          } else {
            inputs.push_back(value);
          }
        }
        model = ImportModel(data->model_path, options);
      }
      status = model.status();
      if (status.ok()) status = VerifyGraph(model->graph);
      if (status.ok() && !HasNoOneAnswer(name) &&
          InterpreterWork(model->graph) <= kMostWork) {
        checked = true;
        status = CheckAgainstInterpreter(*model, inputs, data->outputs);
      }
    }
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
