#include "bench/costmodel/feature_times.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "base/random.h"
#include "bench/costmodel/thread_time.h"
#include "costmodel/feature_matrix.h"
#include "costmodel/features/decision_features.h"
#include "costmodel/features/loop_features.h"
#include "costmodel/features/store_features.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/table.h"

namespace tilewright::bench {
namespace {

// The generator whose preferred schedule is not refused, as compiling takes it.
sketch::Generator FirstThatServes(const sketch::Workload& workload,
                                  const DeviceSpec& spec) {
  const std::vector<sketch::Generator> generators =
      sketch::Generators(workload);
  for (const sketch::Generator& generator : generators) {
    const auto schedule = GeneratePreferred(generator, workload, spec);
    if (schedule.ok() && sketch::Replay(workload, *schedule).ok()) {
      return generator;
    }
  }
  return generators.front();
}

}  // namespace

void FeatureTimes::Refuse(const absl::Status& reason) {
  if (refused++ == 0) first_refusal = std::string(reason.message());
}

void FeatureTimes::Add(const FeatureTimes& other) {
  candidates += other.candidates;
  refused += other.refused;
  blocks += other.blocks;
  generate_ns += other.generate_ns;
  replay_ns += other.replay_ns;
  store_ns += other.store_ns;
  loop_ns += other.loop_ns;
  curve_ns += other.curve_ns;
  decision_ns += other.decision_ns;
}

std::string FeatureTimes::ToString() const {
  const double us = 1e-3 / std::max(1, candidates);
  return absl::StrFormat(
      "%4d candidates, %3d refused, %4.1f blocks; us a candidate: generate "
      "%6.1f, replay %6.1f, stores %6.1f, loops %6.1f, curves %6.1f, decisions "
      "%5.1f",
      candidates, refused,
      static_cast<double>(blocks) / std::max(1, candidates), generate_ns * us,
      replay_ns * us, store_ns * us, loop_ns * us, curve_ns * us,
      decision_ns * us);
}

FeatureTimes TimeFeatures(const sketch::Workload& workload,
                          const DeviceSpec& spec, int draws, uint64_t seed,
                          costmodel::CandidateFeatures& candidates) {
  const sketch::Generator generator = FirstThatServes(workload, spec);
  FeatureTimes times;
  std::vector<DecisionTable> tables;
  // The decisions of the rules, to be mutated.
  PreferredPolicy preferred;
  Decider rule(preferred);
  const bool has_rule = Generate(generator, workload, spec, rule).ok();
  Random random(seed);
  for (int i = 0; i < draws; ++i) {
    RandomPolicy any(seed + i);
    TablePolicy mutated(Mutate(rule.decisions(), 1 + i % 3, random), preferred);
    DecisionPolicy* policy = &any;
    if (has_rule && i % 2 == 1) policy = &mutated;
    Decider decider(*policy);
    double generate_ns = 0, replay_ns = 0;
    const auto schedule = Timed(generate_ns, [&] {
      return Generate(generator, workload, spec, decider);
    });
    if (!schedule.ok()) {
      times.Refuse(schedule.status());
      continue;
    }
    const auto tree =
        Timed(replay_ns, [&] { return sketch::Replay(workload, *schedule); });
    if (!tree.ok()) {
      times.Refuse(tree.status());
      continue;
    }
    ++times.candidates;
    times.generate_ns += generate_ns;
    times.replay_ns += replay_ns;
    tables.push_back(decider.decisions());
    const costmodel::FeatureMatrix rows =
        Timed(times.store_ns, [&] { return costmodel::StoreFeatures(*tree); });
    Timed(times.loop_ns, [&] { return costmodel::LoopFeatures(*tree); });
    Timed(times.curve_ns, [&] { return costmodel::CurveFeatures(*tree); });
    times.blocks += rows.rows();
    for (int row = 0; row < rows.rows(); ++row) {
      candidates.rows.AddRow(rows.row(row));
    }
    candidates.row_counts.push_back(rows.rows());
  }
  const costmodel::DecisionFeatures encode(tables);
  for (const DecisionTable& table : tables) {
    Timed(times.decision_ns, [&] { return encode.Row(table); });
  }
  return times;
}

}  // namespace tilewright::bench
