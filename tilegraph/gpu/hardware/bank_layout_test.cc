#include "tilegraph/gpu/hardware/bank_layout.h"

#include <set>

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

// ldmatrix: lane i reads 16 bytes of row i mod 16, the second half of the warp
// the next piece.
RowAccess MatrixOperand(int64_t element_bytes, int64_t first_row = 0) {
  RowAccess access;
  access.elements = 16 / element_bytes;
  for (int64_t lane = 0; lane < 32; ++lane)
    access.lanes.emplace_back(first_row + lane % 16,
                              lane / 16 * access.elements);
  return access;
}

// Lane i reads element (i, column).
RowAccess Column(int64_t column) {
  RowAccess access;
  for (int64_t lane = 0; lane < 32; ++lane)
    access.lanes.emplace_back(lane, column);
  return access;
}

TEST(BankLayoutTest, PaddingByHand) {
  const Banks banks;
  // A column of [32, 32] f32 meets in one bank; one element of padding helps,
  // 31 * 4 bytes.
  const TileRows square = {32, 32, 4};
  EXPECT_EQ(PassesOf(square, {}, {Column(0)}, banks), 32);
  const BankLayout padded = BestPadding(square, {Column(0)}, 1, banks);
  EXPECT_EQ(padded.pad_elements, 1);
  EXPECT_EQ(PassesOf(square, padded, {Column(0)}, banks), 1);
  EXPECT_EQ(padded.Bytes(square), 32 * 32 * 4 + 31 * 4);
  // f16 operands of matrix units, 32 terms a row: Welder pads by 8.
  const TileRows operand = {128, 32, 2};
  EXPECT_EQ(PassesOf(operand, {}, {MatrixOperand(2)}, banks), 16);
  const BankLayout by8 = BestPadding(operand, {MatrixOperand(2)}, 8, banks);
  EXPECT_EQ(by8.pad_elements, 8);
  EXPECT_EQ(PassesOf(operand, by8, {MatrixOperand(2)}, banks), 4);
}

TEST(BankLayoutTest, SwizzlesCostNoBytes) {
  const Banks banks;
  // 64 terms a row of 128 bytes: the eight chunks exchanged by the row's number
  // mod 8, as CUTLASS' Swizzle<3, 3, 3>.
  const TileRows wide = {128, 64, 2};
  const BankLayout layout = BestBankLayout(wide, {MatrixOperand(2)}, 8, banks);
  EXPECT_EQ(layout.pad_elements, 0);
  EXPECT_EQ(layout.steps, 8);
  EXPECT_EQ(layout.rows_per_step, 1);
  EXPECT_EQ(layout.Bytes(wide), 128 * 128);
  EXPECT_EQ(PassesOf(wide, layout, {MatrixOperand(2)}, banks), 4);
  // 32 terms: two rows lie beside each other in the banks.
  const TileRows narrow = {128, 32, 2};
  const BankLayout by_two =
      BestBankLayout(narrow, {MatrixOperand(2)}, 8, banks);
  EXPECT_EQ(by_two.steps, 4);
  EXPECT_EQ(by_two.rows_per_step, 2);
  EXPECT_EQ(PassesOf(narrow, by_two, {MatrixOperand(2)}, banks), 4);
  // Rows that meet nowhere stay plain.
  const BankLayout plain =
      BestBankLayout({32, 40, 2}, {MatrixOperand(2)}, 8, banks);
  EXPECT_EQ(plain.pad_elements, 0);
  EXPECT_FALSE(plain.swizzled());
}

RowAccess RandomAccess(Random& random, const TileRows& tile, int64_t chunk) {
  RowAccess access;
  access.elements = int64_t{1} << random.UniformInt(0, 3);
  while (access.elements > chunk) access.elements /= 2;
  const int64_t pieces = tile.row_elements / access.elements;
  const int64_t row_step = random.UniformInt(0, 2);
  const int64_t piece_step = random.UniformInt(0, 2);
  for (int64_t lane = 0; lane < 32; ++lane)
    access.lanes.emplace_back(lane * row_step % tile.rows,
                              lane * piece_step % pieces * access.elements);
  return access;
}

TEST(BankLayoutTest, NoOtherPaddingIsBetterAndEveryElementHasAPlace) {
  const Banks banks;
  Random random(5);
  for (int i = 0; i < 120; ++i) {
    const int64_t chunk = int64_t{1} << random.UniformInt(0, 3);
    const TileRows tile = {
        static_cast<int64_t>(1 + random.UniformInt(0, 39)),
        chunk * static_cast<int64_t>(1 + random.UniformInt(0, 19)),
        int64_t{1} << random.UniformInt(0, 2)};
    const std::vector<RowAccess> accesses = {RandomAccess(random, tile, chunk),
                                             RandomAccess(random, tile, chunk)};
    const auto key = [&](const BankLayout& layout) {
      return std::make_pair(PassesOf(tile, layout, accesses, banks),
                            layout.Bytes(tile));
    };
    const BankLayout padded = BestPadding(tile, accesses, chunk, banks);
    for (int64_t pad = 0; pad * tile.element_bytes <= 512; pad += chunk)
      EXPECT_LE(key(padded), key(BankLayout{pad}));
    const BankLayout best = BestBankLayout(tile, accesses, chunk, banks);
    EXPECT_LE(key(best), key(padded));
    EXPECT_GE(key(best).first, LeastPassesOf(tile, accesses, banks));
    std::set<int64_t> places;
    for (int64_t row = 0; row < tile.rows; ++row) {
      for (int64_t column = 0; column < tile.row_elements; ++column) {
        const int64_t place = best.Offset(tile, row, column);
        EXPECT_TRUE(places.insert(place).second);
        EXPECT_LT(place * tile.element_bytes, best.Bytes(tile));
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
