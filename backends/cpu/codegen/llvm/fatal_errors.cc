#include "backends/cpu/codegen/llvm/fatal_errors.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/llvm/llvm_status.h"
#include "llvm/Support/ErrorHandling.h"

namespace tilewright::cpu {
namespace {

// LLVM's selection recurses along chains of values; twice what the main thread
// usually has. Pages that are not touched cost nothing.
constexpr size_t kStackBytes = size_t{16} << 20;

// The state that the working thread and the waiting one share.
struct Run {
  const std::function<absl::Status()>* work = nullptr;  // while running
  std::mutex mutex;
  std::condition_variable changed;
  enum class State { kRunning, kReturned, kGaveUp } state = State::kRunning;
  absl::Status status;

  void End(State end, absl::Status with) {
    std::lock_guard<std::mutex> lock(mutex);
    state = end;
    status = std::move(with);
    changed.notify_one();
  }
};

// The run of this thread, if it is one of RunToFatalError.
thread_local Run* current = nullptr;
std::atomic<int> lost_threads{0};

[[noreturn]] void SleepForEver() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (true) pause();
}

void OnFatalError(void*, const char* reason, bool) {
  if (current == nullptr) {
    std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
    return;  // and LLVM ends the process
  }
  current->End(Run::State::kGaveUp, LlvmError("LLVM gives up", reason));
  SleepForEver();
}

// `argument` is a std::shared_ptr<Run> to take over. A thread that is lost
// keeps it, so that the run outlives whatever the thread still does with it.
void* ThreadMain(void* argument) {
  const std::unique_ptr<std::shared_ptr<Run>> run(
      static_cast<std::shared_ptr<Run>*>(argument));
  current = run->get();
  absl::Status status = (*current->work)();
  current->End(Run::State::kReturned, std::move(status));
  return nullptr;
}

// 0, or an errno.
int StartThread(const std::shared_ptr<Run>& run, pthread_t& thread) {
  auto argument = std::make_unique<std::shared_ptr<Run>>(run);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const int error =
      pthread_create(&thread, &attributes, ThreadMain, argument.get());
  pthread_attr_destroy(&attributes);
  if (error == 0) (void)argument.release();
  return error;
}

}  // namespace

bool RunToFatalError(const std::function<absl::Status()>& work,
                     absl::Status& status) {
  static const bool installed = [] {
    llvm::install_fatal_error_handler(OnFatalError);
    return true;
  }();
  (void)installed;
  if (lost_threads.load() >= kMostFatalErrors) {
    status = absl::ResourceExhaustedError(absl::StrCat(
        "LLVM gave up ", kMostFatalErrors,
        " times in this process, which keeps a thread and memory of each; "
        "compile in a new process"));
    return true;
  }
  const auto run = std::make_shared<Run>();
  run->work = &work;
  pthread_t thread;
  if (const int error = StartThread(run, thread); error != 0) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("no thread to compile in: ", std::strerror(error),
                     "; free memory or end other threads"));
    return true;
  }
  {
    std::unique_lock<std::mutex> lock(run->mutex);
    run->changed.wait(lock, [&] { return run->state != Run::State::kRunning; });
    status = std::move(run->status);
  }
  if (run->state == Run::State::kReturned) {
    pthread_join(thread, nullptr);
    return true;
  }
  lost_threads.fetch_add(1);
  pthread_detach(thread);
  return false;
}

}  // namespace tilewright::cpu
