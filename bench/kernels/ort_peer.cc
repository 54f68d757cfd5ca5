// ONNX Runtime on the case's model, timed by its own profiler: the nodes that
// are neither stem nor tail nor a change of layout at the frame.
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "bench/kernels/drawn_values.h"
#include "bench/kernels/peer.h"
#include "bench/ort/ort_session.h"

namespace tilewright::bench {
namespace {

constexpr int64_t kMaxProfileBytes = int64_t{1} << 30;

// An empty folder, removed with the files in it.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(absl::StrCat(
            getenv("TMPDIR") != nullptr ? getenv("TMPDIR") : "/tmp",
            "/tilewright_kernels_XXXXXX")) {
    TW_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~TemporaryFolder() {
    for (const std::string& file : Files()) unlink(file.c_str());
    rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    DIR* const folder = opendir(path_.c_str());
    if (folder == nullptr) return files;
    while (const dirent* entry = readdir(folder)) {
      if (entry->d_name[0] != '.')
        files.push_back(absl::StrCat(path_, "/", entry->d_name));
    }
    closedir(folder);
    return files;
  }

 private:
  std::string path_;
};

// The value of "key" : in one line of the profile, without quotes.
absl::string_view Field(absl::string_view line, absl::string_view key) {
  size_t at = line.find(absl::StrCat("\"", std::string(key), "\""));
  if (at == absl::string_view::npos) return "";
  at = line.find(':', at);
  const size_t begin = line.find_first_not_of(" \"", at + 1);
  return line.substr(begin, line.find_first_of("\",}", begin) - begin);
}

bool Counts(absl::string_view node, absl::string_view op, bool framed) {
  return !framed ||
         (!absl::StartsWith(node, "stem") && !absl::StartsWith(node, "tail") &&
          !absl::StartsWith(op, "Reorder"));
}

// One event a line: sums the durations of the nodes that count, run by run.
std::vector<double> TimesPerRun(absl::string_view profile, bool framed) {
  std::vector<double> times_us;
  double run_us = 0;
  while (!profile.empty()) {
    const size_t end = std::min(profile.find('\n'), profile.size() - 1);
    const absl::string_view line = profile.substr(0, end);
    profile.remove_prefix(end + 1);
    const absl::string_view name = Field(line, "name");
    double us = 0;
    if (!absl::SimpleAtod(Field(line, "dur"), &us)) continue;
    if (Field(line, "cat") == "Node" && absl::EndsWith(name, "_kernel_time") &&
        Counts(name, Field(line, "op_name"), framed)) {
      run_us += us;
    } else if (name == "model_run") {
      times_us.push_back(run_us);
      run_us = 0;
    }
  }
  return times_us;
}

class OrtKernel : public PeerKernel {
 public:
  absl::Status Init(const std::string& library, const Operator& op,
                    int threads) {
    const onnx::ModelProto model = CaseModel(op);
    framed_ = model.graph().node(0).output(0) == "stem";
    const std::string path = folder_.path() + "/model.onnx";
    TW_RETURN_IF_ERROR(WriteFileAtomically(path, model.SerializeAsString()));
    OrtOptions options;
    options.threads = threads;
    options.profile_prefix = folder_.path() + "/profile";
    TW_ASSIGN_OR_RETURN(session_, OrtSession::Open(library, path, options));
    std::vector<OrtTensor> inputs;
    for (const onnx::ValueInfoProto& input : model.graph().input()) {
      OrtTensor tensor;
      tensor.name = input.name();
      tensor.data_type = onnx::TensorProto::FLOAT;
      int64_t elements = 1;
      for (const auto& dim : input.type().tensor_type().shape().dim()) {
        tensor.dims.push_back(dim.dim_value());
        elements *= dim.dim_value();
      }
      const Values values = DrawnValues(elements);
      tensor.bytes.assign(reinterpret_cast<const char*>(values.get()),
                          elements * sizeof(float));
      inputs.push_back(std::move(tensor));
    }
    return session_->Bind(inputs);
  }

  absl::Status Run() override { return session_->RunBound(); }

  absl::StatusOr<std::vector<double>> OwnTimesUs() override {
    session_.reset();  // writes the profile
    for (const std::string& file : folder_.Files()) {
      if (!absl::EndsWith(file, ".json")) continue;
      TW_ASSIGN_OR_RETURN(const std::string profile,
                          ReadFile(file, kMaxProfileBytes));
      return TimesPerRun(profile, framed_);
    }
    return absl::InternalError("ONNX Runtime wrote no profile");
  }

 private:
  TemporaryFolder folder_;
  bool framed_ = false;
  std::unique_ptr<OrtSession> session_;
};

class OnnxRuntime : public Peer {
 public:
  OnnxRuntime(std::string library, int threads)
      : library_(std::move(library)), threads_(threads) {}
  std::string name() const override { return kOnnxRuntimeName; }
  absl::StatusOr<std::unique_ptr<PeerKernel>> Prepare(
      const Operator& op) override {
    auto kernel = std::make_unique<OrtKernel>();
    TW_RETURN_IF_ERROR(kernel->Init(library_, op, threads_));
    return std::unique_ptr<PeerKernel>(std::move(kernel));
  }

 private:
  std::string library_;
  int threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Peer>> OpenOnnxRuntime(
    const std::string& library_path, int threads) {
  if (library_path.empty())
    return absl::NotFoundError("ONNX Runtime is not given (--ort=LIB)");
  return std::make_unique<OnnxRuntime>(library_path, threads);
}

}  // namespace tilewright::bench
