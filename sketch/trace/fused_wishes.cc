#include "sketch/trace/fused_wishes.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/string_view.h"

namespace tilewright::sketch {
namespace {

// Reads one line of the text into `wishes`; false if it is none.
bool ParseLine(absl::string_view line, FusedWishes& wishes) {
  if (absl::ConsumePrefix(&line, "tile ")) {
    if (!wishes.tile.empty()) return false;
    if (line.empty()) return true;
    for (const absl::string_view piece : absl::StrSplit(line, 'x')) {
      int64_t extent = 0;
      if (!absl::SimpleAtoi(piece, &extent) || extent < 1) return false;
      wishes.tile.push_back(extent);
    }
    return true;
  }
  if (!absl::ConsumePrefix(&line, "stage ")) return false;
  constexpr absl::string_view kBy = " by ";
  const size_t by = line.rfind(kBy);
  if (by == line.npos) return false;
  absl::StatusOr<Layout> layout = Layout::Parse(ToStd(line.substr(0, by)));
  int64_t reduce_step = 0;
  if (!layout.ok() ||
      !absl::SimpleAtoi(line.substr(by + kBy.size()), &reduce_step) ||
      reduce_step < 0) {
    return false;
  }
  wishes.stages.push_back({*std::move(layout), reduce_step});
  return true;
}

}  // namespace

std::string FusedWishes::ToString() const {
  std::string text = absl::StrCat("tile ", absl::StrJoin(tile, "x"), "\n");
  for (const Stage& stage : stages)
    absl::StrAppend(&text, "stage ", stage.layout.ToString(), " by ",
                    stage.reduce_step, "\n");
  return text;
}

absl::StatusOr<FusedWishes> FusedWishes::Parse(std::string_view text) {
  FusedWishes wishes;
  for (const absl::string_view line :
       absl::StrSplit(ToAbsl(text), '\n', absl::SkipEmpty())) {
    if (!ParseLine(line, wishes)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", line, "' is no wish of a fused group: expected tile 1x32x64 or ",
          "stage LAYOUT by STEPS"));
    }
  }
  return wishes;
}

}  // namespace tilewright::sketch
