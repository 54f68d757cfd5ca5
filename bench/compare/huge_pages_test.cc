#include "bench/compare/huge_pages.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

TEST(HugePagesTest, NamesAreReadBack) {
  for (const HugePages which :
       {HugePages::kBoth, HugePages::kNone, HugePages::kOwn})
    EXPECT_EQ(ParseHugePages(HugePagesName(which)), which);
  EXPECT_FALSE(ParseHugePages("some").has_value());
  EXPECT_FALSE(ParseHugePages("").has_value());
}

// Memory that asks for huge pages, touched.
void TouchHugeMemory() {
  constexpr size_t kBytes = size_t{64} << 20;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, kBytes, MADV_HUGEPAGE);
  std::memset(memory, 1, kBytes);
}

TEST(HugePagesTest, WithNoneNobodyGetsThem) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!ArrangeHugePages(HugePages::kNone, nullptr).ok()) _exit(1);
    if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) != 1) _exit(2);
    TouchHugeMemory();
    _exit(HugePageBytes() == 0 ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(HugePagesTest, WithOwnNothingIsTakenAway) {
  TW_EXPECT_OK(ArrangeHugePages(HugePages::kOwn, nullptr));
  EXPECT_EQ(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0), 0);
}

}  // namespace
}  // namespace tilewright::bench
