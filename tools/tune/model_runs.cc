#include "tools/tune/model_runs.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "base/ceil_div.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "measure/record/record.pb.h"
#include "runtime/model.h"
#include "tools/model_io.h"

namespace tilewright::tools {
namespace {

constexpr uint64_t kInputSeed = 1;
// A comparison has so many rounds, fewer where that took longer than this; a
// round has runs of each model for so long, one after the other.
constexpr int kMostRounds = 25, kLeastRounds = 9;
constexpr double kSecondsOfAComparison = 12;
constexpr double kSecondsOfARound = 0.02;
constexpr int kLeastRunsOfARound = 2;
// Clocks of threads lag by microseconds now and then, also backwards: what is
// timed takes so long at least, a small model is run several times for it.
constexpr int64_t kLeastTimedNs = 100'000;

class Winners : public ScheduleSource {
 public:
  void Add(const TaskWinner& winner) {
    schedules_[winner.workload] = winner.schedule;
  }
  absl::StatusOr<std::optional<SourcedSchedule>> Find(
      const sketch::Workload& workload, const sketch::Generator&,
      const DeviceSpec&) override {
    const auto found = schedules_.find(workload.Text());
    if (found == schedules_.end()) return std::nullopt;
    return found->second;
  }
  std::vector<std::string> Notes() const override { return {}; }

 private:
  std::map<std::string, SourcedSchedule> schedules_;
};

double SecondsSince(int64_t start_ns) {
  return 1e-9 * static_cast<double>(RealClock()->WallNs() - start_ns);
}

}  // namespace

absl::StatusOr<std::string> ModelRuns::Compiled(
    const std::vector<bool>& tuned) {
  const auto known = compiled_.find(tuned);
  if (known != compiled_.end()) return known->second;
  Winners winners;
  for (size_t i = 0; i < tuned.size(); ++i) {
    if (tuned[i]) winners.Add(winners_[i]);
  }
  CompileOptions options = options_;
  options.schedules = &winners;
  TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                      Compile(model_, codegen_, options));
  // The rules' model is asked for again and again, the others once for each
  // number of threads.
  const std::vector<bool> rules(tuned.size(), false);
  for (auto it = compiled_.begin(); it != compiled_.end();)
    it = it->first == rules ? std::next(it) : compiled_.erase(it);
  return compiled_[tuned] = compiled.Serialize();
}

absl::StatusOr<DrawnRun> ModelRuns::Load(
    const std::vector<bool>& tuned,
    const std::shared_ptr<backends::Device>& device) {
  TW_ASSIGN_OR_RETURN(const std::string bytes, Compiled(tuned));
  TW_ASSIGN_OR_RETURN(std::shared_ptr<const Model> model,
                      Model::FromBytes(bytes, device));
  return DrawRun(std::move(model), kInputSeed);
}

absl::StatusOr<search::ModelRounds> ModelRuns::Compare(
    const std::vector<bool>& tuned, int threads) {
  // Both share one device: threads of another one might disturb.
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<backends::Device> device,
                      device_.open(threads));
  TW_ASSIGN_OR_RETURN(DrawnRun with, Load(tuned, device));
  TW_ASSIGN_OR_RETURN(DrawnRun without,
                      Load(std::vector<bool>(tuned.size(), false), device));
  // One thread is this one. The process's clock would count others too, and
  // lags behind them.
  const bool cpu_time =
      threads == 1 && device_.model_timer == measure::Method::THREAD_CPU_TIME;
  const auto now_ns = [cpu_time] {
    return cpu_time ? RealClock()->ThreadCpuNs() : RealClock()->WallNs();
  };
  int64_t runs_at_a_time = 1;
  const auto run_ns = [&](DrawnRun& loaded, double& least) -> absl::Status {
    const int64_t start_ns = now_ns();
    for (int64_t run = 0; run < runs_at_a_time; ++run)
      TW_RETURN_IF_ERROR(loaded.session->Run(loaded.from, loaded.to));
    const int64_t ns = now_ns() - start_ns;
    if (ns > 0) {
      least = std::min(
          least, static_cast<double>(ns) / static_cast<double>(runs_at_a_time));
    }
    return absl::OkStatus();
  };
  const int64_t once_ns = RealClock()->WallNs();
  TW_RETURN_IF_ERROR(without.session->Run(without.from, without.to));
  runs_at_a_time = CeilDiv(
      kLeastTimedNs, std::max<int64_t>(RealClock()->WallNs() - once_ns, 1));
  search::ModelRounds rounds;
  const int64_t began_ns = RealClock()->WallNs();
  for (int round = 0; round < kMostRounds; ++round) {
    if (round >= kLeastRounds && SecondsSince(began_ns) > kSecondsOfAComparison)
      break;
    double with_ns = std::numeric_limits<double>::infinity();
    double without_ns = with_ns;
    const int64_t round_ns = RealClock()->WallNs();
    for (int run = 0; run < kLeastRunsOfARound ||
                      SecondsSince(round_ns) < 2 * kSecondsOfARound;
         ++run) {
      if (cancellation_.cancelled()) return absl::CancelledError("interrupted");
      // Every other one begins.
      const bool swap = (round + run) % 2 == 1;
      TW_RETURN_IF_ERROR(swap ? run_ns(without, without_ns)
                              : run_ns(with, with_ns));
      TW_RETURN_IF_ERROR(swap ? run_ns(with, with_ns)
                              : run_ns(without, without_ns));
    }
    rounds.tuned_ns.push_back(with_ns);
    rounds.rules_ns.push_back(without_ns);
  }
  return rounds;
}

}  // namespace tilewright::tools
