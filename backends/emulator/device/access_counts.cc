#include "backends/emulator/device/access_counts.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"

namespace tilewright::emulator {
namespace {

void Add(const PlaceCount& of, PlaceCount& to) {
  to.accesses += of.accesses;
  to.sectors += of.sectors;
  to.least_sectors += of.least_sectors;
  to.block_sectors += of.block_sectors;
  to.turns += of.turns;
  to.least_turns += of.least_turns;
}

int64_t Excess(const PlaceCount& c) {
  return c.sectors - c.least_sectors + c.turns - c.least_turns;
}

std::string Counts(const PlaceCount& c) {
  std::string text;
  if (c.sectors > 0)
    absl::StrAppend(&text, c.sectors, " sectors of ", c.least_sectors);
  if (c.turns > 0)
    absl::StrAppend(&text, text.empty() ? "" : ", ", c.turns, " turns of ",
                    c.least_turns);
  return absl::StrCat(c.accesses, " accesses, ", text);
}

}  // namespace

PlaceCount KernelCounts::Total() const {
  PlaceCount total = {};
  for (const CountedPlace& place : places) Add(place.count, total);
  return total;
}

std::string ToString(const KernelCounts& counts) {
  std::map<int64_t, CountedPlace> lines;  // by number
  for (const CountedPlace& place : counts.places) {
    CountedPlace& line = lines[place.count.line];
    line.text = place.text;
    line.count.line = place.count.line;
    Add(place.count, line.count);
  }
  std::vector<CountedPlace> worst;
  for (const auto& [number, line] : lines)
    if (Excess(line.count) > 0) worst.push_back(line);
  std::stable_sort(worst.begin(), worst.end(),
                   [](const CountedPlace& a, const CountedPlace& b) {
                     return Excess(a.count) > Excess(b.count);
                   });
  std::string text = absl::StrCat("kernel ", counts.kernel, ": ",
                                  Counts(counts.Total()), "\n");
  for (const CountedPlace& line : worst)
    absl::StrAppend(&text, "  line ", line.count.line, ": ", Counts(line.count),
                    ": ", line.text, "\n");
  return text;
}

}  // namespace tilewright::emulator
