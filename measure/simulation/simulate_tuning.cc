#include "measure/simulation/simulate_tuning.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "measure/simulation/simulated_pool.h"
#include "measure/stats/latency_summary.h"
#include "measure/stats/rank_selection.h"

namespace tilewright::measure {
namespace {

constexpr int kRepeats = 60;
constexpr double kFailed = std::numeric_limits<double>::infinity();

double LatencyNs(const Measurement& measurement, Compared compared) {
  return measurement.outcome() == Measurement::OK
             ? ComparedNs(measurement.latency(), compared)
             : kFailed;
}

double SmallestLatencyNs(const fake::FakeProgram& program) {
  double smallest = kFailed;
  for (const fake::FakeCandidate& candidate : program.candidates) {
    if (candidate.fault != fake::Fault::kNone) continue;
    smallest = std::min(smallest, candidate.base_latency_ns);
  }
  return smallest;
}

std::vector<sketch::ScheduleProto> Schedules(const std::vector<int>& indices) {
  std::vector<sketch::ScheduleProto> schedules;
  for (const int index : indices) {
    schedules.push_back(SimulatedSchedule(index));
  }
  return schedules;
}

}  // namespace

std::vector<Contender> Contenders(bool overlap_builds) {
  const auto precise = [](const char* name) { return Contender{name, {}}; };
  Contender serial = precise("serial");
  serial.options.mode = MeasureMode::kSerial;
  Contender serial_means = precise("serial, means");
  serial_means.options.mode = MeasureMode::kSerial;
  serial_means.options.compared = Compared::kMean;
  Contender naive = precise("naive");
  naive.options.mode = MeasureMode::kNaive;
  Contender in_paper = precise("precise, as in the paper");
  in_paper.options = ParallelMeasurerOptions::AsInPaper();
  Contender either = precise("the same, decreases without increases");
  either.options = ParallelMeasurerOptions::AsInPaper();
  either.options.react.increase_after_decrease = false;
  Contender one = precise("precise, one at a time on the device");
  one.options.react.max_degree = 1;
  std::vector<Contender> contenders = {
      serial, serial_means, naive, in_paper, either, one, precise("precise")};
  for (Contender& contender : contenders) {
    contender.options.overlap_builds = overlap_builds;
    contender.options.repeats = AdaptiveEvaluatorOptions::Fixed(kRepeats);
  }
  return contenders;
}

ParallelMeasurerOptions ContenderNamed(const std::string& name,
                                       bool overlap_builds) {
  for (const Contender& contender : Contenders(overlap_builds)) {
    if (contender.name == name) return contender.options;
  }
  TW_CHECK(false) << "no contender is called " << name;
  return {};
}

absl::StatusOr<TuningResult> SimulateTuning(const fake::Setting& setting,
                                            const fake::FakeProgram& program,
                                            const TuningOptions& options) {
  SimulatedPoolOptions pool_options;
  pool_options.seed = options.seed;
  SimulatedPool pool(setting, &program, pool_options);
  ParallelMeasurerOptions measurer_options = options.measurer;
  measurer_options.seed = options.seed;
  ParallelMeasurer measurer(&pool, measurer_options);
  TuningResult result;
  measurer.set_on_round(
      [&](const RoundReport& round) { result.rounds.push_back(round); });
  WorkloadKey workload;
  workload.set_text(setting.name);

  std::vector<double> latencies_ns;
  double executions = 0, measured = 0;
  for (int begin = 0; begin < options.trials; begin += options.batch) {
    std::vector<int> batch;
    for (int i = begin; i < std::min(begin + options.batch, options.trials);
         ++i) {
      batch.push_back(i);
    }
    TW_ASSIGN_OR_RETURN(const std::vector<Measurement> measurements,
                        measurer.Measure(workload, Schedules(batch)));
    for (const Measurement& measurement : measurements) {
      latencies_ns.push_back(LatencyNs(measurement, measurer_options.compared));
      if (measurement.outcome() != Measurement::OK) continue;
      executions += static_cast<double>(measurement.latency().n());
      ++measured;
    }
  }
  if (options.measurer.mode == MeasureMode::kPrecise) {
    const std::vector<int> best = SelectTopRanks(latencies_ns);
    TW_ASSIGN_OR_RETURN(const std::vector<Measurement> measurements,
                        measurer.MeasureAlone(workload, Schedules(best)));
    for (size_t i = 0; i < best.size(); ++i) {
      latencies_ns[static_cast<size_t>(best[i])] =
          LatencyNs(measurements[i], measurer_options.compared);
    }
  }
  result.executions = executions / measured;
  result.best_ns = SmallestLatencyNs(program);
  result.time_s = pool.now_ns() * 1e-9;
  const auto chosen =
      std::min_element(latencies_ns.begin(), latencies_ns.end());
  result.chosen_ns =
      program.candidates[static_cast<size_t>(chosen - latencies_ns.begin())]
          .base_latency_ns;
  return result;
}

}  // namespace tilewright::measure
