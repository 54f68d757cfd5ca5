// A space of possible decisions: a finite set of values with a text form.
// Values are short vectors of integers, so that every consumer (search, cost
// model, records) handles all kinds of spaces alike.
//
//   kind         a value is                      text form of a value
//   one-of       the index of a named option     packed
//   integers     one number of a range           6
//   split        factors, outermost first        8x14
//   permutation  an order of names               (n, k, m)
//   composite    its parts, one after another    vectors 2, rows 14
#ifndef TILEWRIGHT_TILEGRAPH_DECISION_SPACE_H_
#define TILEWRIGHT_TILEGRAPH_DECISION_SPACE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"

namespace tilewright {

using DecisionValue = std::vector<int64_t>;

// Factors of an extent. With tails the outermost factor is what covers the
// extent: ceil(extent / product of the others); without, the product is the
// extent. No factor has an iteration that only others' tails would fill.
// REQUIRES: extent >= 1, parts >= 1; one part alone has no cap below extent.
struct SplitSpace {
  int64_t extent = 1;
  int parts = 2;
  int64_t innermost_cap = 0;  // 0: none
  bool tails = true;
};

// Immutable, never empty, cheap to copy.
class Space {
 public:
  enum class Kind : uint8_t {
    kOneOf,
    kIntegers,
    kSplit,
    kPermutation,
    kComposite
  };

  // REQUIRES: names are distinct, of letters, digits and "_-.()/*=+".
  static Space OneOf(std::vector<std::string> options);
  // REQUIRES: least <= most.
  static Space Integers(int64_t least, int64_t most);
  static Space Split(const SplitSpace& split);
  // REQUIRES: as for options, without parentheses; names of parts likewise.
  static Space Permutation(std::vector<std::string> names);
  // Parts that are decided together: combinations of their values that `admits`
  // accepts, if it is set. It is kept with the space, in tables: it captures by
  // value, and is a pure function. REQUIRES: some value is admitted; without
  // `admits`, of any size, with it of at most 2^20 values before it. Both are
  // checked where values are listed.
  struct Part;
  using Admits = std::function<bool(const DecisionValue&)>;
  static Space Composite(std::vector<Part> parts, Admits admits = nullptr);

  Kind kind() const;
  // Names of a one-of's options.
  const std::vector<std::string>& options() const;
  // Number of values. Exact up to 2^53.
  double size() const;
  bool Contains(const DecisionValue& value) const;

  // Every value equally often.
  DecisionValue Draw(Random& random) const;
  // The value itself if it is one; otherwise one of least distance (of
  // logarithms, for numbers; the outermost factor of a split follows from the
  // others and does not count): the first such one in the order of Values().
  // For a value of another length, the first value.
  DecisionValue Nearest(const DecisionValue& value) const;
  // Values that differ little: another option; the next smaller and larger
  // number, its half and double; a factor moved from one part of a split to
  // another, or one step; two neighbours exchanged; one part's neighbours. All
  // are members, none is `value`, none stands twice. REQUIRES: a member.
  std::vector<DecisionValue> Neighbours(const DecisionValue& value) const;
  // The first `most` values, in a fixed order.
  std::vector<DecisionValue> Values(size_t most) const;

  // The space in one line: "split 56 in 2, innermost <= 14, tails".
  std::string ToString() const;
  // REQUIRES: the right form: its length, and indices of names that there are.
  std::string Print(const DecisionValue& value) const;
  // The inverse of Print, of values that need not be members but have the right
  // form; InvalidArgument says which form that is, and of one-of which options
  // there are. Blanks beside commas and at both ends do not count.
  absl::StatusOr<DecisionValue> Parse(std::string_view text) const;

  // Internal: what one kind implements (space_rep.h).
  class Rep;
  const Rep& rep() const { return *rep_; }

 private:
  explicit Space(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}
  std::shared_ptr<const Rep> rep_;
};

struct Space::Part {
  std::string name;
  Space space;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_DECISION_SPACE_H_
