#include "base/ar_archive.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/string_view.h"

namespace tilewright {
namespace {

constexpr std::string_view kMagic = "!<arch>\n";
constexpr std::string_view kHeaderEnd = "`\n";
constexpr std::string_view kLongNames = "//";
// Bytes of a header, and of the name in it, which a '/' ends.
constexpr size_t kHeaderBytes = 60, kNameBytes = 16;
constexpr size_t kSizeAt = 48, kSizeBytes = 10;
constexpr size_t kAlignment = 2;  // of members, with a line break between

void Append(std::string_view name, std::string_view bytes,
            std::string& archive) {
  absl::StrAppendFormat(&archive, "%-16s%-12d%-6d%-6d%-8o%-10d%s",
                        std::string(name), 0, 0, 0, 0644, bytes.size(),
                        std::string(kHeaderEnd));
  archive.append(bytes.data(), bytes.size());
  if (bytes.size() % kAlignment != 0) archive += '\n';
}

absl::Status Damaged(size_t at) {
  return absl::InvalidArgumentError(
      absl::StrCat("an archive that is cut off or damaged at byte ", at));
}

// Without the spaces behind it.
std::string Field(std::string_view header, size_t at, size_t bytes) {
  return std::string(
      absl::StripTrailingAsciiWhitespace(ToAbsl(header.substr(at, bytes))));
}

}  // namespace

std::string WriteArArchive(const std::vector<ArMember>& members) {
  std::string archive(kMagic), long_names;
  std::vector<std::string> names;
  for (const ArMember& member : members) {
    TW_CHECK(!member.name.empty() &&
             member.name.find_first_of("/\n") == std::string::npos)
        << "'" << member.name << "' is no name of a member";
    if (member.name.size() < kNameBytes) {
      names.push_back(absl::StrCat(member.name, "/"));
    } else {
      names.push_back(absl::StrCat("/", long_names.size()));
      absl::StrAppend(&long_names, member.name, "/\n");
    }
  }
  if (!long_names.empty()) Append(kLongNames, long_names, archive);
  for (size_t i = 0; i < members.size(); ++i)
    Append(names[i], members[i].bytes, archive);
  return archive;
}

bool IsArArchive(std::string_view bytes) {
  return bytes.substr(0, kMagic.size()) == kMagic;
}

absl::StatusOr<std::vector<ArView>> ReadArArchive(std::string_view archive) {
  if (!IsArArchive(archive)) return Damaged(0);
  std::vector<ArView> members;
  std::string_view long_names;
  for (size_t at = kMagic.size(); at < archive.size();) {
    const std::string_view header = archive.substr(at, kHeaderBytes);
    if (header.size() < kHeaderBytes ||
        header.substr(kHeaderBytes - kHeaderEnd.size()) != kHeaderEnd)
      return Damaged(at);
    std::string name = Field(header, 0, kNameBytes);
    uint64_t size = 0;
    if (!absl::SimpleAtoi(Field(header, kSizeAt, kSizeBytes), &size) ||
        size > archive.size() - at - kHeaderBytes)
      return Damaged(at);
    const std::string_view bytes = archive.substr(at + kHeaderBytes, size);
    uint64_t place = 0;
    if (name == kLongNames) {
      long_names = bytes;
    } else if (name.size() > 1 && name[0] == '/' &&
               absl::SimpleAtoi(name.substr(1), &place)) {
      const size_t end = long_names.find("/\n", place);
      if (place >= long_names.size() || end == std::string_view::npos)
        return Damaged(at);
      members.push_back(
          {std::string(long_names.substr(place, end - place)), bytes});
    } else {
      if (name[0] != '/') name = name.substr(0, name.find('/'));
      members.push_back({std::move(name), bytes});
    }
    at += kHeaderBytes + size + size % kAlignment;
  }
  return members;
}

}  // namespace tilewright
