#include "base/file.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using absl::StatusCode;

constexpr int64_t kLimitBytes = 1 << 20;

// An empty folder for the running test.
std::string Folder() {
  const std::string folder =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

int FilesIn(const std::string& folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(folder)) {
    ++count;
  }
  return count;
}

TEST(FileTest, BytesRoundTripAndNoTemporaryFileRemains) {
  const std::string folder = Folder();
  const std::string path = folder + "/f";
  for (const std::string& contents :
       {std::string("a\0b\n", 4), std::string(), std::string(100000, 'x')}) {
    TW_ASSERT_OK(WriteFileAtomically(path, contents));
    EXPECT_THAT(ReadFile(path, kLimitBytes), IsOkAndHolds(contents));
  }
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(FileTest, PartsFollowOneAnother) {
  const std::string path = Folder() + "/f";
  const std::string_view parts[] = {"one", "", "two", "3"};
  TW_ASSERT_OK(WriteFileAtomically(path, parts));
  EXPECT_THAT(ReadFile(path, kLimitBytes), IsOkAndHolds("onetwo3"));
}

TEST(FileTest, TheSizeLimitIsExact) {
  const std::string path = Folder() + "/f";
  TW_ASSERT_OK(WriteFileAtomically(path, "12345"));
  EXPECT_THAT(ReadFile(path, 5), IsOkAndHolds("12345"));
  EXPECT_THAT(ReadFile(path, 4),
              StatusIs(StatusCode::kResourceExhausted, "4 bytes allowed"));
}

TEST(FileTest, FilesThatClaimToBeEmptyAreReadToTheirEnd) {
  TW_ASSERT_OK_AND_ASSIGN(std::string status,
                          ReadFile("/proc/self/status", kLimitBytes));
  EXPECT_NE(status.find("Pid:"), std::string::npos);
}

TEST(FileTest, MissingFilesAndFoldersAreNamed) {
  const std::string folder = Folder();
  EXPECT_THAT(ReadFile(folder + "/none", kLimitBytes),
              StatusIs(StatusCode::kNotFound, folder + "/none"));
  EXPECT_THAT(ReadFile(folder, kLimitBytes),
              StatusIs(StatusCode::kInvalidArgument, "it is a folder"));
  EXPECT_THAT(ReadFile("/dev/zero", kLimitBytes),
              StatusIs(StatusCode::kInvalidArgument, "no regular file"));
  EXPECT_THAT(WriteFileAtomically(folder + "/none/f", "x"),
              StatusIs(StatusCode::kNotFound, "no such file or folder"));
  EXPECT_THAT(WriteFileAtomically(folder, "x"),
              StatusIs(StatusCode::kInvalidArgument, "it is a folder"));
}

TEST(FileTest, AFullDiskIsSaidAndDevicesStayDevices) {
  EXPECT_THAT(
      WriteFileAtomically("/dev/full", "x"),
      StatusIs(StatusCode::kResourceExhausted, "the disk is full; free space"));
  TW_EXPECT_OK(WriteFileAtomically("/dev/null", "x"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(FileTest, AFailedWriteKeepsTheOldFileAndRemovesTheTemporaryOne) {
  const std::string folder = Folder();
  const std::string path = folder + "/f";
  TW_ASSERT_OK(WriteFileAtomically(path, "old"));
  rlimit old_limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  rlimit limit = old_limit;
  limit.rlim_cur = 1000;
  auto* old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const absl::Status status =
      WriteFileAtomically(path, std::string(100000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(status, StatusIs(StatusCode::kResourceExhausted, "ulimit"));
  EXPECT_THAT(ReadFile(path, kLimitBytes), IsOkAndHolds("old"));
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(FileTest, NewFilesFollowTheUmask) {
  const std::string path = Folder() + "/f";
  const mode_t old_mask = umask(027);
  TW_ASSERT_OK(WriteFileAtomically(path, "x"));
  umask(old_mask);
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

}  // namespace
}  // namespace tilewright
