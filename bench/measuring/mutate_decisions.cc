#include "bench/measuring/mutate_decisions.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::bench {
namespace {

using sketch::Decision;

// "task.1" and "out.vectors.1" are of one axis.
std::string AxisOf(const Decision& decision) {
  const size_t dot = decision.name.rfind('.');
  return dot == std::string::npos ? decision.name : decision.name.substr(dot);
}

// The outermost part becomes as small as the others allow.
void FitOutermost(Decision& split) {
  int64_t inner = 1;
  for (size_t i = 1; i < split.value.size(); ++i) inner *= split.value[i];
  split.value[0] = (split.extent + inner - 1) / inner;
}

int64_t Near(int64_t value, int64_t extent, Random& random) {
  static constexpr int64_t kFactors[] = {2, 3, 4};
  const int64_t factor = kFactors[random.Index(3)];
  int64_t near = value;
  switch (random.Index(4)) {
    case 0:
      near = value * factor;
      break;
    case 1:
      near = value / factor;
      break;
    case 2:
      near = value + 1 + static_cast<int64_t>(random.Index(4));
      break;
    default:
      near = value - 1 - static_cast<int64_t>(random.Index(4));
  }
  return std::clamp<int64_t>(near, 1, std::max<int64_t>(extent, 1));
}

void MutateSplit(sketch::Schedule& schedule, size_t which, Random& random) {
  Decision& split = schedule.decisions[which];
  if (split.value.size() < 2) return;
  const size_t part = 1 + random.Index(split.value.size() - 1);
  const int64_t before = split.value[part];
  split.value[part] = Near(before, split.extent, random);
  FitOutermost(split);
  for (size_t i = which + 1; i < schedule.decisions.size(); ++i) {
    Decision& other = schedule.decisions[i];
    if (other.kind != Decision::Kind::kSplit || other.extent != before ||
        AxisOf(other) != AxisOf(split)) {
      continue;
    }
    other.extent = split.value[part];
    FitOutermost(other);
  }
}

}  // namespace

sketch::Schedule MutateDecisions(const sketch::Schedule& schedule,
                                 Random& random) {
  sketch::Schedule mutated = schedule;
  if (mutated.decisions.empty()) return mutated;
  const size_t changes = 1 + random.Index(3);
  for (size_t i = 0; i < changes; ++i) {
    const size_t which = random.Index(mutated.decisions.size());
    Decision& decision = mutated.decisions[which];
    switch (decision.kind) {
      case Decision::Kind::kSplit:
        MutateSplit(mutated, which, random);
        break;
      case Decision::Kind::kChoice:
        if (!decision.options.empty()) {
          decision.value = {
              static_cast<int64_t>(random.Index(decision.options.size()))};
        }
        break;
      case Decision::Kind::kPermutation:
        if (decision.value.size() >= 2) {
          const size_t at = random.Index(decision.value.size() - 1);
          std::swap(decision.value[at], decision.value[at + 1]);
        }
        break;
      case Decision::Kind::kLocation:
        break;
    }
  }
  return mutated;
}

}  // namespace tilewright::bench
