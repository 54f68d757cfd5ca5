#include "measure/verify/packed_tensors.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "measure/verify/hidden_bytes.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/physical.h"

namespace tilewright::measure {
namespace {

const std::vector<int64_t> kShape = {5, 3};

HostTensor Counting(float first) {
  HostTensor tensor(DType::kFloat32, kShape);
  for (float& value : tensor.as<float>()) value = first++;
  return tensor;
}

std::string PackedAnew(const Layout& layout, const HiddenTensor& values) {
  std::string bytes(static_cast<size_t>(layout.physical_elements()) * 4, 'x');
  FillPhysical(layout, values.Get(), bytes.data());
  return bytes;
}

std::string Text(const PackedTensors::Bytes& bytes) {
  return {bytes->data(), static_cast<size_t>(bytes->size_bytes())};
}

TEST(PackedTensorsTest, EachIsPackedOnceAndAsEver) {
  PackedTensors packed(int64_t{1} << 20);
  const HiddenTensor a(Counting(1)), b(Counting(100));
  const Layout rows = Layout::RowMajor(kShape),
               blocks = Layout::BlockedLast(kShape, 0, 4);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Text(packed.Packed("a", rows, a)), PackedAnew(rows, a));
    EXPECT_EQ(Text(packed.Packed("a", blocks, a)), PackedAnew(blocks, a));
    EXPECT_EQ(Text(packed.Packed("b", rows, b)), PackedAnew(rows, b));
    std::string unwritten(15 * 4, 'x');
    FillUnwritten(rows, DType::kFloat32, unwritten.data());
    EXPECT_EQ(Text(packed.Unwritten(rows, DType::kFloat32)), unwritten);
    EXPECT_NE(Text(packed.Unwritten(rows, DType::kInt32)), unwritten);
  }
  EXPECT_EQ(packed.packed(), 5);
  EXPECT_EQ(packed.size_bytes(), (4 * 15 + 24) * 4);
}

TEST(PackedTensorsTest, WhatWasUsedLongestAgoIsForgotten) {
  constexpr int64_t kOne = 15 * 4;
  PackedTensors packed(2 * kOne);
  const HiddenTensor a(Counting(1)), b(Counting(100)), c(Counting(200));
  const Layout rows = Layout::RowMajor(kShape);
  (void)packed.Packed("a", rows, a);
  const PackedTensors::Bytes held = packed.Packed("b", rows, b);
  (void)packed.Packed("a", rows, a);
  (void)packed.Packed("c", rows, c);
  EXPECT_EQ(packed.size_bytes(), 2 * kOne);
  EXPECT_EQ(packed.packed(), 3);
  (void)packed.Packed("a", rows, a);
  EXPECT_EQ(packed.packed(), 3);
  (void)packed.Packed("b", rows, b);
  EXPECT_EQ(packed.packed(), 4);
  EXPECT_EQ(Text(held), PackedAnew(rows, b));
}

TEST(PackedTensorsTest, WithoutRoomAllIsPackedAgain) {
  PackedTensors packed(0);
  const HiddenTensor a(Counting(1));
  const Layout rows = Layout::RowMajor(kShape);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Text(packed.Packed("a", rows, a)), PackedAnew(rows, a));
  }
  EXPECT_EQ(packed.packed(), 2);
  EXPECT_EQ(packed.size_bytes(), 0);
}

}  // namespace
}  // namespace tilewright::measure
