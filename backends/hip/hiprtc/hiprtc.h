// HIP text to code objects of AMD's GPUs, by HIPRTC, which is opened at run
// time, in a child process: it ends the process at architectures that it does
// not know. Needs no GPU.
#ifndef TILEWRIGHT_BACKENDS_HIP_HIPRTC_HIPRTC_H_
#define TILEWRIGHT_BACKENDS_HIP_HIPRTC_HIPRTC_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace tilewright::hip {

// Thread-safe.
class Hiprtc {
 public:
  // FailedPrecondition if HIPRTC is not there.
  static absl::StatusOr<std::unique_ptr<Hiprtc>> Open(
      const std::string& path = "");

  const std::string& version() const { return version_; }  // "9.0"

  // A code object for `architecture` ("gfx90a"). The text includes nothing;
  // `name` stands in messages. No contraction into fused multiply-adds but
  // those the text asks for. InvalidArgument with the first error if the text
  // does not compile, FailedPrecondition if HIPRTC ends its process,
  // DeadlineExceeded if it takes longer than five minutes.
  absl::StatusOr<std::string> Compile(const std::string& text,
                                      const std::string& name,
                                      const std::string& architecture) const;

 private:
  Hiprtc(std::string path, std::string version)
      : path_(std::move(path)), version_(std::move(version)) {}

  const std::string path_;
  const std::string version_;
};

}  // namespace tilewright::hip

#endif  // TILEWRIGHT_BACKENDS_HIP_HIPRTC_HIPRTC_H_
