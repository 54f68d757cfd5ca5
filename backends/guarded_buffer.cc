#include "backends/guarded_buffer.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace tilewright::backends {
namespace {

constexpr int64_t kGuardBytes = int64_t{16} << 20;
constexpr char kSlack = static_cast<char>(0xA5);

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};

// The state of a thread that is inside TrapFaults.
struct Trap {
  sigjmp_buf back;
  int signal = 0;
  void* address = nullptr;
};
thread_local Trap* current_trap = nullptr;

// The handlers installed before, to which other threads' faults are passed on.
struct sigaction previous[NSIG];

void OnFault(int signal, siginfo_t* info, void*) {
  Trap* trap = current_trap;
  if (trap == nullptr) {
    // Not ours: put the old handler back; the instruction faults again.
    sigaction(signal, &previous[signal], nullptr);
    return;
  }
  trap->signal = signal;
  trap->address = info->si_addr;
  siglongjmp(trap->back, 1);
}

void InstallHandlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action;
    std::memset(&action, 0, sizeof(action));
    action.sa_sigaction = OnFault;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    for (int signal : kSignals) {
      TW_CHECK_EQ(sigaction(signal, &action, &previous[signal]), 0);
    }
  });
}

}  // namespace

absl::StatusOr<GuardedBuffer> GuardedBuffer::Create(int64_t size_bytes,
                                                    Side side) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  if (size_bytes < 0 || size_bytes > INT64_MAX / 4) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a guarded buffer of ", size_bytes, " bytes"));
  }
  const int64_t inside = (size_bytes + page - 1) / page * page;
  const int64_t total = inside + 2 * kGuardBytes;
  void* mapping = mmap(nullptr, static_cast<size_t>(total), PROT_NONE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a guarded buffer of ", size_bytes, " bytes: ", std::strerror(errno)));
  }
  char* first = static_cast<char*>(mapping) + kGuardBytes;
  char* data = side == Side::kBegin ? first : first + (inside - size_bytes);
  GuardedBuffer buffer(static_cast<char*>(mapping), total, data, size_bytes);
  if (inside > 0 && mprotect(first, static_cast<size_t>(inside),
                             PROT_READ | PROT_WRITE) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a guarded buffer of ", size_bytes, " bytes: ", std::strerror(errno)));
  }
  std::fill(buffer.first(), data, kSlack);
  std::fill(data + size_bytes, buffer.end(), kSlack);
  return buffer;
}

char* GuardedBuffer::first() const { return mapping_ + kGuardBytes; }
char* GuardedBuffer::end() const {
  return mapping_ + mapping_bytes_ - kGuardBytes;
}

bool GuardedBuffer::SlackIntact() const {
  const auto is_slack = [](char byte) { return byte == kSlack; };
  return std::all_of(first(), data_, is_slack) &&
         std::all_of(data_ + size_bytes_, end(), is_slack);
}

bool GuardedBuffer::Owns(const void* address) const {
  return address >= mapping_ && address < mapping_ + mapping_bytes_;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(other.mapping_bytes_),
      data_(other.data_),
      size_bytes_(other.size_bytes_) {}

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) {
    munmap(mapping_, static_cast<size_t>(mapping_bytes_));
  }
}

absl::Status TrapFaults(const std::function<absl::Status()>& work) {
  InstallHandlers();
  TW_CHECK(current_trap == nullptr) << "TrapFaults does not nest";
  Trap trap;
  if (sigsetjmp(trap.back, /*savemask=*/1) != 0) {
    current_trap = nullptr;
    return absl::OutOfRangeError(
        absl::StrCat(strsignal(trap.signal), " at address 0x",
                     absl::Hex(reinterpret_cast<uintptr_t>(trap.address))));
  }
  current_trap = &trap;
  absl::Status status = work();
  current_trap = nullptr;
  return status;
}

}  // namespace tilewright::backends
