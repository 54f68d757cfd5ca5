// The interface that each kind of Space implements. Internal to space*.cc.
#ifndef TILEWRIGHT_TILEGRAPH_DECISION_SPACE_REP_H_
#define TILEWRIGHT_TILEGRAPH_DECISION_SPACE_REP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/random.h"
#include "tilegraph/decision/space.h"

namespace tilewright {

// Distances that differ by less are equal: what rounding of logarithms leaves.
inline constexpr double kEqualDistance = 1e-9;

class Space::Rep {
 public:
  using Value = absl::Span<const int64_t>;
  // Returns whether to go on.
  using Visit = absl::FunctionRef<bool(Value)>;

  Rep(Kind kind, size_t length) : kind(kind), length(length) {}
  virtual ~Rep() = default;

  // Every Value below, in and out, has this length.
  const Kind kind;
  const size_t length;

  virtual double size() const = 0;
  virtual bool Contains(Value value) const = 0;
  virtual void Draw(Random& random, absl::Span<int64_t> value) const = 0;
  // Takes any numbers; for a member it gives the member itself.
  virtual void Nearest(Value value, absl::Span<int64_t> nearest) const = 0;
  // The distance of any numbers from a member.
  virtual double Distance(Value value, Value member) const = 0;
  // A superset of the neighbours of a member: `value` itself, repetitions and
  // no members are taken out later.
  virtual std::vector<DecisionValue> NeighbourCandidates(Value value) const = 0;
  // Visits values in their fixed order; returns whether it reached the end.
  virtual bool ForEach(Visit visit) const = 0;

  virtual std::string ToString() const = 0;
  virtual std::string Print(Value value) const = 0;
  // Reads text without blanks at its ends.
  virtual absl::StatusOr<DecisionValue> Parse(std::string_view text) const = 0;
};

// How far two numbers lie apart: octaves, for positive ones. Strictly monotone
// in either on both sides of the other.
double NumberDistance(int64_t a, int64_t b);

// REQUIRES: names are distinct, not empty, of letters, digits and `others`.
void CheckNames(const std::vector<std::string>& names, std::string_view others);
inline constexpr std::string_view kNameCharacters = "_-./*=+";
inline constexpr std::string_view kOptionCharacters = "_-./*=+()";

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_DECISION_SPACE_REP_H_
