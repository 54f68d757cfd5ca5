// Clients wait for a daemon while it and its workers are killed, for minutes:
// every job ends, every result is there once, and the daemon does not grow.
//
//   soak [--seconds=240] [--clients=8] [--workers=16] [--daemon-kills=20]
//
// Workers take 5 ms a candidate; one in a hundred fails to build, one in 300
// crashes its worker, one in 500 breaks its device, so that the worker gives
// its work back and ends. Every two seconds a worker is killed, and the daemon
// as often as asked. Then nothing is killed any more, and the daemon's memory
// and descriptors are compared over what is left.
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/random.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "tools/daemon/client.h"
#include "tools/daemon/daemon_measurer.h"
#include "tools/daemon/daemon_processes.h"
#include "tools/daemon/fake_measurer.h"
#include "tools/daemon/job_commands.h"

namespace tilewright::daemon {
namespace {

using measure::Measurement;

constexpr int kBatch = 64, kCandidateUs = 5'000;

struct Options {
  int seconds = 240, clients = 8, workers = 16, daemon_kills = 20;
};

// The candidate's number, so that a client knows what to expect; faults depend
// on it too, but a crash not twice in a row.
void Device(int candidate, Measurement& result) {
  usleep(kCandidateUs);
  Random random(static_cast<uint64_t>(getpid()) * 1'000'003 +
                static_cast<uint64_t>(candidate));
  if (candidate % 100 == 7) {
    result.Clear();
    result.set_outcome(Measurement::BUILD_ERROR);
    result.set_message("made to fail");
  } else if (random.Index(300) == 0) {
    abort();
  } else if (random.Index(500) == 0) {
    result.Clear();
    result.set_outcome(Measurement::RUN_ERROR);
    result.set_fault(Measurement::DEVICE);
    result.set_message("made to break");
  }
}

struct Size {
  int64_t memory_kib = 0, descriptors = 0;
};
Size SizeOf(pid_t pid) {
  Size size;
  const std::string folder = absl::StrCat("/proc/", pid);
  const auto status = ReadFile(folder + "/status", 1 << 20);
  if (!status.ok()) return size;
  for (const auto line : absl::StrSplit(*status, '\n')) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.size() > 1 && words[0] == "VmRSS:")
      (void)absl::SimpleAtoi(words[1], &size.memory_kib);
  }
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(folder + "/fd", error);
       !error && entry != std::filesystem::directory_iterator(); ++entry)
    ++size.descriptors;
  return size;
}

// One client: batches until the time is over. Returns how many candidates.
int RunClient(const std::string& address, int number,
              const std::atomic<bool>& over) {
  DaemonJob job;
  job.key = job.title = absl::StrCat("job ", number);
  job.most_tasks = 1'000'000;
  job.device = FakeMade().device();
  job.code_generation = FakeMade().versions().code_generation();
  const auto client = DaemonMeasurer::Open(*ConnectTo(address), job);
  TW_CHECK(client.ok()) << client.status();
  int first = 0;
  for (; !over; first += kBatch) {
    const auto results =
        (*client)->Measure(FakeKey(job.key), FakeCandidates(first, kBatch));
    TW_CHECK(results.ok()) << results.status();
    for (int i = 0; i < kBatch; ++i) {
      const Measurement& result = (*results)[i];
      const bool fails = (first + i) % 100 == 7;
      TW_CHECK_EQ(result.outcome() == Measurement::BUILD_ERROR, fails);
      if (!fails) TW_CHECK_EQ(result.latency().median_ns(), first + i);
    }
  }
  TW_CHECK((*client)->Close().ok());
  return first;
}

class Soak {
 public:
  explicit Soak(const Options& options) : options_(options) {}

