#include "tools/profile/short_names.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace tilewright::tools {
namespace {

constexpr char kOutput[] = "_output_0";
constexpr char kEllipsis[] = "…";

// Without "_output_0" at the end, or before the ".sum" of a part of it.
std::string WithoutOutput(const std::string& name) {
  const size_t at = name.rfind(kOutput);
  if (at == std::string::npos) return name;
  const std::string rest = name.substr(at + sizeof(kOutput) - 1);
  return rest.empty() || rest[0] == '.' ? name.substr(0, at) + rest : name;
}

// "c", "b/c", "a/b/c" of "/a/b/c".
std::vector<std::string> Ends(const std::string& name) {
  const std::vector<std::string> parts =
      absl::StrSplit(name, '/', absl::SkipEmpty());
  std::vector<std::string> ends;
  for (size_t i = parts.size(); i-- > 0;)
    ends.push_back(absl::StrJoin(parts.begin() + i, parts.end(), "/"));
  return ends;
}

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

std::vector<std::string> ShortNames(const std::vector<std::string>& names) {
  const std::set<std::string> distinct(names.begin(), names.end());
  std::map<std::string, int> plain_count, end_count;
  for (const std::string& name : distinct) ++plain_count[WithoutOutput(name)];
  const auto plain = [&](const std::string& name) {
    const std::string without = WithoutOutput(name);
    return plain_count.at(without) == 1 ? without : name;
  };
  for (const std::string& name : distinct) {
    for (const std::string& end : Ends(plain(name))) ++end_count[end];
  }
  std::vector<std::string> result;
  for (const std::string& name : names) {
    std::string chosen = plain(name);
    for (const std::string& end : Ends(chosen)) {
      if (end_count.at(end) > 1) continue;
      chosen = end;
      break;
    }
    result.push_back(std::move(chosen));
  }
  return result;
}

int Columns(absl::string_view text) {
  return static_cast<int>(std::count_if(
      text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

std::string LastColumns(absl::string_view text, int columns) {
  int left = Columns(text);
  if (left <= columns) return std::string(text);
  size_t begin = 0;
  while (left > columns - 1 ||
         (begin < text.size() && IsContinuation(text[begin]))) {
    left -= !IsContinuation(text[begin]);
    ++begin;
  }
  return absl::StrCat(kEllipsis, text.substr(begin));
}

}  // namespace tilewright::tools
