#include "measure/verify/isolated_run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tilewright::measure {
namespace {

constexpr int kFaultExit = 113;

// The child's report, in shared memory.
struct Report {
  volatile int finished;
  volatile int signal;
  const void* volatile address;
  volatile int is_write;
  int code;
  char message[4096];
};

Report* child_report = nullptr;  // in the child alone

void OnFault(int signal, siginfo_t* info, void* context) {
  child_report->signal = signal;
  child_report->address = info->si_addr;
#if defined(__x86_64__)
  constexpr int kWriteBit = 2;  // of the page fault's error code
  child_report->is_write =
      (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] &
       kWriteBit) != 0;
#else
  (void)context;
#endif
  _exit(kFaultExit);
}

[[noreturn]] void RunChild(const std::function<absl::Status()>& work,
                           double timeout_seconds, Report* report) {
  child_report = report;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction action = {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_RESETHAND;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
    sigaction(signal, &action, nullptr);
  signal(SIGALRM, SIG_DFL);
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm_only, nullptr);
  constexpr double kShortest = 1e-3;
  const double seconds = std::max(timeout_seconds, kShortest);
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>(
      (seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
  setitimer(ITIMER_REAL, &timer, nullptr);
  const absl::Status status = work();
  report->code = static_cast<int>(status.code());
  const size_t size =
      std::min(status.message().size(), sizeof(report->message) - 1);
  std::copy_n(status.message().begin(), size, report->message);
  report->message[size] = '\0';
  report->finished = 1;
  _exit(0);
}

IsolatedOutcome Died(const char* what) {
  IsolatedOutcome outcome;
  outcome.kind = IsolatedOutcome::Kind::kDied;
  outcome.status =
      absl::UnavailableError(absl::StrCat(what, ": ", strerror(errno)));
  return outcome;
}

IsolatedOutcome Read(const Report& report, int wait_status,
                     double timeout_seconds) {
  IsolatedOutcome outcome;
  if (report.finished) {
    outcome.status = absl::Status(static_cast<absl::StatusCode>(report.code),
                                  report.message);
  } else if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == kFaultExit) {
    outcome.kind = IsolatedOutcome::Kind::kFault;
    outcome.signal = report.signal;
    outcome.address = report.address;
    outcome.is_write = report.is_write != 0;
    outcome.status =
        absl::InternalError(absl::StrCat("died of ", strsignal(report.signal)));
  } else if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGALRM) {
    outcome.kind = IsolatedOutcome::Kind::kTimeout;
    outcome.status = absl::DeadlineExceededError(
        absl::StrCat("did not end within ", timeout_seconds, " s"));
  } else {
    outcome.kind = IsolatedOutcome::Kind::kDied;
    if (WIFSIGNALED(wait_status)) outcome.signal = WTERMSIG(wait_status);
    outcome.status = absl::InternalError(
        WIFSIGNALED(wait_status)
            ? absl::StrCat("died of ", strsignal(WTERMSIG(wait_status)))
            : absl::StrCat("ended with exit status ",
                           WEXITSTATUS(wait_status)));
  }
  return outcome;
}

}  // namespace

IsolatedOutcome RunIsolated(const std::function<absl::Status()>& work,
                            double timeout_seconds) {
  void* const memory = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Died("no shared memory for a child process");
  Report* const report = static_cast<Report*>(memory);
  const pid_t child = fork();
  if (child == 0) RunChild(work, timeout_seconds, report);
  IsolatedOutcome outcome;
  if (child < 0) {
    outcome = Died("no child process");
  } else {
    int wait_status = 0;
    while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
    }
    outcome = Read(*report, wait_status, timeout_seconds);
  }
  munmap(memory, sizeof(Report));
  return outcome;
}

}  // namespace tilewright::measure
