#include "backends/cpu/codegen/llvm/link.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/llvm/llvm_status.h"
#include "base/status_macros.h"
#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace tilewright::cpu {
namespace {

absl::Status ErrnoStatus(const char* call) {
  return absl::ResourceExhaustedError(
      absl::StrCat(call, " of a file in memory: ", std::strerror(errno)));
}

// An anonymous file that LLD opens by path.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name)
      : fd_(memfd_create(name, MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  bool ok() const { return fd_ >= 0; }
  std::string path() const { return absl::StrCat("/proc/self/fd/", fd_); }

  absl::Status Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return ErrnoStatus("write");
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return absl::OkStatus();
  }

 private:
  int fd_;
};

// A pipe whose other end is read into memory. LLD writes to anything that is no
// regular file in one go; regular ones it would create in their folder.
class PipeReader {
 public:
  PipeReader() : ok_(pipe2(fds_, O_CLOEXEC) == 0) {
    if (ok_) thread_ = std::thread([this] { ReadAll(); });
  }
  ~PipeReader() {
    if (ok_ && thread_.joinable()) Finish().IgnoreError();
  }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  bool ok() const { return ok_; }
  std::string path() const { return absl::StrCat("/proc/self/fd/", fds_[1]); }
  // Everything that was written. REQUIRES: no writer is left.
  absl::Status Finish() {
    close(fds_[1]);
    thread_.join();
    close(fds_[0]);
    errno = error_;
    return error_ == 0 ? absl::OkStatus() : ErrnoStatus("read");
  }
  std::string& bytes() { return bytes_; }

 private:
  void ReadAll() {
    std::vector<char> buffer(64 * 1024);
    while (true) {
      const ssize_t n = read(fds_[0], buffer.data(), buffer.size());
      if (n == 0) return;
      if (n > 0) {
        bytes_.append(buffer.data(), static_cast<size_t>(n));
      } else if (errno != EINTR) {
        error_ = errno;
        return;
      }
    }
  }

  int fds_[2] = {-1, -1};
  bool ok_;
  std::thread thread_;
  std::string bytes_;
  int error_ = 0;
};

llvm::MemoryBufferRef Buffer(std::string_view bytes) {
  return {llvm::StringRef(bytes.data(), bytes.size()), "kernels.o"};
}

}  // namespace

absl::StatusOr<std::string> LinkSharedObject(std::string_view object) {
  MemoryFile input("kernels.o");
  if (!input.ok()) return ErrnoStatus("memfd_create");
  PipeReader output;
  if (!output.ok()) return ErrnoStatus("pipe2");
  TW_RETURN_IF_ERROR(input.Write(object));
  const std::string input_path = input.path();
  const std::string output_path = output.path();
  const std::vector<const char*> args = {"ld.lld",
                                         "-shared",
                                         "-Bsymbolic",
                                         "--no-undefined",
                                         "--strip-all",
                                         "--build-id=none",
                                         "--hash-style=gnu",
                                         "--threads=1",
                                         "--no-mmap-output-file",
                                         "-z",
                                         "noexecstack",
                                         "-z",
                                         "norelro",
                                         "-z",
                                         "text",
                                         "-z",
                                         "max-page-size=4096",
                                         input_path.c_str(),
                                         "-o",
                                         output_path.c_str()};
  std::string errors;
  bool linked;
  {
    static std::mutex* mutex = new std::mutex;
    std::lock_guard<std::mutex> lock(*mutex);
    llvm::raw_string_ostream error_stream(errors);
    llvm::raw_null_ostream quiet;
    linked = lld::elf::link(args, quiet, error_stream, /*exitEarly=*/false,
                            /*disableOutput=*/false);
    lld::CommonLinkerContext::destroy();
  }
  TW_RETURN_IF_ERROR(output.Finish());
  if (!linked) return LlvmError("linking kernels", errors);
  return std::move(output.bytes());
}

absl::StatusOr<std::map<std::string, int64_t>> CodeBytes(
    std::string_view object) {
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> file =
      llvm::object::ObjectFile::createELFObjectFile(Buffer(object));
  if (!file) return LlvmError("reading the object", file.takeError());
  std::map<std::string, int64_t> sizes;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    llvm::Expected<llvm::object::SymbolRef::Type> type = symbol.getType();
    if (!type) return LlvmError("reading the object", type.takeError());
    if (*type != llvm::object::SymbolRef::ST_Function) continue;
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!name) return LlvmError("reading the object", name.takeError());
    sizes[name->str()] =
        static_cast<int64_t>(llvm::object::ELFSymbolRef(symbol).getSize());
  }
  return sizes;
}

}  // namespace tilewright::cpu
