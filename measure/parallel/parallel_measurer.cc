#include "measure/parallel/parallel_measurer.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/status_macros.h"
#include "measure/stats/latency_summary.h"

namespace tilewright::measure {
namespace {

// A summary whose values are all multiplied with `scale`; none if a latency is
// none.
void SetLatency(absl::Span<const double> latencies_ns, double scale,
                Measurement& measurement) {
  const absl::StatusOr<LatencySummary> summary =
      SummarizeLatencies(latencies_ns);
  if (!summary.ok()) {
    measurement.set_outcome(Measurement::RUN_ERROR);
    measurement.set_message(std::string(summary.status().message()));
    measurement.clear_latency();
    return;
  }
  LatencySummaryProto& latency = *measurement.mutable_latency();
  latency.set_n(summary->n);
  latency.set_mean_ns(summary->mean_ns * scale);
  latency.set_median_ns(summary->median_ns * scale);
  latency.set_low_ns(summary->low_ns * scale);
  latency.set_min_ns(summary->min_ns * scale);
  latency.set_stddev_ns(summary->stddev_ns * scale);
}

// So many repetitions show how much others are slowed down, at most so many
// times more than those.
constexpr size_t kSlowdownsKept = 8;
constexpr double kSlowdownMargin = 2;

// A wrong answer is one whatever ran beside it.
bool MayBeDueToParallelism(const PoolEvent& event) {
  return event.outcome != Measurement::OK &&
         event.outcome != Measurement::WRONG_ANSWER && !event.alone;
}

}  // namespace

// Candidates of one round, by index in the batch. Member i was measured beside
// others; what was measured alone anyway is no member.
struct ParallelMeasurer::Round {
  RoundReport report;
  std::vector<int> members;
  std::vector<PoolEvent> events;             // by member: in parallel
  std::vector<ParallelMeasurement> values;   // by member
  std::vector<Remeasurement> repeated;       // index: of the member
  std::map<int, PoolEvent> repeated_events;  // by member, if it succeeded
  std::optional<double> delta;
};

ParallelMeasurer::ParallelMeasurer(WorkerPool* pool,
                                   const ParallelMeasurerOptions& options)
    : pool_(pool), options_(options), random_(options.seed) {}

absl::StatusOr<std::vector<Measurement>> ParallelMeasurer::DoMeasure(
    const MeasureBatch& batch) {
  ResultList results(batch.schedules.size(), batch.options);
  if (batch.alone || options_.mode == MeasureMode::kSerial) {
    return results.Take(MeasureAtFixedDegree(batch.workload, batch.schedules,
                                             batch.options, /*degree=*/1,
                                             /*by_host_clock=*/false, results));
  }
  return results.Take(
      options_.mode == MeasureMode::kNaive
          ? MeasureAtFixedDegree(batch.workload, batch.schedules, batch.options,
                                 options_.naive_degree,
                                 /*by_host_clock=*/true, results)
          : MeasurePrecisely(batch.workload, batch.schedules, batch.options,
                             results));
}

absl::Status ParallelMeasurer::StartFlow(
    CandidateFlow& flow, const WorkloadKey& workload,
    absl::Span<const sketch::ScheduleProto> schedules,
    const MeasureOptions& how, std::function<void(int)> on_end) {
  CandidateFlow::Watch watch;
  watch.cancellation = how.cancellation;
  watch.on_end = std::move(on_end);
  if (how.wanted) {
    watch.wanted = [&flow, &how](int index) {
      return how.wanted(index, {flow.candidate(index).spills});
    };
  }
  flow.set_watch(std::move(watch));
  TW_RETURN_IF_ERROR(flow.Start(workload, schedules));
  return options_.overlap_builds ? absl::OkStatus() : flow.WaitForBuilds();
}

double ParallelMeasurer::LatencyNs(const PoolEvent& event) const {
  const absl::StatusOr<LatencySummary> summary =
      SummarizeLatencies(event.latencies_ns);
  return summary.ok() ? ComparedNs(*summary, options_.compared)
                      : std::numeric_limits<double>::quiet_NaN();
}

// The value that algorithm 2 compares: its ratio must not depend on how often a
// candidate was executed.
ParallelMeasurement ParallelMeasurer::ValueOf(const PoolEvent& event) const {
  return {LatencyNs(event),
          event.duration_ns / static_cast<double>(event.executions)};
}

// Everything but the degree of parallelism; the latency that of the last event.
Measurement ParallelMeasurer::MakeMeasurement(
    const CandidateFlow::Candidate& candidate) const {
  const PoolEvent& event = candidate.event;
  Measurement measurement;
  measurement.set_outcome(event.outcome);
  measurement.set_message(event.message);
  measurement.set_signal(event.signal);
  measurement.set_fault(event.fault);
  measurement.set_build_ns(static_cast<int64_t>(candidate.build_ns));
  if (candidate.spills) measurement.set_spills(*candidate.spills);
  if (event.outcome == Measurement::OK) {
    measurement.set_duration_ns(static_cast<int64_t>(event.duration_ns));
    *measurement.mutable_verification() = event.verification;
    *measurement.mutable_method() = pool_->method();
    measurement.mutable_method()->set_repeats(options_.repeats.max_repeats);
    measurement.mutable_method()->set_degree_of_parallelism(1);
    SetLatency(event.latencies_ns, 1, measurement);
  }
  return measurement;
}

absl::Status ParallelMeasurer::MeasureAtFixedDegree(
    const WorkloadKey& workload,
    absl::Span<const sketch::ScheduleProto> schedules,
    const MeasureOptions& how, int degree, bool by_host_clock,
    ResultList& results) {
  CandidateFlow flow(pool_, VisitRepeats());
  CandidateFlow::Limits limits;
  limits.under_way = limits.measured = std::min(degree, pool_->workers());
  limits.timeout_s = TimeoutSeconds(1);
  limits.visits = options_.visits;
  if (options_.visits > 1) limits.quota = options_.smallest_round;
  const auto conclude = [&](int index) {
    const CandidateFlow::Candidate& candidate = flow.candidate(index);
    Measurement& result = results.at(index);
    result = MakeMeasurement(candidate);
    if (result.outcome() == Measurement::OK) {
      result.mutable_method()->set_degree_of_parallelism(limits.measured);
      if (by_host_clock) {
        result.mutable_method()->set_timer(Method::WALL_CLOCK);
        SetLatency({ValueOf(candidate.event).duration_ns}, 1, result);
        result.mutable_latency()->set_n(candidate.event.executions);
      }
    }
    results.Finish(index);
  };
  TW_RETURN_IF_ERROR(StartFlow(flow, workload, schedules, how, conclude));
  while (!flow.done()) TW_RETURN_IF_ERROR(flow.Pass(limits).status());
  return absl::OkStatus();
}

AdaptiveEvaluatorOptions ParallelMeasurer::AloneRepeats() const {
  return options_.repeats.Share(options_.alone_share);
}

AdaptiveEvaluatorOptions ParallelMeasurer::VisitRepeats() const {
  return options_.repeats.Share(1.0 / options_.visits);
}

absl::Status ParallelMeasurer::MeasurePrecisely(
    const WorkloadKey& workload,
    absl::Span<const sketch::ScheduleProto> schedules,
    const MeasureOptions& how, ResultList& results) {
  ReactOptions react = options_.react;
  react.max_degree = std::min(react.max_degree, pool_->workers());
  react.initial_max = std::min(react.initial_max, react.max_degree);
  Program& program =
      programs_.try_emplace(workload.text(), Program{React(react)})
          .first->second;
  CandidateFlow flow(pool_, VisitRepeats());
  flow.set_fastest_ns(program.fastest_ns);
  TW_RETURN_IF_ERROR(StartFlow(flow, workload, schedules, how, [&](int index) {
    const CandidateFlow::Candidate& candidate = flow.candidate(index);
    // A failed build is final. Others are not before the end of their round.
    if (candidate.event.kind != PoolEvent::Kind::kBuilt) return;
    results.at(index) = MakeMeasurement(candidate);
    results.Finish(index);
  }));
  while (!flow.done()) {
    const int degree = program.react.degree();
    CandidateFlow::Limits limits;
    limits.under_way = options_.prepare_ahead ? pool_->workers() : degree;
    limits.measured = degree;
    limits.quota = degree == 1 ? 1 : std::max(degree, options_.smallest_round);
    limits.timeout_s = TimeoutSeconds(degree);
    limits.visits = options_.visits;
    limits.give_up_factor = options_.give_up_factor;
    limits.keep = true;
    TW_ASSIGN_OR_RETURN(const std::vector<int> ended, flow.Pass(limits));
    program.fastest_ns = flow.fastest_ns();

    Round round;
    round.report.degree = degree;
    round.report.candidates = static_cast<int>(ended.size());
    const int most_measured = flow.most_measured();
    for (const int index : ended) {
      const CandidateFlow::Candidate& candidate = flow.candidate(index);
      if (candidate.disturbed || options_.calibrate_undisturbed ||
          (degree > 1 && candidate.event.kind == PoolEvent::Kind::kPrepared)) {
        round.members.push_back(index);
        continue;
      }
      Measurement& result = results.at(index);
      result = MakeMeasurement(candidate);
      if (result.outcome() == Measurement::OK) {
        program.best_ns = std::min(
            program.best_ns, ComparedNs(result.latency(), options_.compared));
      }
    }
    TW_RETURN_IF_ERROR(RepeatFailed(flow, round, results));
    TW_RETURN_IF_ERROR(RepeatSample(flow, program, round));
    Conclude(flow, round, program, results);
    for (const int index : ended) flow.Release(index);
    for (const int index : ended) results.Finish(index);
    if (on_round_) on_round_(round.report);

    // A round with fewer candidates than it might have had, or fewer at a time
    // (the end of a batch, slow builds), says something against its degree, and
    // nothing for it: of two or three the slowest one has the device for itself
    // most of the time.
    const bool full = most_measured >= degree &&
                      static_cast<int>(ended.size()) >= limits.quota;
    const double delta =
        round.values.empty()
            ? 0
            : round.delta.value_or(std::numeric_limits<double>::quiet_NaN());
    const bool too_much = !(delta <= options_.react.tau) ||
                          round.report.failures > options_.react.tau * degree;
    if (too_much || full || options_.partial_rounds_increase) {
      program.react.Update(delta, round.report.failures);
    }
  }
  return absl::OkStatus();
}

// Algorithm 2, line 5. What succeeds now failed because of the parallelism.
absl::Status ParallelMeasurer::RepeatFailed(CandidateFlow& flow, Round& round,
                                            ResultList& results) {
  std::vector<int> succeeded;
  for (const int index : round.members) {
    const PoolEvent event = flow.candidate(index).event;
    if (event.outcome == Measurement::OK) {
      succeeded.push_back(index);
      round.events.push_back(event);
      round.values.push_back(ValueOf(event));
      round.report.failures += event.alone;
      continue;
    }
    if (MayBeDueToParallelism(event)) {
      TW_RETURN_IF_ERROR(
          flow.MeasureAlone(index, options_.repeats, TimeoutSeconds(1)));
    }
    Measurement& result = results.at(index);
    result = MakeMeasurement(flow.candidate(index));
    if (result.outcome() == Measurement::OK) {
      result.mutable_method()->set_remeasured(true);
      ++round.report.failures;
    }
  }
  round.members = std::move(succeeded);
  return absl::OkStatus();
}

absl::Status ParallelMeasurer::Repeat(CandidateFlow& flow,
                                      const std::vector<int>& members,
                                      Round& round) {
  for (const int member : members) {
    const int index = round.members[static_cast<size_t>(member)];
    TW_RETURN_IF_ERROR(
        flow.MeasureAlone(index, AloneRepeats(), TimeoutSeconds(1)));
    ++round.report.repeated;
    const PoolEvent& event = flow.candidate(index).event;
    if (event.outcome != Measurement::OK) continue;
    round.repeated.push_back({member, LatencyNs(event)});
    round.repeated_events[member] = event;
  }
  return absl::OkStatus();
}

// Beside d - 1 others it is at most d times slower. If those that were repeated
// lately were slowed down much less, so are others.
double ParallelMeasurer::Program::WorstSlowdown(int measured) const {
  const auto known = slowdowns.find(measured);
  if (known == slowdowns.end() || known->second.size() < kSlowdownsKept) {
    return measured;
  }
  const double largest =
      *std::max_element(known->second.begin(), known->second.end());
  return std::clamp(1 + kSlowdownMargin * (largest - 1), 1.0,
                    static_cast<double>(measured));
}

// Algorithm 2, lines 6 to 8.
absl::Status ParallelMeasurer::RepeatSample(CandidateFlow& flow,
                                            Program& program, Round& round) {
  std::vector<int> promising;
  const int measured = flow.most_measured();
  const double worst_factor = program.WorstSlowdown(measured);
  for (size_t member = 0; member < round.values.size(); ++member) {
    if (options_.repeat_promising &&
        round.values[member].latency_ns < worst_factor * program.best_ns) {
      promising.push_back(static_cast<int>(member));
    }
  }
  const std::vector<int> sample =
      ChooseRemeasured(round.values, options_.calibrator, random_, promising);
  TW_RETURN_IF_ERROR(Repeat(flow, sample, round));
  std::deque<double>& slowdowns = program.slowdowns[measured];
  for (const Remeasurement& alone : round.repeated) {
    slowdowns.push_back(
        round.values[static_cast<size_t>(alone.index)].latency_ns /
        alone.latency_ns);
    if (slowdowns.size() > kSlowdownsKept) slowdowns.pop_front();
  }
  round.delta = RoundDelta(round.values, round.repeated, options_.calibrator);
  round.report.delta = round.delta.value_or(0);
  if (!options_.repeat_unscalable ||
      round.report.delta < options_.calibrator.scaling_limit) {
    return absl::OkStatus();
  }
  std::vector<int> others;
  for (int member = 0; member < static_cast<int>(round.members.size());
       ++member) {
    if (!std::binary_search(sample.begin(), sample.end(), member)) {
      others.push_back(member);
    }
  }
  return Repeat(flow, others, round);
}

// Algorithm 2, line 9.
void ParallelMeasurer::Conclude(const CandidateFlow& flow, const Round& round,
                                Program& program, ResultList& results) {
  const std::vector<CalibratedLatency> calibrated =
      Calibrate(round.values, round.repeated, round.delta, options_.calibrator);
  for (size_t member = 0; member < round.members.size(); ++member) {
    const int index = round.members[member];
    const auto repeated = round.repeated_events.find(static_cast<int>(member));
    const bool use_repeated = calibrated[member].remeasured;
    CandidateFlow::Candidate candidate = flow.candidate(index);
    candidate.event = use_repeated ? repeated->second : round.events[member];
    Measurement& result = results.at(index);
    result = MakeMeasurement(candidate);
    if (result.outcome() != Measurement::OK) continue;
    SetLatency(candidate.event.latencies_ns, calibrated[member].scale, result);
    Method& method = *result.mutable_method();
    method.set_remeasured(use_repeated);
    method.set_delta(round.report.delta);
    if (use_repeated) {
      method.set_repeats(AloneRepeats().max_repeats);
      program.best_ns = std::min(
          program.best_ns, ComparedNs(result.latency(), options_.compared));
    } else {
      method.set_degree_of_parallelism(round.report.degree);
    }
  }
}

}  // namespace tilewright::measure
