// Stretches of a model that repeat: twelve equal layers are drawn once.
#ifndef TILEWRIGHT_TOOLS_PLAN_REPEATS_H_
#define TILEWRIGHT_TOOLS_PLAN_REPEATS_H_

#include <vector>

namespace tilewright::tools {

// One of a sequence; sources come before it.
struct PlanStep {
  int kind = 0;              // equal kinds do equal work
  std::vector<int> sources;  // indices, ascending
};

// steps [begin, end), and the same work `times` in all, one after the other.
struct Repeat {
  int begin = 0, end = 0;
  int times = 1;

  friend bool operator==(const Repeat& a, const Repeat& b) {
    return a.begin == b.begin && a.end == b.end && a.times == b.times;
  }
};

// Where equal steps follow each other in equal relations: within a round they
// read each other alike, from the third on also what came before. The longest
// savings first taken, then what repeats inside the first round, before and
// behind it. In the order of `begin`, outer ones before inner ones.
std::vector<Repeat> FindRepeats(const std::vector<PlanStep>& steps);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PLAN_REPEATS_H_
