#include "measure/verify/spare_buffers.h"

#include <cstdint>
#include <utility>

#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

using backends::GuardedBuffer;
using Side = GuardedBuffer::Side;

TEST(SpareBuffersTest, TheSameSizeAndSideIsUsedAgain) {
  SpareBuffers spare(10000);
  TW_ASSERT_OK_AND_ASSIGN(GuardedBuffer buffer, spare.Take(1000, Side::kEnd));
  const char* const data = buffer.data();
  spare.Give(std::move(buffer), Side::kEnd);
  EXPECT_EQ(spare.size_bytes(), 1000);
  TW_ASSERT_OK_AND_ASSIGN(const GuardedBuffer other,
                          spare.Take(1000, Side::kBegin));
  TW_ASSERT_OK_AND_ASSIGN(const GuardedBuffer smaller,
                          spare.Take(999, Side::kEnd));
  EXPECT_EQ(spare.size_bytes(), 1000);
  TW_ASSERT_OK_AND_ASSIGN(buffer, spare.Take(1000, Side::kEnd));
  EXPECT_EQ(buffer.data(), data);
  EXPECT_EQ(spare.size_bytes(), 0);
}

TEST(SpareBuffersTest, WhatWasWrittenBesideIsNotUsedAgain) {
  SpareBuffers spare(10000);
  TW_ASSERT_OK_AND_ASSIGN(GuardedBuffer buffer, spare.Take(1000, Side::kEnd));
  buffer.data()[-1] = 0;
  spare.Give(std::move(buffer), Side::kEnd);
  EXPECT_EQ(spare.size_bytes(), 0);
  TW_ASSERT_OK_AND_ASSIGN(buffer, spare.Take(1000, Side::kEnd));
  EXPECT_TRUE(buffer.SlackIntact());
}

TEST(SpareBuffersTest, ItKeepsNoMoreThanItMay) {
  SpareBuffers spare(3000);
  for (const int64_t size : {1000, 2000, 2500, 5000}) {
    TW_ASSERT_OK_AND_ASSIGN(GuardedBuffer buffer, spare.Take(size, Side::kEnd));
    spare.Give(std::move(buffer), Side::kEnd);
    EXPECT_LE(spare.size_bytes(), 3000);
  }
  EXPECT_EQ(spare.size_bytes(), 2500);
}

}  // namespace
}  // namespace tilewright::measure
