#include "costmodel/features/share_of_steps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tilewright::costmodel {
namespace {

constexpr double kMaxPoints = 512;
constexpr int kSampledPoints = 256;

// sum of steps < bound, each step being coefficient * (0 .. extent - 1).
struct Inequality {
  struct Term {
    int64_t coefficient, extent;  // coefficient > 0
    int64_t rest;                 // the most that later terms add
    double rest_points;
  };
  std::vector<Term> terms;  // largest coefficient first
  int64_t bound = 0;
};

std::optional<Inequality> ToInequality(const Expr& condition,
                                       const LoopNest& nest) {
  const Op op = condition.op();
  if (op != Op::kLt && op != Op::kLe && op != Op::kGt && op != Op::kGe) {
    return std::nullopt;
  }
  if (IsFloat(condition.operand(0).dtype())) return std::nullopt;
  // form < 0, of a <= b: a - b - 1 < 0.
  IndexForm form = FormOfLoops(condition.operand(0), nest);
  form.Add(FormOfLoops(condition.operand(1), nest), -1);
  if (op == Op::kLe || op == Op::kGt) form.constant -= 1;
  if (op == Op::kGt || op == Op::kGe) {
    IndexForm negated;
    negated.Add(form, -1);
    form = std::move(negated);
    // a >= b: b - a - 1 < 0; a > b: b - a < 0, and 1 was taken off a - b.
    form.constant -= 1;
  }
  if (!form.opaque.empty()) return std::nullopt;
  Inequality result;
  result.bound = -form.constant;
  for (const IndexForm::Linear& term : form.linear) {
    const int64_t extent = nest.extent(term.loop);
    // Falling terms rise when their loop is counted from its end.
    if (term.coefficient < 0) result.bound -= term.coefficient * (extent - 1);
    result.terms.push_back({std::abs(term.coefficient), extent, 0, 1});
  }
  std::sort(result.terms.begin(), result.terms.end(),
            [](const auto& a, const auto& b) {
              return a.coefficient > b.coefficient;
            });
  int64_t rest = 0;
  double points = 1;
  for (auto term = result.terms.rbegin(); term != result.terms.rend(); ++term) {
    term->rest = rest;
    term->rest_points = points;
    rest += term->coefficient * (term->extent - 1);
    points *= static_cast<double>(term->extent);
  }
  return result;
}

// Points below `bound`, of terms `first` and later.
double CountBelow(const Inequality& inequality, size_t first, int64_t bound) {
  if (bound <= 0) return 0;
  if (first == inequality.terms.size()) return 1;
  const Inequality::Term& term = inequality.terms[first];
  // Values of this loop with which all later points are below the bound.
  const int64_t whole =
      bound <= term.rest
          ? 0
          : std::min((bound - term.rest - 1) / term.coefficient + 1,
                     term.extent);
  double count = static_cast<double>(whole) * term.rest_points;
  for (int64_t value = whole;
       value < term.extent && value * term.coefficient < bound; ++value) {
    count +=
        CountBelow(inequality, first + 1, bound - value * term.coefficient);
  }
  return count;
}

double ShareBelow(const Inequality& inequality) {
  double points = 1;
  for (const Inequality::Term& term : inequality.terms) {
    points *= static_cast<double>(term.extent);
  }
  return CountBelow(inequality, 0, inequality.bound) / points;
}

// Conditions that must hold together, and the loops they speak of.
struct Group {
  std::vector<Expr> conditions;
  LoopSet loops = 0;
};

void Split(const Expr& condition, std::vector<Expr>& parts) {
  if (condition.op() == Op::kAnd) {
    Split(condition.operand(0), parts);
    Split(condition.operand(1), parts);
  } else {
    parts.push_back(condition);
  }
}

std::vector<Group> GroupByLoops(absl::Span<const Expr> conditions,
                                const LoopNest& nest) {
  std::vector<Expr> parts;
  for (const Expr& condition : conditions) Split(condition, parts);
  std::vector<Group> groups;
  for (Expr& part : parts) {
    Group group;
    Visit(part, [&](const Expr& node) {
      if (node.op() != Op::kVar) return;
      const int loop = nest.Find(node.var_id());
      if (loop >= 0) group.loops |= LoopSet{1} << loop;
    });
    group.conditions = {std::move(part)};
    for (size_t i = 0; i < groups.size();) {
      if ((groups[i].loops & group.loops) == 0) {
        ++i;
        continue;
      }
      group.loops |= groups[i].loops;
      group.conditions.insert(group.conditions.end(),
                              groups[i].conditions.begin(),
                              groups[i].conditions.end());
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// The share by looking at points: all, or some that are spread evenly.
double ShareOfPoints(const Group& group, const LoopNest& nest, double points) {
  std::array<int64_t, kMaxLoops> point{};
  const auto span = absl::MakeConstSpan(point).subspan(0, nest.size());
  const bool all = points <= kMaxPoints;
  const int looked_at = all ? static_cast<int>(points) : kSampledPoints;
  int hold = 0;
  for (int i = 0; i < looked_at; ++i) {
    // Multiples of the golden ratio fill 0 .. points evenly.
    const double golden = i * 0.61803398874989484820;
    auto number = static_cast<int64_t>(
        all ? i : (golden - static_cast<int64_t>(golden)) * points);
    for (int loop = nest.size() - 1; loop >= 0; --loop) {
      if ((group.loops >> loop & 1) == 0) continue;
      point[loop] = number % nest.extent(loop);
      number /= nest.extent(loop);
    }
    hold += std::all_of(group.conditions.begin(), group.conditions.end(),
                        [&](const Expr& condition) {
                          return ValueAt(condition, nest, span) != 0;
                        })
                ? 1
                : 0;
  }
  return static_cast<double>(hold) / looked_at;
}

double ShareOfGroup(const Group& group, const LoopNest& nest) {
  if (group.conditions.size() == 1) {
    const auto inequality = ToInequality(group.conditions[0], nest);
    if (inequality.has_value()) return ShareBelow(*inequality);
  }
  double points = 1;
  for (int loop = 0; loop < nest.size(); ++loop) {
    if (group.loops >> loop & 1)
      points *= static_cast<double>(nest.extent(loop));
  }
  if (points > kMaxPoints) {
    double left_out = 0;
    bool all_linear = true;
    for (const Expr& condition : group.conditions) {
      const auto inequality = ToInequality(condition, nest);
      all_linear &= inequality.has_value();
      if (inequality.has_value()) left_out += 1 - ShareBelow(*inequality);
    }
    if (all_linear && left_out < 1) return 1 - left_out;
  }
  return ShareOfPoints(group, nest, points);
}

}  // namespace

double ShareOfSteps(absl::Span<const Expr> conditions, const LoopNest& nest) {
  double share = 1;
  for (const Group& group : GroupByLoops(conditions, nest)) {
    share *= ShareOfGroup(group, nest);
  }
  return share;
}

}  // namespace tilewright::costmodel
