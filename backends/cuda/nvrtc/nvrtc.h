// CUDA C++ text to machine code, by NVRTC, which is opened at run time. Needs
// no GPU.
#ifndef TILEWRIGHT_BACKENDS_CUDA_NVRTC_NVRTC_H_
#define TILEWRIGHT_BACKENDS_CUDA_NVRTC_NVRTC_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/nvrtc/nvrtc_api.h"
#include "backends/cuda/nvrtc/ptxas_log.h"

namespace tilewright::cuda {

// Machine code of a text.
struct Cubin {
  std::string bytes;
  std::map<std::string, KernelResources> kernels;  // as far as ptxas tells
};

// Thread-safe.
class Nvrtc {
 public:
  // FailedPrecondition if NVRTC is not there or too old.
  static absl::StatusOr<std::unique_ptr<Nvrtc>> Open(
      const std::string& path = "");

  const std::string& version() const { return version_; }  // "13.0"
  // The numbers of the architectures it knows, ascending: 75, 80, ...
  const std::vector<int>& architectures() const { return architectures_; }

  // A cubin for `architecture` ("sm_90a"). The text includes nothing; `name`
  // stands in messages. No contraction into fused multiply-adds but those the
  // text asks for, no flush of denormals, no fast math. InvalidArgument with
  // the first error if the text does not compile, FailedPrecondition if the
  // architecture is not known, Aborted if NVRTC crashes, DeadlineExceeded if it
  // takes minutes: it runs in a process of its own. Several threads may compile
  // at the same time.
  absl::StatusOr<Cubin> Compile(const std::string& text,
                                const std::string& name,
                                const std::string& architecture) const;

 private:
  explicit Nvrtc(std::unique_ptr<NvrtcApi> api) : api_(std::move(api)) {}
  // The code and the log, in this process.
  absl::StatusOr<std::string> CompileHere(
      const std::string& text, const std::string& name,
      const std::string& architecture) const;
  absl::Status Check(NvrtcResult result, const std::string& what) const;
  std::string LogOf(NvrtcProgram program) const;
  absl::Status CompileError(NvrtcProgram program, const std::string& name,
                            const std::string& architecture,
                            NvrtcResult result) const;

  const std::unique_ptr<NvrtcApi> api_;
  std::string version_;
  std::vector<int> architectures_;
};

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_NVRTC_NVRTC_H_
