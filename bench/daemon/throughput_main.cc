// What the daemon adds to a measurement: workers that take no time, in this
// process, behind a real socket and a queue on the disk.
//
//   throughput [--workers=1,16,64] [--clients=8] [--tasks=2000] [--batch=64]
//
// Every client has a job of `tasks` candidates and adds `batch` of them at a
// time, waiting for all. The cost of a measurement is the time of all workers
// over all measurements.
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/cancellation.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/option_parser.h"
#include "measure/parallel/measurer.h"
#include "tools/daemon/client.h"
#include "tools/daemon/daemon_measurer.h"
#include "tools/daemon/fake_measurer.h"
#include "tools/daemon/monitoring/event_log.h"
#include "tools/daemon/monitoring/monitor.h"
#include "tools/daemon/server.h"
#include "tools/daemon/worker.h"

namespace tilewright::daemon {
namespace {

struct Load {
  int clients = 8, tasks = 2000, batch = 64;
};

void RunClient(const std::string& address, int number, const Load& load) {
  DaemonJob job;
  job.key = job.title = absl::StrCat("job ", number);
  job.most_tasks = load.tasks;
  job.device = FakeMade().device();
  job.code_generation = FakeMade().versions().code_generation();
  const auto client = DaemonMeasurer::Open(*ConnectTo(address), job);
  TW_CHECK(client.ok()) << client.status();
  for (int first = 0; first < load.tasks; first += load.batch) {
    const auto results = (*client)->Measure(
        FakeKey(job.key),
        FakeCandidates(first, std::min(load.batch, load.tasks - first)));
    TW_CHECK(results.ok()) << results.status();
  }
  TW_CHECK((*client)->Close().ok());
}

void Measure(int workers, const Load& load) {
  char folder[] = "/tmp/tilewrightd_XXXXXX";
  TW_CHECK(mkdtemp(folder) != nullptr);
  const std::string home = folder, address = absl::StrCat("unix:", home, "/s");
  ServerOptions options;
  options.listen = {address};
  options.state = home + "/state";
  options.queue.name = "bench";
  // As the program serves: seen.
  const auto log = EventLog::Open("", *RealClock());
  Monitor monitor(**log, *RealClock());
  auto server = Server::Start(options, *RealClock(), &monitor);
  TW_CHECK(server.ok()) << server.status();

  Cancellation stop;
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) {
    threads.emplace_back([&, i] {
      FakeMeasurer measurer;
      WorkerOptions how;
      how.name = absl::StrCat("worker ", i);
      how.made = FakeMade();
      how.wait_s = 1;
      const absl::Status status = RunWorker(
          how, *ConnectTo(address), [&](auto) { return &measurer; },
          *RealClock(), stop);
      TW_CHECK(status.ok()) << status;
    });
  }
  const int64_t begin_ns = RealClock()->WallNs();
  std::vector<std::thread> clients;
  for (int i = 0; i < load.clients; ++i)
    clients.emplace_back([&, i] { RunClient(address, i, load); });
  for (std::thread& client : clients) client.join();
  const double seconds =
      static_cast<double>(RealClock()->WallNs() - begin_ns) * 1e-9;
  stop.Cancel();
  for (std::thread& thread : threads) thread.join();
  server->reset();
  TW_CHECK_EQ(std::system(absl::StrCat("rm -r ", home).c_str()), 0);

  const double measurements = double{1} * load.tasks * load.clients;
  std::printf("| %d | %d | %.0f | %.1f | %.0f | %.0f |\n", workers,
              load.clients, measurements, seconds, measurements / seconds,
              seconds * workers / measurements * 1e6);
  std::fflush(stdout);
}

int Main(const std::vector<std::string>& arguments) {
  std::string workers = "1,16,64";
  Load load;
  OptionParser parser("throughput", "see throughput_main.cc");
  parser.Text("workers", &workers);
  parser.Number("clients", &load.clients, 1);
  parser.Number("tasks", &load.tasks, 1);
  parser.Number("batch", &load.batch, 1);
  const auto rest = parser.Parse(arguments);
  if (!rest.ok()) return ReportStatus("throughput", rest.status());
  std::printf(
      "| workers | clients | measurements | s | a second | us of a worker for "
      "each |\n|---|---|---|---|---|---|\n");
  for (const auto count : absl::StrSplit(workers, ',')) {
    int number = 0;
    TW_CHECK(absl::SimpleAtoi(count, &number)) << count;
    Measure(number, load);
  }
  return 0;
}

}  // namespace
}  // namespace tilewright::daemon

int main(int argc, char** argv) {
  return tilewright::daemon::Main(
      std::vector<std::string>(argv + 1, argv + argc));
}
