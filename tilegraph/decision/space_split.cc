#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/string_view.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/space_rep.h"

namespace tilewright {
namespace {

constexpr int64_t kNoCap = std::numeric_limits<int64_t>::max();

// A uniform whole number below `count`, itself a whole number.
double DrawBelow(double count, Random& random) {
  if (count <= 0x1p53) {
    return static_cast<double>(
        random.UniformInt(0, static_cast<int64_t>(count) - 1));
  }
  return std::floor(random.Uniform() * count);
}

std::vector<int64_t> Divisors(int64_t n) {
  std::vector<int64_t> low, high;
  for (int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d != n / d) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

// In how many ways n is a product of `parts` factors, in order.
double CountFactorizations(int64_t n, int parts) {
  double count = 1;
  for (int64_t p = 2; n > 1; ++p) {
    if (p > n / p) p = n;  // what is left is prime
    // The prime's exponent e is distributed over the parts: C(e+parts-1, e).
    for (int e = 1; n % p == 0; ++e) {
      n /= p;
      count = count * (parts - 1 + e) / e;
    }
  }
  return count;
}

// Factors are chosen from the innermost outwards. `rest` is how many times all
// factors chosen so far must be repeated to cover the extent; the outermost
// factor is the last rest.
class SplitRep : public Space::Rep {
 public:
  explicit SplitRep(const SplitSpace& split)
      : Rep(Space::Kind::kSplit, static_cast<size_t>(split.parts)),
        split_(split),
        cap_(split.innermost_cap == 0 ? kNoCap : split.innermost_cap) {
    TW_CHECK_GE(split.extent, 1);
    TW_CHECK_GE(split.parts, 1);
    TW_CHECK_GE(split.innermost_cap, 0);
    TW_CHECK(split.parts > 1 || cap_ >= split.extent) << ToString();
  }

  double size() const override { return Count(split_.extent, length, cap_); }

  bool Contains(Value value) const override {
    int64_t rest = split_.extent;
    for (size_t i = length; i-- > 1;) {
      const int64_t factor = value[i];
      if (factor < 1 || factor > std::min(rest, Cap(i))) return false;
      if (!split_.tails && rest % factor != 0) return false;
      rest = Rest(rest, factor);
    }
    return value[0] == rest;
  }

  void Draw(Random& random, absl::Span<int64_t> value) const override {
    int64_t rest = split_.extent;
    for (size_t i = length; i-- > 1;) {
      double index = DrawBelow(Count(rest, i + 1, Cap(i)), random);
      ForEachRun(rest, Cap(i), [&](int64_t first, int64_t last, int64_t next) {
        const double each = Count(next, i, kNoCap);
        const double run = each * static_cast<double>(last - first + 1);
        // The last run keeps what rounding of huge counts leaves over.
        value[i] = std::min(first + static_cast<int64_t>(index / each), last);
        index -= run;
        return index >= 0;
      });
      rest = Rest(rest, value[i]);
    }
    value[0] = rest;
  }

  void Nearest(Value value, absl::Span<int64_t> nearest) const override {
    double best = std::numeric_limits<double>::infinity();
    DecisionValue tried(length);
    Search(value, split_.extent, length - 1, 0, tried, best, nearest);
  }

  double Distance(Value value, Value member) const override {
    double distance = 0;
    for (size_t i = 1; i < length; ++i) {
      distance += NumberDistance(value[i], member[i]);
    }
    return distance;
  }

  std::vector<DecisionValue> NeighbourCandidates(Value value) const override {
    std::vector<DecisionValue> candidates;
    const auto add = [&](DecisionValue candidate) {
      Cover(candidate);
      candidates.push_back(std::move(candidate));
    };
    const DecisionValue member(value.begin(), value.end());
    for (size_t i = 1; i < length; ++i) {
      for (const int64_t factor : NextFactors(member, i)) {
        DecisionValue candidate = member;
        candidate[i] = factor;
        add(std::move(candidate));
      }
    }
    for (size_t from = 0; from < length; ++from) {
      for (const int64_t prime : Divisors(member[from])) {
        if (CountFactorizations(prime, 2) != 2) continue;
        for (size_t to = 0; to < length; ++to) {
          if (to == from) continue;
          DecisionValue candidate = member;
          candidate[from] /= prime;
          candidate[to] *= prime;
          add(std::move(candidate));
        }
      }
    }
    return candidates;
  }

  bool ForEach(Visit visit) const override {
    DecisionValue value(length);
    return ForEachFrom(split_.extent, length - 1, value, visit);
  }

  std::string ToString() const override {
    return absl::StrCat(
        "split ", split_.extent, " in ", split_.parts,
        split_.innermost_cap == 0 ? "" : absl::StrCat(", innermost <= ", cap_),
        split_.tails ? ", tails" : ", no tails");
  }

  std::string Print(Value value) const override {
    return absl::StrJoin(value, "x");
  }

  absl::StatusOr<DecisionValue> Parse(std::string_view text) const override {
    DecisionValue value;
    bool numbers = true;
    for (absl::string_view word : absl::StrSplit(ToAbsl(text), 'x')) {
      int64_t& factor = value.emplace_back();
      numbers = numbers && absl::SimpleAtoi(word, &factor) && factor >= 1;
    }
    if (!numbers || value.size() != length) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", ToAbsl(text), "' is not ", length,
                       " positive factors, such as 8x14 (", ToString(), ")"));
    }
    return value;
  }

