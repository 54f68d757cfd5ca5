#include "measure/verify/isolated_run.h"

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

#include "backends/guarded_buffer.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

using backends::GuardedBuffer;
using Kind = IsolatedOutcome::Kind;

TEST(IsolatedRunTest, TheStatusOfTheWorkComesBack) {
  const IsolatedOutcome good = RunIsolated([] { return absl::OkStatus(); }, 10);
  EXPECT_EQ(good.kind, Kind::kReturned);
  TW_EXPECT_OK(good.status);
  const IsolatedOutcome bad =
      RunIsolated([] { return absl::AbortedError("no luck"); }, 10);
  EXPECT_EQ(bad.kind, Kind::kReturned);
  EXPECT_THAT(bad.status, StatusIs(absl::StatusCode::kAborted, "no luck"));
}

TEST(IsolatedRunTest, WhatTheChildWritesToSharedMemoryIsSeenAndNothingElse) {
  TW_ASSERT_OK_AND_ASSIGN(const GuardedBuffer shared,
                          GuardedBuffer::Create(4, GuardedBuffer::Side::kEnd));
  int own = 1;
  const IsolatedOutcome outcome = RunIsolated(
      [&] {
        shared.data()[3] = 7;
        own = 2;
        return absl::OkStatus();
      },
      10);
  TW_EXPECT_OK(outcome.status);
  EXPECT_EQ(shared.data()[3], 7);
  EXPECT_EQ(own, 1);
}

TEST(IsolatedRunTest, FaultsOfAnyThreadAreCaughtWithAddressAndDirection) {
  TW_ASSERT_OK_AND_ASSIGN(const GuardedBuffer buffer,
                          GuardedBuffer::Create(64, GuardedBuffer::Side::kEnd));
  const IsolatedOutcome write = RunIsolated(
      [&] {
        *const_cast<volatile char*>(buffer.data() + 64) = 1;
        return absl::OkStatus();
      },
      10);
  EXPECT_EQ(write.kind, Kind::kFault);
  EXPECT_EQ(write.address, buffer.data() + 64);
  EXPECT_TRUE(write.is_write);
  const IsolatedOutcome read = RunIsolated(
      [&] {
        std::thread([&] {
          (void)*const_cast<volatile char*>(buffer.data() + 100);
        }).join();
        return absl::OkStatus();
      },
      10);
  EXPECT_EQ(read.kind, Kind::kFault);
  EXPECT_EQ(read.address, buffer.data() + 100);
  EXPECT_FALSE(read.is_write);
}

TEST(IsolatedRunTest, AHangEndsAtTheTimeLimit) {
  const IsolatedOutcome outcome = RunIsolated(
      [] {
        for (volatile uint64_t i = 0;; ++i) {
        }
        return absl::OkStatus();
      },
      1);
  EXPECT_EQ(outcome.kind, Kind::kTimeout);
  EXPECT_THAT(outcome.status,
              StatusIs(absl::StatusCode::kDeadlineExceeded, "1 s"));
}

TEST(IsolatedRunTest, AChildThatEndsItselfIsNoSuccess) {
  const IsolatedOutcome exited =
      RunIsolated([]() -> absl::Status { _exit(0); }, 10);
  EXPECT_EQ(exited.kind, Kind::kDied);
  EXPECT_FALSE(exited.status.ok());
  const IsolatedOutcome killed = RunIsolated(
      [] {
        raise(SIGKILL);
        return absl::OkStatus();
      },
      10);
  EXPECT_EQ(killed.kind, Kind::kDied);
  EXPECT_FALSE(killed.status.ok());
}

}  // namespace
}  // namespace tilewright::measure
