#include "backends/guarded_buffer.h"

#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::backends {
namespace {

using ::testing::HasSubstr;
using Side = GuardedBuffer::Side;

absl::Status Touch(const volatile char* address) {
  return TrapFaults([&] {
    (void)*address;
    return absl::OkStatus();
  });
}

TEST(GuardedBufferTest, OneByteBeyondTheEndFaults) {
  for (int64_t size : {1, 64, 4096, 5000}) {
    TW_ASSERT_OK_AND_ASSIGN(const GuardedBuffer buffer,
                            GuardedBuffer::Create(size, Side::kEnd));
    std::memset(buffer.data(), 1, size);
    EXPECT_THAT(Touch(buffer.data() + size - 1), IsOk());
    EXPECT_THAT(Touch(buffer.data() + size),
                StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("0x")));
  }
}

TEST(GuardedBufferTest, OneByteBeforeTheBeginFaults) {
  for (int64_t size : {0, 1, 64, 4096, 5000}) {
    TW_ASSERT_OK_AND_ASSIGN(const GuardedBuffer buffer,
                            GuardedBuffer::Create(size, Side::kBegin));
    std::memset(buffer.data(), 1, size);
    EXPECT_THAT(Touch(buffer.data() - 1),
                StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("0x")));
  }
}

TEST(GuardedBufferTest, WritesBesideTheBufferShow) {
  TW_ASSERT_OK_AND_ASSIGN(const GuardedBuffer end,
                          GuardedBuffer::Create(100, Side::kEnd));
  TW_ASSERT_OK_AND_ASSIGN(const GuardedBuffer begin,
                          GuardedBuffer::Create(100, Side::kBegin));
  std::memset(end.data(), 1, 100);
  std::memset(begin.data(), 1, 100);
  EXPECT_TRUE(end.SlackIntact());
  EXPECT_TRUE(begin.SlackIntact());
  end.data()[-1] = 1;
  begin.data()[100] = 1;
  EXPECT_FALSE(end.SlackIntact());
  EXPECT_FALSE(begin.SlackIntact());
}

TEST(GuardedBufferTest, OwnsItsSurroundings) {
  TW_ASSERT_OK_AND_ASSIGN(const GuardedBuffer buffer,
                          GuardedBuffer::Create(100, Side::kEnd));
  EXPECT_TRUE(buffer.Owns(buffer.data()));
  EXPECT_TRUE(buffer.Owns(buffer.data() + 100 + 1000000));
  EXPECT_FALSE(buffer.Owns(&buffer));
}

TEST(GuardedBufferTest, MovesKeepTheMemory) {
  TW_ASSERT_OK_AND_ASSIGN(GuardedBuffer a,
                          GuardedBuffer::Create(10, Side::kEnd));
  a.data()[9] = 7;
  GuardedBuffer b = std::move(a);
  EXPECT_EQ(b.data()[9], 7);
}

TEST(TrapFaultsTest, TheStatusOfTheWorkComesBack) {
  EXPECT_THAT(TrapFaults([] { return absl::AbortedError("x"); }),
              StatusIs(absl::StatusCode::kAborted, "x"));
}

TEST(TrapFaultsTest, ThreadsTrapIndependentlyAndRepeatedly) {
  const auto repeat = [] {
    for (int i = 0; i < 50; ++i) {
      EXPECT_THAT(TrapFaults([] {
                    *reinterpret_cast<volatile char*>(uintptr_t{16}) = 1;
                    return absl::OkStatus();
                  }),
                  StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("0x10")));
    }
  };
  std::thread other(repeat);
  repeat();
  other.join();
}

TEST(TrapFaultsDeathTest, FaultsOutsideStillEndTheProcess) {
  EXPECT_DEATH(
      {
        (void)TrapFaults([] { return absl::OkStatus(); });
        *reinterpret_cast<volatile char*>(uintptr_t{16}) = 1;
      },
      "");
}

}  // namespace
}  // namespace tilewright::backends
