#include "backends/lowering/lanes/lane_steps.h"

#include <utility>

namespace tilewright::lowering {

int Log2(int64_t n) {
  int bits = 0;
  while ((int64_t{1} << bits) < n) ++bits;
  return bits;
}

int LaneSteps::Add(int a, int b, std::vector<int> lanes) {
  moves_.steps.push_back({a, b, std::move(lanes)});
  return next_++;
}

LaneMoves LaneSteps::Finish(const std::vector<int>& results) {
  std::vector<bool> needed(next_, false);
  for (const int value : results) needed[value] = true;
  for (int i = next_ - 1; i >= given_; --i) {
    if (!needed[i]) continue;
    needed[moves_.steps[i - given_].a] = true;
    needed[moves_.steps[i - given_].b] = true;
  }
  std::vector<int> number(next_, -1);
  LaneMoves kept;
  for (int i = 0; i < given_; ++i) number[i] = i;
  for (int i = given_; i < next_; ++i) {
    if (!needed[i]) continue;
    LaneMoves::Step step = std::move(moves_.steps[i - given_]);
    step.a = number[step.a];
    step.b = number[step.b];
    number[i] = given_ + static_cast<int>(kept.steps.size());
    kept.steps.push_back(std::move(step));
  }
  for (const int value : results) kept.results.push_back(number[value]);
  return kept;
}

}  // namespace tilewright::lowering
