#include "measure/machine/steady_core.h"

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kWorkNs = 50'000;

// A core that a neighbour slows down by half from time to time.
class SteadyCoreTest : public ::testing::Test {
 protected:
  struct Phase {
    int64_t from_ns, to_ns;
  };

  bool Disturbed() {
    for (const Phase& phase : phases_) {
      if (clock_.WallNs() >= phase.from_ns && clock_.WallNs() < phase.to_ns)
        return true;
    }
    return false;
  }
  void Work() {
    ++works_;
    clock_.AdvanceBusy(Disturbed() ? kWorkNs * 3 / 2 : kWorkNs);
  }
  SteadyCore Core() {
    return SteadyCore([this] { Work(); }, clock_,
                      [this](int64_t ns) { clock_.AdvanceIdle(ns); }, options_);
  }
  int64_t WaitMs(SteadyCore& core) {
    const int64_t start_ns = clock_.WallNs();
    core.Wait();
    return (clock_.WallNs() - start_ns) / kMs;
  }

  FakeClock clock_;
  SteadyCoreOptions options_;
  std::vector<Phase> phases_;
  int works_ = 0;
};

TEST_F(SteadyCoreTest, ASteadyCoreIsWaitedForOnce) {
  SteadyCore core = Core();
  EXPECT_GE(WaitMs(core), options_.most_wait_ns / kMs);
  works_ = 0;
  EXPECT_EQ(WaitMs(core), 0);
  EXPECT_TRUE(core.IsSteady());
  EXPECT_EQ(works_, 2);
}

TEST_F(SteadyCoreTest, ANeighbourIsWaitedFor) {
  phases_ = {{300 * kMs, 380 * kMs}, {500 * kMs, 510 * kMs}};
  SteadyCore core = Core();
  core.Wait();
  clock_.AdvanceIdle(310 * kMs - clock_.WallNs());
  EXPECT_FALSE(core.IsSteady());
  EXPECT_NEAR(WaitMs(core), 70, 3);
  EXPECT_TRUE(core.IsSteady());
  // One that came meanwhile and is gone is not seen; one that is there is.
  clock_.AdvanceIdle(505 * kMs - clock_.WallNs());
  EXPECT_FALSE(core.IsSteady());
}

TEST_F(SteadyCoreTest, AnInterruptIsNoNeighbour) {
  SteadyCore core = Core();
  core.Wait();
  phases_ = {{clock_.WallNs(), clock_.WallNs() + kWorkNs}};
  EXPECT_TRUE(core.IsSteady());
}

TEST_F(SteadyCoreTest, WhatTheWorkTakesIsLearntInADisturbedPhaseToo) {
  // The first wait begins disturbed, and outlasts it.
  phases_ = {{0, 100 * kMs}, {1000 * kMs, 1100 * kMs}};
  SteadyCore core = Core();
  core.Wait();
  clock_.AdvanceIdle(1000 * kMs - clock_.WallNs());
  EXPECT_FALSE(core.IsSteady());
}

TEST_F(SteadyCoreTest, WaitingEndsAndHasAShareOfTheTime) {
  phases_ = {{1000 * kMs, 100'000 * kMs}};
  SteadyCore core = Core();
  core.Wait();
  clock_.AdvanceIdle(1000 * kMs - clock_.WallNs());
  EXPECT_NEAR(WaitMs(core), options_.most_wait_ns / kMs, 3);
  for (int i = 0; i < 40; ++i) {
    core.Wait();
    clock_.AdvanceBusy(10 * kMs);
  }
  EXPECT_LE(static_cast<double>(core.waited_ns()),
            options_.most_share * static_cast<double>(clock_.WallNs()) +
                static_cast<double>(3 * kMs));
  EXPECT_FALSE(core.IsSteady());
}

TEST_F(SteadyCoreTest, ACoreThatStaysSlowerIsSteadyAgain) {
  phases_ = {{1000 * kMs, 1'000'000 * kMs}};
  SteadyCore core = Core();
  core.Wait();
  clock_.AdvanceIdle(1000 * kMs - clock_.WallNs());
  int waits = 0;
  for (; waits < 200 && !core.IsSteady(); ++waits) {
    core.Wait();
    clock_.AdvanceBusy(300 * kMs);
  }
  EXPECT_GT(waits, 20);
  EXPECT_LT(waits, 100);
}

}  // namespace
}  // namespace tilewright::measure
