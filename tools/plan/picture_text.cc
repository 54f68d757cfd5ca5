#include "tools/plan/picture_text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace tilewright::tools {
namespace {

// Three digits.
std::string Digits(double value) {
  const int after = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return absl::StrFormat("%.*f", after, value);
}

std::string Scaled(double value, double step,
                   const std::vector<const char*>& units) {
  size_t unit = 0;
  while (unit + 1 < units.size() && value >= 0.9995 * step) {
    value /= step;
    ++unit;
  }
  const bool whole = std::floor(value) == value && value < 1000;
  return absl::StrCat(whole ? absl::StrFormat("%.0f", value) : Digits(value),
                      " ", units[unit]);
}

bool Continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

std::string BytesText(double bytes) {
  return Scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB"});
}

std::string SecondsText(double seconds) {
  return Scaled(seconds * 1e6, 1000, {"µs", "ms", "s"});
}

std::string FlopsText(double flops) {
  return Scaled(flops * 1e-6, 1000, {"MFLOP", "GFLOP", "TFLOP"});
}

std::string TileText(const std::vector<int64_t>& tile) {
  return absl::StrJoin(tile, "×");
}

std::string Escaped(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string Clipped(absl::string_view text, int most) {
  int characters = 0;
  size_t keep = 0;  // bytes of most - 1 characters
  for (size_t i = 0; i < text.size(); ++i) {
    if (Continues(text[i])) continue;
    if (characters == most - 1) keep = i;
    ++characters;
  }
  if (characters <= most) return std::string(text);
  return absl::StrCat(text.substr(0, keep), "…");
}

}  // namespace tilewright::tools
