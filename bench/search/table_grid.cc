#include "bench/search/table_grid.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"
#include "base/status_macros.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/space.h"

namespace tilewright::bench {
namespace {

// How many values each decision has in the table.
std::vector<int64_t> CountValues(const DecisionTable& table, int64_t points) {
  std::vector<int64_t> counts(table.size(), 1);
  std::vector<bool> done(table.size(), false);
  int64_t product = 1;
  while (true) {
    size_t next = table.size();
    double most = 0;
    for (size_t i = 0; i < table.size(); ++i) {
      const double values = table[i].space.size();
      if (done[i] || static_cast<double>(counts[i]) >= values) continue;
      const double wanted =
          std::log2(values) / std::log2(static_cast<double>(counts[i]) + 1);
      if (wanted > most) {
        most = wanted;
        next = i;
      }
    }
    if (next == table.size()) return counts;
    const int64_t grown = product / counts[next] * (counts[next] + 1);
    if (grown > points) {
      done[next] = true;
      continue;
    }
    product = grown;
    ++counts[next];
  }
}

KnobProto ChooseValues(const Decision& decision, int64_t count,
                       Random& random) {
  std::set<DecisionValue> chosen = {decision.value};
  std::vector<DecisionValue> order = {decision.value};
  while (static_cast<int64_t>(chosen.size()) < count) {
    DecisionValue value = decision.space.Draw(random);
    if (random.Bernoulli(0.5)) {
      const std::vector<DecisionValue> near =
          decision.space.Neighbours(order[random.Index(order.size())]);
      if (!near.empty()) value = near[random.Index(near.size())];
    }
    if (chosen.insert(value).second) order.push_back(value);
  }
  KnobProto knob;
  knob.set_name(decision.name);
  for (const DecisionValue& value : chosen) {
    if (value == decision.value) knob.set_preferred(knob.values_size());
    knob.add_values(decision.space.Print(value));
  }
  return knob;
}

}  // namespace

absl::StatusOr<std::vector<KnobProto>> ChooseKnobs(
    const sketch::Generator& generator, const sketch::Workload& workload,
    const DeviceSpec& spec, int64_t points, uint64_t seed) {
  PreferredPolicy preferred;
  Decider decider(preferred);
  TW_RETURN_IF_ERROR(
      sketch::Generate(generator, workload, spec, decider).status());
  const DecisionTable& table = decider.decisions();
  const std::vector<int64_t> counts = CountValues(table, points);
  Random random(seed);
  std::vector<KnobProto> knobs;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].space.size() > 1)
      knobs.push_back(ChooseValues(table[i], counts[i], random));
  }
  return knobs;
}

size_t PointsOf(const std::vector<KnobProto>& knobs) {
  size_t points = 1;
  for (const KnobProto& knob : knobs)
    points *= static_cast<size_t>(knob.values_size());
  return points;
}

Answers AnswersAt(const std::vector<KnobProto>& knobs, size_t point) {
  Answers answers;
  for (size_t i = knobs.size(); i-- > 0;) {
    const auto values = static_cast<size_t>(knobs[i].values_size());
    answers[knobs[i].name()] =
        knobs[i].values(static_cast<int>(point % values));
    point /= values;
  }
  return answers;
}

}  // namespace tilewright::bench
