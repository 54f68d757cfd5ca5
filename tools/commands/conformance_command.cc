// tilewright conformance DIR...: every */model.onnx below the folders against
// its test_data_set_*.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/allocation.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/load_model.h"
#include "runtime/session.h"
#include "tilegraph/expr/dtype.h"
#include "tools/commands/commands.h"
#include "tools/commands/model_source.h"
#include "tools/commands/usage.h"
#include "tools/model_io.h"
#include "tools/tensor_files.h"
#include "tools/page/json.h"

namespace tilewright::tools {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kCaseSeconds = 120;
constexpr int64_t kMaxBoundElements = 64;

// Official cases (ONNX 1.20) whose expected outputs contradict the operator's
// definition.
struct WrongCase {
  const char* name;
  const char* why;
};
constexpr WrongCase kWrongCases[] = {
    {"test_qlinearmatmul_3D_int8_float16",
     "the case expects -139 and -136 to wrap around in int8, where "
     "QLinearMatMul saturates"},
};

struct Result {
  std::string status;  // "passed", "failed", "skipped"
  std::string reason;
  double max_abs_error = 0;
};

Result FromStatus(const absl::Status& status) {
  return {absl::IsUnimplemented(status) ? "skipped" : "failed",
          std::string(status.message()), 0};
}

// Names of the model's inputs, in the order of its input_N.pb.
absl::StatusOr<std::vector<std::string>> InputNames(const fs::path& folder) {
  TW_ASSIGN_OR_RETURN(const onnx::ModelProto model,
                      LoadModel((folder / "model.onnx").string()));
  std::set<std::string> initialized;
  for (const onnx::TensorProto& tensor : model.graph().initializer())
    initialized.insert(tensor.name());
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto& input : model.graph().input()) {
    if (!initialized.count(input.name())) names.push_back(input.name());
  }
  return names;
}

// A case whose shapes hang on the values of small inputs (axes, sizes, repeats)
// is compiled for those of its first data set.
absl::StatusOr<Source> LoadCase(const CommandLine& line, const fs::path& folder,
                                const std::vector<std::string>& names) {
  const std::string path = (folder / "model.onnx").string();
  absl::StatusOr<Source> source = LoadSource(line, path);
  if (source.ok()) return source;
  const absl::StatusOr<std::vector<HostTensor>> tensors =
      ReadDataSet((folder / "test_data_set_0").string(), "input");
  if (!tensors.ok()) return source;
  BoundInputs bound;
  for (size_t i = 0; i < std::min(tensors->size(), names.size()); ++i) {
    if ((*tensors)[i].shape().size() < 2 &&
        (*tensors)[i].num_elements() <= kMaxBoundElements)
      bound[names[i]] = (*tensors)[i];
  }
  absl::StatusOr<Source> again = LoadSource(line, path, bound);
  return again.ok() ? std::move(again) : std::move(source);
}

// Cases before ONNX 1.16 store bf16 as u16, and round toward zero.
bool IsOldBfloat16(const TensorSpec& spec, const HostTensor& tensor) {
  return spec.element_type() == BFLOAT16 && tensor.dtype() == DType::kUInt16;
}
constexpr char kOldBfloat16[] =
    "the case stores bf16 as u16 and rounds toward zero";

Result RunDataSet(const std::string& folder,
                  const std::vector<std::string>& names, Session& session) {
  const absl::StatusOr<std::vector<HostTensor>> inputs =
      ReadDataSet(folder, "input");
  if (!inputs.ok()) return FromStatus(inputs.status());
  const absl::StatusOr<std::vector<HostTensor>> wanted =
      ReadDataSet(folder, "output");
  if (!wanted.ok()) return FromStatus(wanted.status());
  const Program& program = session.model().program();
  std::map<std::string, HostTensor> given;
  for (const TensorSpec& input : program.inputs()) {
    const size_t i =
        std::find(names.begin(), names.end(), input.name()) - names.begin();
    if (i >= inputs->size()) continue;
    if (IsOldBfloat16(input, (*inputs)[i])) return {"skipped", kOldBfloat16, 0};
    given[input.name()] = (*inputs)[i];
  }
  for (int i = 0; i < program.outputs_size(); ++i) {
    if (i < static_cast<int>(wanted->size()) &&
        IsOldBfloat16(program.outputs(i), (*wanted)[i]))
      return {"skipped", kOldBfloat16, 0};
  }
  const absl::StatusOr<std::vector<HostTensor>> bound =
      MakeInputs(program, std::move(given), 0);
  if (!bound.ok()) return FromStatus(bound.status());
  const absl::StatusOr<std::vector<HostTensor>> outputs =
      RunOnce(session, *bound);
  if (!outputs.ok()) return FromStatus(outputs.status());
  Result result{"passed", "", 0};
  for (size_t i = 0; i < wanted->size(); ++i) {
    if (i >= outputs->size())
      return {"failed", "the model has fewer outputs than the data set", 0};
    const Comparison comparison = Compare((*outputs)[i], (*wanted)[i]);
    result.max_abs_error =
        std::max(result.max_abs_error, comparison.max_abs_error);
    if (!comparison.conforms && result.reason.empty())
      result = {"failed", absl::StrCat("output ", i, " ", comparison.reason),
                result.max_abs_error};
  }
  return result;
}

