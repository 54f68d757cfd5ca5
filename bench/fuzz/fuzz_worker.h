// Runs work that may crash or hang in a child process, case by case.
#ifndef TILEWRIGHT_BENCH_FUZZ_FUZZ_WORKER_H_
#define TILEWRIGHT_BENCH_FUZZ_FUZZ_WORKER_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace tilewright::bench {

struct FuzzLimits {
  int64_t address_space_bytes = int64_t{4} << 30;  // RLIMIT_AS of the child
  // Processor time of one case. It is a hang if it takes longer, or several
  // times longer by the wall.
  double seconds = 20;
  int cases_per_child = 200;
};

// How one case ended.
struct CaseEnd {
  enum class Kind { kAnswered, kSignal, kHang, kExit };
  Kind kind = Kind::kAnswered;
  std::string answer;  // what the work returned
  int number = 0;      // the signal, or the exit code
  double seconds = 0;  // processor time of the child
};

class FuzzWorker {
 public:
  using Work = std::function<std::string(int64_t index)>;
  // `work` runs in a child, forked when it is first needed and again after it
  // has died: it sees the memory of this process at that time. REQUIRES: no
  // other threads here when it forks.
  FuzzWorker(Work work, const FuzzLimits& limits);
  ~FuzzWorker();
  FuzzWorker(const FuzzWorker&) = delete;
  FuzzWorker& operator=(const FuzzWorker&) = delete;

  CaseEnd Run(int64_t index);

 private:
  void Start();
  // Reaps the child, killed before if `kill_first`; its wait status.
  int Stop(bool kill_first);
  [[noreturn]] void ServeInChild(int from, int to);
  // False if the child ended or is to be killed before all bytes came.
  bool Read(char* to, size_t size, double deadline_cpu, double deadline_wall);
  double ChildCpuSeconds() const;

  const Work work_;
  const FuzzLimits limits_;
  pid_t child_ = -1;
  int to_ = -1, from_ = -1;
  int served_ = 0;
  bool hung_ = false;
};

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_FUZZ_FUZZ_WORKER_H_
