#include "backends/cpu/codegen/link.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/llvm_status.h"
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
  absl::StatusOr<std::string> Read() {
    struct stat info;
    if (fstat(fd_, &info) != 0) return ErrnoStatus("fstat");
    std::string bytes(static_cast<size_t>(info.st_size), '\0');
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = pread(fd_, bytes.data() + done, bytes.size() - done,
                              static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return ErrnoStatus("read");
      done += static_cast<size_t>(n);
    }
    return bytes;
  }

 private:
  int fd_;
};

llvm::MemoryBufferRef Buffer(std::string_view bytes) {
  return {llvm::StringRef(bytes.data(), bytes.size()), "kernels.o"};
}

}  // namespace

absl::StatusOr<std::string> LinkSharedObject(std::string_view object) {
  MemoryFile input("kernels.o");
  MemoryFile output("kernels.so");
  if (!input.ok() || !output.ok()) return ErrnoStatus("memfd_create");
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
  if (!linked) return LlvmError("linking kernels", errors);
  return output.Read();
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
