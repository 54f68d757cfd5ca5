#include "backends/cuda/nvrtc/nvrtc.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/ar_archive.h"
#include "base/compiler_log.h"
#include "base/run_in_child.h"
#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

constexpr unsigned kCompilingSeconds = 300;
// What a child answers with: an archive of these.
constexpr char kCode[] = "code", kLog[] = "log";

}  // namespace

absl::StatusOr<std::unique_ptr<Nvrtc>> Nvrtc::Open(const std::string& path) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<NvrtcApi> api, OpenNvrtc(path));
  std::unique_ptr<Nvrtc> nvrtc(new Nvrtc(std::move(api)));
  int major = 0, minor = 0, count = 0;
  TW_RETURN_IF_ERROR(
      nvrtc->Check(nvrtc->api_->version(&major, &minor), "nvrtcVersion"));
  nvrtc->version_ = absl::StrCat(major, ".", minor);
  TW_RETURN_IF_ERROR(nvrtc->Check(nvrtc->api_->num_architectures(&count),
                                  "nvrtcGetNumSupportedArchs"));
  nvrtc->architectures_.resize(static_cast<size_t>(count));
  TW_RETURN_IF_ERROR(
      nvrtc->Check(nvrtc->api_->architectures(nvrtc->architectures_.data()),
                   "nvrtcGetSupportedArchs"));
  return nvrtc;
}

absl::Status Nvrtc::Check(NvrtcResult result, const std::string& what) const {
  if (result == kNvrtcSuccess) return absl::OkStatus();
  const std::string message =
      absl::StrCat(what, ": ", api_->get_error_string(result));
  return result == kNvrtcOutOfMemory ? absl::ResourceExhaustedError(message)
                                     : absl::InternalError(message);
}

// Empty if there is none.
std::string Nvrtc::LogOf(NvrtcProgram program) const {
  size_t bytes = 0;
  std::string log;
  if (api_->log_size(program, &bytes) == kNvrtcSuccess && bytes > 1) {
    log.resize(bytes);
    if (api_->log(program, &log[0]) != kNvrtcSuccess) log.clear();
    log.resize(log.find_last_not_of('\0') + 1);
  }
  return log;
}

absl::Status Nvrtc::CompileError(NvrtcProgram program, const std::string& name,
                                 const std::string& architecture,
                                 NvrtcResult result) const {
  const std::string what = absl::StrCat(name, " for ", architecture);
  if (result == kNvrtcInvalidOption) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, ": NVRTC ", version_, " knows sm_",
                     absl::StrJoin(architectures_, ", sm_")));
  }
  if (result == kNvrtcCompilation) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " does not compile: ", FirstError(LogOf(program))));
  }
  return Check(result, what);
}

absl::StatusOr<std::string> Nvrtc::CompileHere(
    const std::string& text, const std::string& name,
    const std::string& architecture) const {
  NvrtcProgram program = nullptr;
  TW_RETURN_IF_ERROR(Check(
      api_->create(&program, text.c_str(), name.c_str(), 0, nullptr, nullptr),
      "nvrtcCreateProgram"));
  struct Destroyer {
    const NvrtcApi& api;
    NvrtcProgram program;
    ~Destroyer() { api.destroy(&program); }
  } destroyer{*api_, program};
  const std::string target = absl::StrCat("--gpu-architecture=", architecture);
  const char* const options[] = {target.c_str(), "--std=c++17", "--fmad=false",
                                 "--ptxas-options=-v"};
  const NvrtcResult result = api_->compile(
      program, static_cast<int>(sizeof(options) / sizeof(options[0])), options);
  if (result != kNvrtcSuccess) {
    return CompileError(program, name, architecture, result);
  }
  size_t bytes = 0;
  TW_RETURN_IF_ERROR(
      Check(api_->cubin_size(program, &bytes), "nvrtcGetCUBINSize"));
  std::string code(bytes, '\0');
  TW_RETURN_IF_ERROR(Check(api_->cubin(program, &code[0]), "nvrtcGetCUBIN"));
  return WriteArArchive({{kCode, std::move(code)}, {kLog, LogOf(program)}});
}

absl::StatusOr<Cubin> Nvrtc::Compile(const std::string& text,
                                     const std::string& name,
                                     const std::string& architecture) const {
  // A process each: NVRTC compiles one text at once in each, and what it does
  // to its process is an error of that text.
  TW_ASSIGN_OR_RETURN(const std::string compiled,
                      RunInChild(absl::StrCat("NVRTC ", version_, " with ",
                                              name, " for ", architecture),
                                 kCompilingSeconds, [&] {
                                   return CompileHere(text, name, architecture);
                                 }));
  TW_ASSIGN_OR_RETURN(const std::vector<ArView> members,
                      ReadArArchive(compiled));
  Cubin cubin;
  for (const ArView& member : members) {
    if (member.name == kCode) cubin.bytes = std::string(member.bytes);
    if (member.name == kLog) cubin.kernels = ReadPtxasLog(member.bytes);
  }
  return cubin;
}

}  // namespace tilewright::cuda
