// Numbers and names as a picture shows them.
#ifndef TILEWRIGHT_TOOLS_PLAN_PICTURE_TEXT_H_
#define TILEWRIGHT_TOOLS_PLAN_PICTURE_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tilewright::tools {

std::string BytesText(double bytes);                     // "384 KiB"
std::string SecondsText(double seconds);                 // "612 µs"
std::string FlopsText(double flops);                     // "0.60 GFLOP"
std::string TileText(const std::vector<int64_t>& tile);  // "1×48×2×56"

// For text and attributes of XML; control characters become spaces.
std::string Escaped(absl::string_view text);
// At most `most` characters of UTF-8, the last one "…" if there are more.
std::string Clipped(absl::string_view text, int most);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PLAN_PICTURE_TEXT_H_
