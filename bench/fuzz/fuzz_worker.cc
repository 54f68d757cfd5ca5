#include "bench/fuzz/fuzz_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/check.h"
#include "base/sanitizers.h"

namespace tilewright::bench {
namespace {

constexpr double kWallPerCpu = 6;  // on a machine that others use too
constexpr int kPollMs = 200;

double Seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

double WallSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Seconds(now);
}

bool WriteAll(int file, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = write(file, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool ReadAll(int file, void* data, size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = read(file, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

FuzzWorker::FuzzWorker(Work work, const FuzzLimits& limits)
    : work_(std::move(work)), limits_(limits) {
  std::signal(SIGPIPE, SIG_IGN);
}

FuzzWorker::~FuzzWorker() {
  if (child_ > 0) Stop(true);
}

void FuzzWorker::ServeInChild(int from, int to) {
  rlimit limit = {};
  limit.rlim_cur = limit.rlim_max =
      static_cast<rlim_t>(limits_.address_space_bytes);
  if (!kHasShadowMemory) setrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = limit.rlim_max = 0;
  setrlimit(RLIMIT_CORE, &limit);
  int64_t index = 0;
  while (ReadAll(from, &index, sizeof(index))) {
    const std::string answer = work_(index);
    const int64_t size = static_cast<int64_t>(answer.size());
    if (!WriteAll(to, &size, sizeof(size)) ||
        !WriteAll(to, answer.data(), answer.size()))
      break;
  }
  _exit(0);
}

void FuzzWorker::Start() {
  int down[2], up[2];
  TW_CHECK(pipe2(down, O_CLOEXEC) == 0 && pipe2(up, O_CLOEXEC) == 0);
  std::fflush(nullptr);
  child_ = fork();
  TW_CHECK(child_ >= 0) << "cannot fork";
  if (child_ == 0) {
    close(down[1]);
    close(up[0]);
    ServeInChild(down[0], up[1]);
  }
  close(down[0]);
  close(up[1]);
  to_ = down[1];
  from_ = up[0];
  served_ = 0;
}

int FuzzWorker::Stop(bool kill_first) {
  if (kill_first) kill(child_, SIGKILL);
  close(to_);
  close(from_);
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  return status;
}

double FuzzWorker::ChildCpuSeconds() const {
  clockid_t clock;
  timespec used = {};
  if (clock_getcpuclockid(child_, &clock) != 0 ||
      clock_gettime(clock, &used) != 0)
    return 0;
  return Seconds(used);
}

bool FuzzWorker::Read(char* to, size_t size, double deadline_cpu,
                      double deadline_wall) {
  while (size > 0) {
    pollfd poller = {from_, POLLIN, 0};
    const int ready = poll(&poller, 1, kPollMs);
    if (ready <= 0) {
      hung_ = ChildCpuSeconds() > deadline_cpu || WallSeconds() > deadline_wall;
      if (hung_) return false;
      continue;
    }
    const ssize_t n = read(from_, to, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

CaseEnd FuzzWorker::Run(int64_t index) {
  if (child_ > 0 && served_ == limits_.cases_per_child) Stop(true);
  if (child_ < 0) Start();
  ++served_;
  CaseEnd end;
  hung_ = false;
  const double start = ChildCpuSeconds();
  const double cpu = start + limits_.seconds;
  const double wall = WallSeconds() + limits_.seconds * kWallPerCpu;
  int64_t size = 0;
  if (WriteAll(to_, &index, sizeof(index)) &&
      Read(reinterpret_cast<char*>(&size), sizeof(size), cpu, wall)) {
    end.answer.resize(static_cast<size_t>(size));
    if (Read(end.answer.data(), end.answer.size(), cpu, wall)) {
      end.seconds = ChildCpuSeconds() - start;
      return end;
    }
  }
  end.answer.clear();
  end.seconds = ChildCpuSeconds() - start;
  const int status = Stop(hung_);
  if (hung_) {
    end.kind = CaseEnd::Kind::kHang;
  } else if (WIFSIGNALED(status)) {
    end.kind = CaseEnd::Kind::kSignal;
    end.number = WTERMSIG(status);
  } else {
    end.kind = CaseEnd::Kind::kExit;
    end.number = WEXITSTATUS(status);
  }
  return end;
}

}  // namespace tilewright::bench
