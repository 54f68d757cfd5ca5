// The table of a generator's decisions, and the answers by which a table steers
// its next run. From one table others are made: mutated, crossed.
#ifndef TILEWRIGHT_TILEGRAPH_DECISION_TABLE_H_
#define TILEWRIGHT_TILEGRAPH_DECISION_TABLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "tilegraph/decision/space.h"

namespace tilewright {

// Whether another value of a decision may change bits of the result: the order
// of sums, Winograd, fewer passes.
enum class Bits : uint8_t { kSame, kMayChange };

struct Decision {
  std::string name;
  Space space;
  DecisionValue value;  // a member of `space`
  Bits bits = Bits::kSame;
};

// In the order in which they were asked for; names are distinct.
using DecisionTable = std::vector<Decision>;

// Name -> the text of a value. Text, because the space depends on the run.
using Answers = std::map<std::string, std::string>;
Answers AnswersOf(const DecisionTable& table);

// One line per decision: "tile.rows = 14  # integers 1..31, 31 values" and, if
// so, ", may change bits"; those of one value are left out.
std::string ToString(const DecisionTable& table);
// Parses such lines; '#' begins a comment. InvalidArgument names the line that
// is no "NAME = VALUE" or names a decision twice.
absl::StatusOr<Answers> ParseAnswers(std::string_view text);

// `changes` entries that have neighbours take a near value (three times in
// four) or any value of their space. Fewer if the table has fewer such entries.
Answers Mutate(const DecisionTable& table, int changes, Random& random);
// Each entry from one of both, by name; those of one table alone stay.
Answers Cross(const DecisionTable& a, const DecisionTable& b, Random& random);

// Knuth's estimate of the number of tables, from one whose entries were drawn
// at random: the product of the sizes of its spaces ("Estimating the efficiency
// of backtrack programs", 1975).
double EstimateTables(const DecisionTable& table);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_DECISION_TABLE_H_
