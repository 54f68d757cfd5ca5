// Random answers over groups of every family: each option of each decision
// between named options stands in some table whose schedule replays. Where one
// never does, a space promises what no schedule keeps, or samples lack a group.
//
// TILEWRIGHT_RANDOM_CASES sets the number of groups (6600 by default).
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/sample_groups.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/table.h"

namespace tilewright::sketch {
namespace {

struct Seen {
  int asked = 0;       // in schedules that replay
  double largest = 0;  // size of its spaces
  // Options, and how often they were there to be taken.
  std::map<std::string, int> options;
  std::set<std::string> taken;
};

// Stages are numbered; what is decided of them is not.
std::string WithoutNumbers(std::string name) {
  std::string text;
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) text += c;
    if (digit && (text.empty() || text.back() != '#')) text += '#';
  }
  return text;
}

// By generator, then by name.
using Coverage = std::map<std::string, std::map<std::string, Seen>>;

void Count(const DecisionTable& table, std::map<std::string, Seen>& seen) {
  for (const Decision& decision : table) {
    Seen& s = seen[WithoutNumbers(decision.name)];
    ++s.asked;
    s.largest = std::max(s.largest, decision.space.size());
    if (decision.space.kind() != Space::Kind::kOneOf) continue;
    for (const std::string& option : decision.space.options())
      ++s.options[option];
    s.taken.insert(decision.space.Print(decision.value));
  }
}

// Options that name axes of a few graphs alone are seldom there.
constexpr int kOffers = 60;

void NameOnly(std::string* text, const std::pair<const std::string, int>& one) {
  text->append(one.first);
}

TEST(DecisionCoverageTest, EveryOptionComesUpInASchedule) {
  const char* text = std::getenv("TILEWRIGHT_RANDOM_CASES");
  const int64_t cases = text == nullptr ? 6600 : std::atoll(text);
  Coverage coverage;
  for (int64_t seed = 0; seed < cases; ++seed) {
    const SampleGroup group = DrawSampleGroup(static_cast<uint64_t>(seed));
    std::map<std::string, Seen>& seen = coverage[group.generator.name];
    RandomPolicy policy(static_cast<uint64_t>(seed));
    Decider decider(policy);
    const absl::StatusOr<Schedule> schedule =
        Generate(group.generator, group.workload, group.spec, decider);
    const absl::Status status = schedule.ok()
                                    ? Replay(group.workload, *schedule).status()
                                    : schedule.status();
    if (status.ok()) {
      Count(decider.decisions(), seen);
    } else {
      EXPECT_TRUE(absl::IsInvalidArgument(status))
          << group.source << ", seed " << seed << ": " << status;
    }
  }
  for (const auto& [generator, seen] : coverage) {
    std::printf("%s:%s\n", generator.c_str(),
                seen.empty() ? " decides nothing" : "");
    for (const auto& [name, s] : seen) {
      std::printf("  %-24s asked %5d, up to %g values%s%s\n", name.c_str(),
                  s.asked, s.largest, s.options.empty() ? "" : ": ",
                  absl::StrJoin(s.options, " ", NameOnly).c_str());
      std::vector<std::string> never;
      for (const auto& [option, offered] : s.options) {
        if (offered >= kOffers && s.taken.count(option) == 0)
          never.push_back(option);
      }
      EXPECT_TRUE(never.empty())
          << generator << ": " << name << " was never "
          << absl::StrJoin(never, ", ") << " in a schedule that replays";
    }
  }
  EXPECT_GT(coverage.size(), 5u);
}

}  // namespace
}  // namespace tilewright::sketch
