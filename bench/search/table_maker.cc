#include "bench/search/table_maker.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/fingerprint.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "bench/search/search_table.h"
#include "bench/search/table_grid.h"
#include "measure/parallel/adaptive_evaluator.h"
#include "measure/record/record.pb.h"
#include "measure/record/workload_key.h"
#include "search/candidate.h"
#include "search/replayed_features.h"
#include "sketch/trace/schedule.h"

namespace tilewright::bench {
namespace {

using measure::Measurement;
using measure::PoolEvent;

constexpr int kTimeoutSeconds = 10;
constexpr double kNsPerMs = 1e6;

// Numbers the distinct instructions of all schedules.
class Instructions {
 public:
  explicit Instructions(SearchTableProto& table) : table_(table) {}

  void AddTo(TableEntryProto& entry, const sketch::ScheduleProto& schedule) {
    for (const sketch::InstructionProto& one : schedule.instructions()) {
      std::string bytes = one.SerializeAsString();
      const auto [place, is_new] = index_.try_emplace(
          bytes, static_cast<uint32_t>(table_.instructions_size()));
      if (is_new) table_.add_instructions(std::move(bytes));
      entry.add_instructions(place->second);
    }
  }

 private:
  SearchTableProto& table_;
  std::map<std::string, uint32_t> index_;
};

// Fills knobs, points and the traces of entries; returns their schedules.
absl::StatusOr<std::vector<sketch::ScheduleProto>> EnumeratePoints(
    const NamedWorkload& named, const sketch::Generator& generator,
    const MakeTableOptions& options, SearchTableProto& table) {
  TW_ASSIGN_OR_RETURN(
      const std::vector<KnobProto> knobs,
      ChooseKnobs(generator, named.workload, named.spec, options.points,
                  static_cast<uint64_t>(options.seed)));
  for (const KnobProto& knob : knobs) *table.add_knobs() = knob;
  const search::Features features = search::ReplayedStoreFeatures();
  Instructions instructions(table);
  std::vector<sketch::ScheduleProto> schedules;
  std::map<Fingerprint, uint32_t> entries;
  const size_t points = PointsOf(knobs);
  const int64_t began_ns = RealClock()->ThreadCpuNs();
  for (size_t point = 0; point < points; ++point) {
    const absl::StatusOr<sketch::Schedule> schedule = sketch::GenerateWith(
        generator, named.workload, named.spec, AnswersAt(knobs, point));
    if (!schedule.ok() || !features(named.workload, *schedule).ok()) {
      table.add_entry_of_point(0);
      continue;
    }
    const auto [place, is_new] =
        entries.try_emplace(search::TraceOf(*schedule),
                            static_cast<uint32_t>(schedules.size()) + 1);
    if (is_new) {
      schedules.push_back(schedule->ToProto());
      instructions.AddTo(*table.add_entries(), schedules.back());
    }
    table.add_entry_of_point(place->second);
  }
  table.set_candidate_ns(
      static_cast<double>(RealClock()->ThreadCpuNs() - began_ns) /
      static_cast<double>(points));
  return schedules;
}

// Builds and measures the entries of one batch.
class Batch {
 public:
  Batch(const MakeTableOptions& options, measure::WorkerPool& pool,
        SearchTableProto& table)
      : pool_(pool), table_(table) {
    repeats_ = measure::AdaptiveEvaluatorOptions::Fixed(options.executions);
    repeats_.most_seconds = options.pass_seconds;
  }

  absl::Status Build(const measure::WorkloadKey& workload,
                     absl::Span<const sketch::ScheduleProto> schedules,
                     absl::Span<const int> entries) {
    std::map<int, int> entry_of;  // by candidate
    for (const int entry : entries) {
      TW_ASSIGN_OR_RETURN(
          const int candidate,
          pool_.Add(workload, schedules[static_cast<size_t>(entry)]));
      entry_of[candidate] = entry;
      pool_.Build(candidate);
    }
    for (size_t i = 0; i < entries.size(); ++i) {
      TW_ASSIGN_OR_RETURN(const PoolEvent event, pool_.Wait());
      const int index = entry_of.at(event.candidate);
      TableEntryProto& entry = *table_.mutable_entries(index);
      entry.set_outcome(event.outcome);
      entry.set_build_ms(static_cast<float>(event.build_ns / kNsPerMs));
      candidates_.push_back({event.candidate, index});
    }
    return absl::OkStatus();
  }