Result RunCase(const CommandLine& line, const fs::path& folder) {
  const absl::StatusOr<std::vector<std::string>> names = InputNames(folder);
  if (!names.ok()) return FromStatus(names.status());
  const absl::StatusOr<Source> source = LoadCase(line, folder, *names);
  if (!source.ok()) return FromStatus(source.status());
  const absl::StatusOr<std::unique_ptr<Session>> session =
      Session::Create(source->model);
  if (!session.ok()) return FromStatus(session.status());
  Result result{"skipped", "no test_data_set_*", 0};
  std::vector<fs::path> sets;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().rfind("test_data_set_", 0) == 0)
      sets.push_back(entry.path());
  }
  std::sort(sets.begin(), sets.end());
  for (const fs::path& set : sets) {
    const Result one = RunDataSet(set.string(), *names, **session);
    result = {one.status, one.reason,
              std::max(result.max_abs_error, one.max_abs_error)};
    if (one.status != "passed") break;
  }
  for (const WrongCase& wrong : kWrongCases) {
    if (result.status == "failed" && folder.filename() == wrong.name)
      return {"skipped", wrong.why, 0};
  }
  return result;
}

// In a child, so that a crash or a hang is one failed case and no more.
Result RunCaseAlone(const CommandLine& line, const fs::path& folder) {
  int pipe_fds[2];
  if (pipe(pipe_fds) != 0)
    return {"failed", absl::StrCat("no pipe: ", std::strerror(errno)), 0};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    return {"failed", absl::StrCat("no process: ", std::strerror(errno)), 0};
  }
  if (child == 0) {
    close(pipe_fds[0]);
    alarm(kCaseSeconds);
    Result result;
    const absl::Status status = CatchExceptions("running the case", [&] {
      result = RunCase(line, folder);
      return absl::OkStatus();
    });
    if (!status.ok()) result = FromStatus(status);
    const std::string text = absl::StrCat(
        result.status, "\n", result.max_abs_error, "\n", result.reason);
    size_t written = 0;
    while (written < text.size()) {
      const ssize_t n =
          write(pipe_fds[1], text.data() + written, text.size() - written);
      if (n <= 0) _exit(1);
      written += static_cast<size_t>(n);
    }
    _exit(0);
  }
  close(pipe_fds[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(pipe_fds[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(pipe_fds[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    return {"failed",
            WTERMSIG(status) == SIGALRM
                ? absl::StrCat("took more than ", kCaseSeconds, " s")
                : absl::StrCat("crashed: ", strsignal(WTERMSIG(status))),
            0};
  }
  const std::vector<std::string> lines =
      absl::StrSplit(text, absl::MaxSplits('\n', 2));
  if (lines.size() != 3) return {"failed", "ended without a result", 0};
  return {lines[0], lines[2], std::strtod(lines[1].c_str(), nullptr)};
}

}  // namespace

absl::Status ConformanceCommand(const CommandLine& line) {
  if (line.positional().empty())
    return Usage("'conformance' takes at least one folder");
  std::vector<fs::path> cases;
  for (const std::string& given : line.positional()) {
    std::error_code error;
    for (fs::recursive_directory_iterator it(UserPath(given), error), end;
         !error && it != end; it.increment(error)) {
      if (it->path().filename() == "model.onnx")
        cases.push_back(it->path().parent_path());
    }
    if (error)
      return absl::NotFoundError(absl::StrCat(given, ": ", error.message()));
  }
  std::sort(cases.begin(), cases.end());
  if (cases.empty())
    return absl::NotFoundError("no model.onnx below the given folders");
  int passed = 0, failed = 0, skipped = 0;
  for (const fs::path& folder : cases) {
    const Result result = RunCaseAlone(line, folder);
    ++(result.status == "passed"    ? passed
       : result.status == "skipped" ? skipped
                                    : failed);
    if (line.Has("json")) {
      Json json;
      json.Open('{')
          .Key("case")
          .Text(folder.filename().string())
          .Key("status")
          .Text(result.status)
          .Key("reason")
          .Text(result.reason);
      std::printf("%s\n", json.Key("max_abs_error")
                              .Number(result.max_abs_error)
                              .Close('}')
                              .text()
                              .c_str());
    } else if (result.status != "passed") {
      std::printf("%-8s %s: %s\n", result.status.c_str(),
                  folder.filename().c_str(), result.reason.c_str());
    }
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed == 0 ? absl::OkStatus()
                     : absl::DataLossError(absl::StrCat(
                           failed, " of ", cases.size(), " cases failed"));
}

}  // namespace tilewright::tools
