#include "bench/fuzz/fuzz_worker.h"

#include <unistd.h>

#include <csignal>
#include <new>
#include <string>
#include <vector>

#include "base/sanitizers.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

using Kind = CaseEnd::Kind;

TEST(FuzzWorkerTest, AnswersComeBackWhateverIsInThem) {
  FuzzWorker worker([](int64_t index) { return std::string(1 << index, '\n'); },
                    {});
  for (const int64_t index : {0, 1, 20}) {
    const CaseEnd end = worker.Run(index);
    EXPECT_EQ(end.kind, Kind::kAnswered);
    EXPECT_EQ(end.answer, std::string(1 << index, '\n'));
  }
}

TEST(FuzzWorkerTest, EveryWayToEndIsToldApartAndTheNextCaseRuns) {
  FuzzLimits limits;
  limits.seconds = 0.5;
  FuzzWorker worker(
      [](int64_t index) -> std::string {
        if (index == 1) std::raise(SIGSEGV);
        if (index == 2) {
          for (volatile int i = 0;; i = i + 1) {
          }
        }
        if (index == 3) _exit(7);
        return "fine";
      },
      limits);
  EXPECT_EQ(worker.Run(0).answer, "fine");
  CaseEnd end = worker.Run(1);
  EXPECT_EQ(end.kind, Kind::kSignal);
  EXPECT_EQ(end.number, SIGSEGV);
  EXPECT_EQ(worker.Run(0).answer, "fine");
  EXPECT_EQ(worker.Run(2).kind, Kind::kHang);
  EXPECT_EQ(worker.Run(0).answer, "fine");
  end = worker.Run(3);
  EXPECT_EQ(end.kind, Kind::kExit);
  EXPECT_EQ(end.number, 7);
  EXPECT_EQ(worker.Run(0).answer, "fine");
}

TEST(FuzzWorkerTest, TheChildsMemoryIsLimited) {
  if (kHasShadowMemory) GTEST_SKIP() << "not in builds with this sanitizer";
  FuzzLimits limits;
  limits.address_space_bytes = int64_t{1} << 30;
  FuzzWorker worker(
      [](int64_t) -> std::string {
        try {
          volatile size_t size = size_t{2} << 30;
          const std::vector<char> large(size, 'x');
          return std::string(1, large[size / 2]);
        } catch (const std::bad_alloc&) {
          return "refused";
        }
      },
      limits);
  EXPECT_EQ(worker.Run(0).answer, "refused");
}

}  // namespace
}  // namespace tilewright::bench
