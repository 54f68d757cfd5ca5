#include "tilegraph/expr/new_tensor.h"

#include <sys/resource.h>

#include "base/allocation.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

TEST(NewTensorTest, ASizeThatCanBeHadGivesZeros) {
  TW_ASSERT_OK_AND_ASSIGN(const HostTensor tensor,
                          NewTensor(DType::kInt16, {2, 3}, "small"));
  EXPECT_EQ(tensor.size_bytes(), 12);
  EXPECT_EQ(tensor.Get(5).i, 0);
}

TEST(NewTensorTest, WhatCannotBeAllocatedSaysHowMuchAndWhatFor) {
  const int64_t huge = int64_t{1} << 58;
  EXPECT_THAT(
      NewTensor(DType::kFloat32, {huge}, "input 'x'").status(),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasSubstr("cannot allocate 1152921504606846976 bytes (1.0 EiB) "
                         "for input 'x'; ")));
}

TEST(NewTensorTest, OfARewriteTheBorderGivesTheStatus) {
  const absl::Status status =
      CatchExceptions("compiling the model", []() -> absl::Status {
        NewTensorOrThrow(DType::kInt8, {int64_t{1} << 58}, "weights 'w.i8'");
        return absl::OkStatus();
      });
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("cannot allocate 288230376151711744 bytes "
                                 "(256.0 PiB) for weights 'w.i8'; ")));
  EXPECT_EQ(NewTensorOrThrow(DType::kInt8, {3}, "three").num_elements(), 3);
}

TEST(NewTensorTest, ShapesWithoutASizeAreInvalid) {
  const int64_t huge = int64_t{1} << 58;
  EXPECT_THAT(
      NewTensor(DType::kFloat32, {huge, huge}, "input 'x'").status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("input 'x'")));
  EXPECT_THAT(NewTensor(DType::kFloat32, {-1}, "input 'x'").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("[-1]")));
}

TEST(NewTensorTest, ALimitOfTheProcessIsAStatusToo) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = rlim_t{1} << 30;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const absl::Status status =
      NewTensor(DType::kInt8, {int64_t{1} << 31}, "input 'x'").status();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("(2.0 GiB) for input 'x'")));
}

}  // namespace
}  // namespace tilewright