  // Each that works, in a random order.
  absl::Status Pass(bool first, Random& random) {
    random.Shuffle(absl::MakeSpan(candidates_));
    for (const Candidate& one : candidates_) {
      TableEntryProto& entry = *table_.mutable_entries(one.entry);
      if (entry.outcome() != Measurement::OK) continue;
      TW_RETURN_IF_ERROR(Measure(one.candidate, first, entry));
    }
    return absl::OkStatus();
  }

  void Forget() {
    for (const Candidate& one : candidates_) pool_.Forget(one.candidate);
    candidates_.clear();
  }

 private:
  struct Candidate {
    int candidate, entry;
  };

  absl::Status Measure(int candidate, bool first, TableEntryProto& entry) {
    const int64_t began_ns = RealClock()->WallNs();
    pool_.Prepare(candidate, /*worker=*/0);
    TW_ASSIGN_OR_RETURN(const PoolEvent prepared, pool_.Wait());
    if (prepared.outcome != Measurement::OK)
      return Fail(prepared.outcome, entry);
    pool_.Measure(candidate, repeats_, kTimeoutSeconds);
    TW_ASSIGN_OR_RETURN(const PoolEvent measured, pool_.Wait());
    if (measured.outcome != Measurement::OK)
      return Fail(measured.outcome, entry);
    const auto wall_ns = static_cast<double>(RealClock()->WallNs() - began_ns);
    double executed_ns = 0;
    for (const double ns : measured.latencies_ns) executed_ns += ns;
    if (first) {
      entry.set_overhead_ms(
          static_cast<float>(std::max(0.0, wall_ns - executed_ns) / kNsPerMs));
    }
    PackSamples(measured.latencies_ns, first ? *entry.mutable_first_pass()
                                             : *entry.mutable_second_pass());
    pool_.Release(candidate);
    return absl::OkStatus();
  }

  static absl::Status Fail(Measurement::Outcome outcome,
                           TableEntryProto& entry) {
    entry.set_outcome(outcome);
    entry.clear_first_pass();
    return absl::OkStatus();
  }

  measure::WorkerPool& pool_;
  SearchTableProto& table_;
  measure::AdaptiveEvaluatorOptions repeats_;
  std::vector<Candidate> candidates_;
};

}  // namespace

absl::StatusOr<SearchTableProto> MakeTable(
    const NamedWorkload& named, const sketch::Generator& generator,
    const MakeTableOptions& options, measure::WorkerPool& pool,
    const std::function<void(int done, int all)>& progress) {
  SearchTableProto table;
  table.set_name(named.name);
  table.set_workload(named.workload.Text());
  table.set_policy(generator.name);
  table.set_device(named.spec.name());
  table.set_method(absl::StrCat(
      "one thread, its CPU time, warm, each alone; two passes of at most ",
      options.executions, " executions or ", options.pass_seconds, " s"));
  TW_ASSIGN_OR_RETURN(const std::vector<sketch::ScheduleProto> schedules,
                      EnumeratePoints(named, generator, options, table));
  std::vector<int> order;
  for (int i = 0; i < table.entries_size(); ++i) order.push_back(i);
  Random random(static_cast<uint64_t>(options.seed));
  random.Shuffle(absl::MakeSpan(order));
  const measure::WorkloadKey workload =
      measure::MakeWorkloadKey(named.workload);
  Batch batch(options, pool, table);
  for (size_t begin = 0; begin < order.size();
       begin += static_cast<size_t>(options.batch)) {
    TW_RETURN_IF_ERROR(
        batch.Build(workload, schedules,
                    absl::MakeSpan(order).subspan(
                        begin, static_cast<size_t>(options.batch))));
    TW_RETURN_IF_ERROR(batch.Pass(/*first=*/true, random));
    TW_RETURN_IF_ERROR(batch.Pass(/*first=*/false, random));
    batch.Forget();
    const auto done =
        std::min(order.size(), begin + static_cast<size_t>(options.batch));
    progress(static_cast<int>(done), static_cast<int>(order.size()));
  }
  return table;
}

}  // namespace tilewright::bench
