#include "sketch/fused_wishes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tilewright::sketch {

std::string FusedWishes::ToString() const {
  std::string text = absl::StrCat("tile ", absl::StrJoin(tile, "x"), "\n");
  for (const Stage& stage : stages)
    absl::StrAppend(&text, "stage ", stage.layout.ToString(), " by ",
                    stage.reduce_step, "\n");
  return text;
}

}  // namespace tilewright::sketch
