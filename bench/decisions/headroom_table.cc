#include "bench/decisions/headroom_table.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tilewright::bench {
namespace {

std::string Cell(const std::optional<Speedup>& speedup) {
  return speedup ? absl::StrFormat("%.3f (%.3f to %.3f)", speedup->median,
                                   speedup->least, speedup->most)
                 : std::string("-");
}

std::string Counts(const SourceHeadroom& source) {
  return absl::StrCat(source.refused, " / ", source.equal, " / ", source.wrong,
                      " / ", source.failed);
}

}  // namespace

std::string HeadroomHead() {
  return "| workload | rule us | rule again | best random | best mutated | "
         "pruned | random: refused / equal / wrong / failed | mutated | what "
         "the pruned one decides otherwise |\n"
         "|---|---|---|---|---|---|---|---|---|\n";
}

std::string HeadroomRow(const std::string& name, const Headroom& headroom) {
  return absl::StrCat(
      "| ", name, " | ", absl::StrFormat("%.1f", headroom.rule_us), " | ",
      Cell(headroom.again), " | ", Cell(headroom.random.speedup), " | ",
      Cell(headroom.mutated.speedup), " | ", Cell(headroom.pruned_speedup),
      " | ", Counts(headroom.random), " | ", Counts(headroom.mutated), " | ",
      headroom.pruned ? DifferenceOf(headroom.rule, *headroom.pruned)
                      : std::string("-"),
      " |\n");
}

}  // namespace tilewright::bench