 private:
  int64_t Cap(size_t part) const { return part + 1 == length ? cap_ : kNoCap; }

  static int64_t Rest(int64_t rest, int64_t factor) {
    return (rest - 1) / factor + 1;  // of exact divisors the quotient
  }

  // How many choices of factors cover `rest` with the outermost `parts`.
  double Count(int64_t rest, size_t parts, int64_t cap) const {
    if (parts == 1) return 1;
    if (split_.tails && parts == 2) {
      return static_cast<double>(std::min(rest, cap));
    }
    if (!split_.tails && cap >= rest) {
      return CountFactorizations(rest, static_cast<int>(parts));
    }
    double count = 0;
    ForEachRun(rest, cap, [&](int64_t first, int64_t last, int64_t next) {
      count += static_cast<double>(last - first + 1) *
               Count(next, parts - 1, kNoCap);
      return true;
    });
    return count;
  }

  // Runs [first, last] of factors that leave the same rest, in order, until
  // `visit` says false: at most 2 sqrt(rest) of them.
  template <typename Visit>
  bool ForEachRun(int64_t rest, int64_t cap, Visit visit) const {
    const int64_t most = std::min(rest, cap);
    if (!split_.tails) {
      for (const int64_t d : Divisors(rest)) {
        if (d > most) break;
        if (!visit(d, d, rest / d)) return false;
      }
      return true;
    }
    for (int64_t first = 1, last; first <= most; first = last + 1) {
      const int64_t whole = (rest - 1) / first;
      last = whole == 0 ? most : std::min(most, (rest - 1) / whole);
      if (!visit(first, last, whole + 1)) return false;
    }
    return true;
  }

  bool ForEachFrom(int64_t rest, size_t part, DecisionValue& value,
                   Visit visit) const {
    if (part == 0) {
      value[0] = rest;
      return visit(value);
    }
    return ForEachRun(rest, Cap(part),
                      [&](int64_t first, int64_t last, int64_t next) {
                        for (int64_t factor = first; factor <= last; ++factor) {
                          value[part] = factor;
                          if (!ForEachFrom(next, part - 1, value, visit))
                            return false;
                        }
                        return true;
                      });
  }

  // Branch and bound over the parts up to `part`; of a run only its factor
  // nearest to the value can be best.
  void Search(Value value, int64_t rest, size_t part, double distance,
              DecisionValue& tried, double& best,
              absl::Span<int64_t> nearest) const {
    if (distance > best - kEqualDistance) return;
    if (part == 0) {
      tried[0] = rest;
      best = distance;
      std::copy(tried.begin(), tried.end(), nearest.begin());
      return;
    }
    ForEachRun(rest, Cap(part), [&](int64_t first, int64_t last, int64_t next) {
      tried[part] = std::clamp(value[part], first, last);
      Search(value, next, part - 1,
             distance + NumberDistance(value[part], tried[part]), tried, best,
             nearest);
      return true;
    });
  }

  // Sets the outermost factor to what covers the extent, if all others can be.
  void Cover(DecisionValue& value) const {
    int64_t rest = split_.extent;
    for (size_t i = length; i-- > 1;) rest = Rest(rest, value[i]);
    value[0] = rest;
  }

  // Values of one factor near that of a member, the others kept.
  std::vector<int64_t> NextFactors(const DecisionValue& member,
                                   size_t part) const {
    const int64_t factor = member[part];
    if (split_.tails) {
      std::vector<int64_t> next = {factor + 1, factor * 2};
      if (factor > 1) next.insert(next.begin(), {factor - 1, factor / 2});
      return next;
    }
    const std::vector<int64_t> divisors = Divisors(factor * member[0]);
    const auto it = std::find(divisors.begin(), divisors.end(), factor);
    std::vector<int64_t> next;
    if (it != divisors.begin()) next.push_back(*(it - 1));
    if (it + 1 != divisors.end()) next.push_back(*(it + 1));
    return next;
  }

  const SplitSpace split_;
  const int64_t cap_;
};

}  // namespace

Space Space::Split(const SplitSpace& split) {
  return Space(std::make_shared<SplitRep>(split));
}

}  // namespace tilewright