  void Run() {
    char folder[] = "/tmp/tilewrightd_XXXXXX";
    TW_CHECK(mkdtemp(folder) != nullptr);
    home_ = folder;
    address_ = absl::StrCat("unix:", home_, "/s");
    daemon_ = Spawn(ServeCommand(address_, home_ + "/state"));
    for (int i = 0; i < options_.workers; ++i)
      workers_.push_back(Spawn(WorkCommand(address_)));

    std::atomic<bool> over{false};
    std::atomic<int> measured{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < options_.clients; ++i) {
      clients.emplace_back(
          [&, i] { measured += RunClient(address_, i, over); });
    }
    Disturb();
    const Size before = Settled();
    Watch(options_.seconds / 4.0);
    const Size after = SizeOf(daemon_);
    over = true;
    for (std::thread& client : clients) client.join();
    std::printf(
        "%d candidates of %d jobs ended; workers killed %d, crashed or ended "
        "by "
        "themselves %d, daemon killed %d\n",
        measured.load(), options_.clients, killed_, ended_, daemons_killed_);
    std::printf(
        "daemon, undisturbed for %.0f s: %lld to %lld KiB, %lld to %lld "
        "descriptors\n",
        options_.seconds / 4.0, static_cast<long long>(before.memory_kib),
        static_cast<long long>(after.memory_kib),
        static_cast<long long>(before.descriptors),
        static_cast<long long>(after.descriptors));
    CheckRecords(measured);
    for (const pid_t worker : workers_) Kill(worker);
    Kill(daemon_);
    TW_CHECK_EQ(std::system(absl::StrCat("rm -r ", home_).c_str()), 0);
  }

 private:
  static double NowS() {
    return static_cast<double>(RealClock()->WallNs()) * 1e-9;
  }

  // Workers that ended by themselves are started anew.
  void Revive() {
    for (pid_t& worker : workers_) {
      if (waitpid(worker, nullptr, WNOHANG) != worker) continue;
      worker = Spawn(WorkCommand(address_));
      ++ended_;
    }
  }
  void Watch(double seconds) {
    for (const double until = NowS() + seconds; NowS() < until;) {
      Revive();
      usleep(20'000);
    }
  }
  Size Settled() {
    constexpr double kSeconds = 10;
    Watch(kSeconds);
    return SizeOf(daemon_);
  }
  void Disturb() {
    Random random(1);
    const double begin_s = NowS();
    double next_daemon_s = 0, next_worker_s = 0;
    const double each_s = 1.0 * options_.seconds / (options_.daemon_kills + 1);
    while (NowS() - begin_s < options_.seconds) {
      Watch(0.1);
      const double now_s = NowS() - begin_s;
      if (now_s >= next_worker_s) {
        next_worker_s = now_s + 2;
        pid_t& worker = workers_[random.Index(workers_.size())];
        killed_ += Kill(worker) ? 1 : 0;
        worker = Spawn(WorkCommand(address_));
      }
      if (now_s >= next_daemon_s + each_s &&
          daemons_killed_ < options_.daemon_kills) {
        next_daemon_s = now_s;
        TW_CHECK(Kill(daemon_)) << "the daemon ended by itself";
        daemon_ = Spawn(ServeCommand(address_, home_ + "/state"));
        ++daemons_killed_;
      }
    }
  }

  // As many as were acknowledged, each once.
  void CheckRecords(int measured) {
    const auto store = measure::Store::Open(home_ + "/records.db");
    TW_CHECK(store.ok()) << store.status();
    const auto added = ExportRecords(*ConnectTo(address_), {}, **store);
    TW_CHECK(added.ok()) << added.status();
    std::map<std::string, int> records;
    TW_CHECK((*store)
                 ->ForEach({},
                           [&](const measure::Record& record) {
                             ++records[record.task_id()];
                             return absl::OkStatus();
                           })
                 .ok());
    const auto doubled =
        std::count_if(records.begin(), records.end(),
                      [](const auto& record) { return record.second != 1; });
    std::printf("%zu records, %lld doubled, %lld lost\n", records.size(),
                static_cast<long long>(doubled),
                static_cast<long long>(measured) -
                    static_cast<long long>(records.size()));
    TW_CHECK_EQ(doubled, 0);
    TW_CHECK_EQ(static_cast<int>(records.size()), measured);
  }

  const Options options_;
  std::string home_, address_;
  pid_t daemon_ = 0;
  std::vector<pid_t> workers_;
  int killed_ = 0, ended_ = 0, daemons_killed_ = 0;
};

int Main(const std::vector<std::string>& arguments) {
  Options options;
  OptionParser parser("soak", "see soak_main.cc");
  parser.Number("seconds", &options.seconds, 1);
  parser.Number("clients", &options.clients, 1);
  parser.Number("workers", &options.workers, 1);
  parser.Number("daemon-kills", &options.daemon_kills, 0);
  const auto rest = parser.Parse(arguments);
  if (!rest.ok()) return ReportStatus("soak", rest.status());
  Soak(options).Run();
  return 0;
}

}  // namespace
}  // namespace tilewright::daemon

int main(int argc, char** argv) {
  tilewright::daemon::RunProcessIfAsked(argc, argv, tilewright::daemon::Device);
  return tilewright::daemon::Main(
      std::vector<std::string>(argv + 1, argv + argc));
}
