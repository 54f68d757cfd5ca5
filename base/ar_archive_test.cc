#include "base/ar_archive.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using absl::StatusCode;

TEST(ArArchiveTest, AMemberIsWhatArWrites) {
  EXPECT_EQ(WriteArArchive({{"a", "xyz"}}),
            "!<arch>\n"
            "a/              0           0     0     644     3         `\n"
            "xyz\n");
  EXPECT_EQ(WriteArArchive({}), "!<arch>\n");
}

TEST(ArArchiveTest, MembersComeBackUnderTheirNames) {
  const std::string longest(300, 'n');
  const std::vector<ArMember> members = {{"k0", "even"},
                                         {longest, std::string("\0odd\n", 5)},
                                         {"of_16_characters", ""},
                                         {"of_15_character", "!<arch>\n"},
                                         {longest + "2", "x"}};
  const std::string archive = WriteArArchive(members);
  EXPECT_TRUE(IsArArchive(archive));
  TW_ASSERT_OK_AND_ASSIGN(const auto read, ReadArArchive(archive));
  ASSERT_EQ(read.size(), members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(read[i].name, members[i].name);
    EXPECT_EQ(read[i].bytes, members[i].bytes);
  }
}

TEST(ArArchiveTest, CutsAreRefused) {
  const size_t magic = WriteArArchive({}).size();
  const size_t first = WriteArArchive({{"a", "12345"}}).size();
  const std::string archive = WriteArArchive({{"a", "12345"}, {"b", "678"}});
  for (size_t size = 0; size <= archive.size(); ++size) {
    const auto read = ReadArArchive(archive.substr(0, size));
    // Cuts between members; the line break behind the last may be missing.
    const bool whole = size == magic || size == first - 1 || size == first ||
                       size == archive.size() - 1 || size == archive.size();
    if (whole) {
      TW_EXPECT_OK(read.status());
    } else {
      EXPECT_THAT(read, StatusIs(StatusCode::kInvalidArgument)) << size;
    }
  }
}

TEST(ArArchiveTest, WhateverTheBytesNothingOutsideIsRead) {
  constexpr std::string_view kLikely = "/ 0123456789\n`a";
  const std::string archive =
      WriteArArchive({{std::string(40, 'a'), "12345"}, {"b", "678"}});
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = archive;
    for (int n = 0; n < 3; ++n)
      changed[random.Index(changed.size())] =
          kLikely[random.Index(kLikely.size())];
    const auto read = ReadArArchive(changed);
    if (!read.ok()) continue;
    for (const ArView& member : *read) {
      EXPECT_GE(member.bytes.data(), changed.data());
      EXPECT_LE(member.bytes.data() + member.bytes.size(),
                changed.data() + changed.size());
    }
  }
}

}  // namespace
}  // namespace tilewright
