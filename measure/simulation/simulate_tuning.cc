#include "measure/simulation/simulate_tuning.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "measure/rank_selection.h"
#include "measure/simulation/simulated_pool.h"

namespace tilewright::measure {
namespace {

constexpr int kRepeats = 60;
constexpr double kFailed = std::numeric_limits<double>::infinity();

double LatencyNs(const Measurement& measurement) {
  return measurement.outcome() == Measurement::OK
             ? measurement.latency().median_ns()
             : kFailed;
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
  std::vector<Contender> contenders(5);
  contenders[0].name = "serial";
  contenders[0].options.mode = MeasureMode::kSerial;
  contenders[1].name = "naive";
  contenders[1].options.mode = MeasureMode::kNaive;
  contenders[2].name = "precise, as in the paper";
  contenders[2].options = ParallelMeasurerOptions::AsInPaper();
  contenders[3].name = "precise, one at a time on the device";
  contenders[3].options.react.max_degree = 1;
  contenders[4].name = "precise";
  for (Contender& contender : contenders) {
    contender.options.overlap_builds = overlap_builds;
    contender.options.repeats = AdaptiveEvaluatorOptions::Fixed(kRepeats);
  }
  return contenders;
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
  for (int begin = 0; begin < options.trials; begin += options.batch) {
    std::vector<int> batch;
    for (int i = begin; i < std::min(begin + options.batch, options.trials);
         ++i) {
      batch.push_back(i);
    }
    TW_ASSIGN_OR_RETURN(const std::vector<Measurement> measurements,
                        measurer.Measure(workload, Schedules(batch)));
    for (const Measurement& measurement : measurements) {
      latencies_ns.push_back(LatencyNs(measurement));
    }
  }
  if (options.measurer.mode == MeasureMode::kPrecise) {
    const std::vector<int> best = SelectTopRanks(latencies_ns);
    TW_ASSIGN_OR_RETURN(const std::vector<Measurement> measurements,
                        measurer.MeasureAlone(workload, Schedules(best)));
    for (size_t i = 0; i < best.size(); ++i) {
      latencies_ns[static_cast<size_t>(best[i])] = LatencyNs(measurements[i]);
    }
  }
  result.time_s = pool.now_ns() * 1e-9;
  const auto chosen =
      std::min_element(latencies_ns.begin(), latencies_ns.end());
  result.chosen_ns =
      program.candidates[static_cast<size_t>(chosen - latencies_ns.begin())]
          .base_latency_ns;
  return result;
}

}  // namespace tilewright::measure
