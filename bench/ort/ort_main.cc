// Runs ONNX Runtime on folders written by bench/models: prints its error
// against the float64 reference and its times.
//
//   ort_main --ort=libonnxruntime.so.1 [--threads=1,2] [--seconds=3]
//            [--record] MODEL_DIR...
//
// --record writes MODEL_DIR/test_data_set_0/peer_error.json instead of timing:
// e(ONNX Runtime) at one thread, which the verifier of whole models needs.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/model/error_limit.h"
#include "bench/ort/ort_session.h"
#include "bench/ort/test_data.h"
#include "bench/ort/timing.h"
#include "measure/machine/steady_core.h"

namespace tilewright::bench {
namespace {

constexpr double kWindowSeconds = 0.25;

struct Flags {
  std::string ort;
  std::vector<int> threads = {1, 2};
  double seconds = 3;
  bool record = false;
  std::vector<std::string> folders;
};

absl::StatusOr<Flags> Parse(const std::vector<std::string>& arguments) {
  Flags flags;
  if (const char* path = std::getenv("TILEWRIGHT_ORT")) flags.ort = path;
  const char* working_directory = std::getenv("BUILD_WORKING_DIRECTORY");
  OptionParser parser;
  parser.Value("ort", [&](absl::string_view path) {
    flags.ort = UserPath(path, working_directory);
    return absl::OkStatus();
  });
  parser.List("threads", &flags.threads, 1);
  parser.Number("seconds", &flags.seconds, 0.0);
  parser.Flag("record", &flags.record);
  TW_ASSIGN_OR_RETURN(flags.folders, parser.Parse(arguments));
  for (std::string& folder : flags.folders)
    folder = UserPath(folder, working_directory);
  if (flags.folders.empty()) {
    return absl::InvalidArgumentError("no folder with a model.onnx was given");
  }
  if (flags.ort.empty()) {
    return absl::InvalidArgumentError(
        "give the path of libonnxruntime.so.1 with --ort or $TILEWRIGHT_ORT");
  }
  return flags;
}

absl::Status Record(const std::string& data_folder, const std::string& version,
                    double error) {
  const absl::StatusOr<double> limit = ModelErrorLimit(data_folder, error);
  if (!limit.ok()) return limit.status();
  const std::string path = absl::StrCat(data_folder, "/peer_error.json");
  std::ofstream file(path);
  file << absl::StrFormat(
      "{\n"
      "  \"onnxruntime_version\": \"%s\",\n"
      "  \"onnxruntime_error\": %.3e,\n"
      "  \"error_limit\": %.3e\n"
      "}\n",
      version, error, *limit);
  file.close();
  return file.good() ? absl::OkStatus()
                     : absl::UnavailableError("cannot write " + path);
}

absl::Status Process(const Flags& flags, const std::string& folder) {
  const std::string data_folder = folder + "/test_data_set_0";
  absl::StatusOr<TestData> data = ReadTestData(data_folder);
  if (!data.ok()) return data.status();
  for (int threads : flags.record ? std::vector<int>{1} : flags.threads) {
    absl::StatusOr<std::unique_ptr<OrtSession>> session =
        OrtSession::Open(flags.ort, folder + "/model.onnx", {threads});
    if (!session.ok()) return session.status();
    absl::StatusOr<std::vector<OrtTensor>> outputs =
        (*session)->Run(data->inputs);
    if (!outputs.ok()) return outputs.status();
    absl::StatusOr<double> error = Error(*outputs, data->references);
    if (!error.ok()) return error.status();
    if (flags.record) {
      absl::Status status = Record(data_folder, (*session)->version(), *error);
      if (!status.ok()) return status;
      absl::PrintF("%s: e(ONNX Runtime) %.3g\n", folder, *error);
      continue;
    }
    std::vector<Window> windows;
    auto run = [&] { return (*session)->RunBound(); };
    std::optional<measure::SteadyCore> this_core;
    if (threads == 1) this_core.emplace(measure::SteadyCore::OfThisThread());
    measure::SteadyCore* const core = this_core ? &*this_core : nullptr;
    absl::Status warm_up = MeasureWindow(run, kWindowSeconds, core).status();
    if (!warm_up.ok()) return warm_up;
    for (double left = flags.seconds; left > 0; left -= kWindowSeconds) {
      absl::StatusOr<Window> window = MeasureWindow(run, kWindowSeconds, core);
      if (!window.ok()) return window.status();
      windows.push_back(*std::move(window));
    }
    const Timing timing = Summarize(windows);
    absl::PrintF(
        "%s: ONNX Runtime %s, threads %d, e %.3g, wall min %.3f median %.3f "
        "ms, CPU min %.3f median %.3f ms, %d of %d runs quiet\n",
        folder, (*session)->version(), threads, *error, timing.min_wall_ms,
        timing.median_wall_ms, timing.min_cpu_ms, timing.median_cpu_ms,
        timing.quiet_runs, timing.runs);
  }
  return absl::OkStatus();
}

int Main(const std::vector<std::string>& arguments) {
  absl::StatusOr<Flags> flags = Parse(arguments);
  if (!flags.ok()) {
    absl::FPrintF(stderr, "ort_main: %s\n", flags.status().message());
    return 2;
  }
  bool failed = false;
  for (const std::string& folder : flags->folders) {
    absl::Status status = Process(*flags, folder);
    if (!status.ok()) {
      absl::FPrintF(stderr, "ort_main: %s: %s\n", folder, status.message());
      failed = true;
    }
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) {
  return tilewright::bench::Main({argv + 1, argv + argc});
}
