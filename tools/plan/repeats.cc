#include "tools/plan/repeats.h"

#include <algorithm>

namespace tilewright::tools {
namespace {

// Whether step `later` does in its round what `later - length` does in the
// round before. `begin`: of the first round.
bool Corresponds(const std::vector<PlanStep>& steps, int begin, int length,
                 int later) {
  const PlanStep &a = steps[later - length], &b = steps[later];
  if (a.kind != b.kind || a.sources.size() != b.sources.size()) return false;
  const bool first = later - length < begin + length;
  const int round = begin + (later - begin) / length * length;
  for (const int source : a.sources) {
    // A source outside may be the round before for the second round.
    if (first && source < begin) continue;
    const int expected = source >= begin ? source + length : source;
    if (!std::binary_search(b.sources.begin(), b.sources.end(), expected))
      return false;
  }
  if (!first) return true;
  const auto inside = [&](const PlanStep& step, int from) {
    return std::count_if(step.sources.begin(), step.sources.end(),
                         [&](int source) { return source >= from; });
  };
  return inside(a, begin) == inside(b, round);
}

// Whole rounds from `begin` on, as far as `end`.
int Rounds(const std::vector<PlanStep>& steps, int begin, int length, int end) {
  int at = begin + length;
  while (at < end && Corresponds(steps, begin, length, at)) ++at;
  return (at - begin) / length;
}

void Find(const std::vector<PlanStep>& steps, int begin, int end,
          std::vector<Repeat>& found) {
  Repeat best;
  int most = 0;
  for (int from = begin; from < end; ++from) {
    for (int length = 1; from + 2 * length <= end; ++length) {
      const int times = Rounds(steps, from, length, end);
      const int saved = (times - 1) * length;
      if (saved <= most) continue;
      most = saved;
      best = {from, from + length, times};
    }
  }
  if (most == 0) return;
  Find(steps, begin, best.begin, found);
  found.push_back(best);
  const int length = best.end - best.begin;
  Find(steps, best.begin, best.end, found);
  Find(steps, best.begin + best.times * length, end, found);
}

}  // namespace

std::vector<Repeat> FindRepeats(const std::vector<PlanStep>& steps) {
  std::vector<Repeat> found;
  Find(steps, 0, static_cast<int>(steps.size()), found);
  return found;
}

}  // namespace tilewright::tools
