// Each library of //third_party compiles, links and answers.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "benchmark/benchmark.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "sqlite3.h"
#include "third_party/versions.h"
#include "xgboost/c_api.h"
#include "zlib.h"

ABSL_FLAG(int, answer, 42, "a flag");

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LibrariesTest, AbseilStringsAndContainersWork) {
  absl::flat_hash_map<std::string, int> map = {{"a", 1}};
  absl::flat_hash_set<int64_t> set = {3};
  absl::InlinedVector<int, 4> vector = {1, 2};
  absl::Span<const int> span = vector;
  EXPECT_EQ(absl::StrCat(map["a"], *set.begin(), span.size()), "132");
  EXPECT_EQ(absl::StrFormat("%05.1f|%s", 2.5, absl::StrJoin(span, ",")),
            "002.5|1,2");
  const std::vector<std::string> parts = absl::StrSplit("x,y", ',');
  EXPECT_THAT(parts, ElementsAre("x", "y"));
}

TEST(LibrariesTest, AbseilFlagsParse) {
  char name[] = "program", flag[] = "--answer=7";
  char* argv[] = {name, flag, nullptr};
  absl::ParseCommandLine(2, argv);
  EXPECT_EQ(absl::GetFlag(FLAGS_answer), 7);
}

TEST(LibrariesTest, AbseilTimeAndMutexWork) {
  absl::Mutex mutex;
  absl::MutexLock lock(&mutex);
  EXPECT_GT(absl::ToUnixSeconds(absl::Now()), 0);
}

TEST(LibrariesTest, SqliteZlibXgboostGrpcAndBenchmarkAnswer) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  EXPECT_EQ(
      sqlite3_exec(database, "PRAGMA journal_mode", nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(database);
  EXPECT_STREQ(zlibVersion(), ZLIB_VERSION);
  int major = -1, minor = -1, patch = -1;
  XGBoostVersion(&major, &minor, &patch);
  EXPECT_GE(major, 1);
  EXPECT_FALSE(grpc::Version().empty());
  EXPECT_NE(benchmark::CreateDefaultDisplayReporter(), nullptr);
}

TEST(LibrariesTest, VersionsOfPackagesAreKnown) {
  EXPECT_THAT(kThirdPartyVersions, HasSubstr("\nlibprotobuf-dev 3."));
  EXPECT_THAT(kThirdPartyVersions, HasSubstr("\ncompiler "));
}

}  // namespace
}  // namespace tilewright
