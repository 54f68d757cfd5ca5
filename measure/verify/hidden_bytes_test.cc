#include "measure/verify/hidden_bytes.h"

#include <csignal>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/verify/isolated_run.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/reference/reference.h"

namespace tilewright::measure {
namespace {

using ::testing::ElementsAreArray;

TEST(HiddenBytesTest, ChildrenDoNotHaveThem) {
  HiddenBytes bytes(10000);
  bytes.data()[9999] = 7;
  const IsolatedOutcome outcome = RunIsolated(
      [&] {
        return bytes.data()[9999] == 7 ? absl::OkStatus()
                                       : absl::AbortedError("other bytes");
      },
      10);
  EXPECT_EQ(outcome.kind, IsolatedOutcome::Kind::kFault);
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_EQ(bytes.data()[9999], 7);
}

TEST(HiddenBytesTest, TheyMove) {
  HiddenBytes bytes(3), none;
  bytes.data()[2] = 5;
  HiddenBytes moved = std::move(bytes);
  EXPECT_EQ(moved.data()[2], 5);
  none = std::move(moved);
  EXPECT_EQ(none.data()[2], 5);
  EXPECT_EQ(none.size_bytes(), 3);
  EXPECT_EQ(HiddenBytes(0).size_bytes(), 0);
}

TEST(HiddenBytesTest, TensorsComeBackAsTheyWere) {
  HostTensor tensor(DType::kInt32, {2, 3});
  for (int i = 0; i < 6; ++i) tensor.as<int32_t>()[i] = i * i;
  const HostTensor got = HiddenTensor(tensor).Get();
  EXPECT_EQ(got.dtype(), DType::kInt32);
  EXPECT_EQ(got.shape(), tensor.shape());
  EXPECT_EQ(got.as<int32_t>()[5], 25);
  EXPECT_EQ(HiddenTensor(HostTensor(DType::kFloat32, {0})).Get().size_bytes(),
            0);
}

TEST(HiddenBytesTest, ReferencesComeBackAsTheyWere) {
  const ReferenceTensor floats{
      DType::kFloat16, {3}, {1.5, -2, 3}, {}, {0.25, 0, 1e300}};
  const ReferenceTensor integers{DType::kInt64, {1, 2}, {}, {INT64_MIN, 7}, {}};
  for (const ReferenceTensor& tensor : {floats, integers}) {
    const HiddenReference hidden(tensor);
    const ReferenceView got = hidden.View();
    EXPECT_EQ(got.dtype, tensor.dtype);
    EXPECT_THAT(got.shape, ElementsAreArray(tensor.shape));
    EXPECT_THAT(got.value, ElementsAreArray(tensor.value));
    EXPECT_THAT(got.integer, ElementsAreArray(tensor.integer));
    EXPECT_THAT(got.bound, ElementsAreArray(tensor.bound));
  }
}

}  // namespace
}  // namespace tilewright::measure
