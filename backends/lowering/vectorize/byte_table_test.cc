// Tables that bytes say where to read, through Legalize.
#include "backends/lowering/vectorize/byte_table.h"

#include <utility>

#include "backends/lowering/testing/legalize_testing.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::lowering {
namespace {

using namespace legalize_testing;  // NOLINT: the writer and its checks
using kernel_ir::InsertInst;
using kernel_ir::PermuteInst;

// y[m, n] = table[x[m, n]], where it is not beyond the `guarded` columns.
Kernel Tabulated(DType dtype, int64_t columns, int64_t guarded) {
  Writer w;
  const auto rows = [&](int64_t n) { return Layout::RowMajor({3, n}); };
  const int x =
      w.Buffer("x", Level::kGlobal, Role::kInput, rows(guarded), DType::kUInt8);
  const int table = w.Buffer("table", Level::kGlobal, Role::kConstant,
                             Layout::RowMajor({256}), dtype);
  const int y =
      w.Buffer("y", Level::kGlobal, Role::kOutput, rows(columns), dtype);
  const Expr m = w.Var("m"), n = w.Var("n");
  Expr value = w.Load(table, {Expr::Cast(DType::kInt64, w.Load(x, {m, n}))});
  if (guarded < columns) {
    value = Select(Lt(n, I(guarded)), std::move(value), Expr::Int(9, dtype));
  }
  w.kernel.body.push_back(Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(m, 3), Writer::Axis(n, columns)}, y,
      {m, n}, {std::move(value)}));
  return std::move(w.kernel);
}

TEST(ByteTableTest, VectorsArePermuted) {
  for (const DType dtype : {DType::kUInt8, DType::kInt8}) {
    for (const int64_t columns : {64, 16, 37, 5}) {
      const ScalarKernel scalar =
          ExpectSame(Tabulated(dtype, columns, columns));
      EXPECT_GT(Count<PermuteInst>(scalar.body, "", scalar), 0);
      EXPECT_EQ(Count<InsertInst>(scalar.body, "", scalar), 0);
    }
  }
}

TEST(ByteTableTest, OnlyWhatIsThereIsRead) {
  ExpectSame(Tabulated(DType::kUInt8, 40, 33));
  ExpectSame(Tabulated(DType::kInt8, 16, 3));
  ExpectSame(Tabulated(DType::kInt8, 1, 1));
}

TEST(ByteTableTest, OtherTablesAreGathered) {
  Kernel floats = Tabulated(DType::kFloat32, 32, 32);
  EXPECT_FALSE(ByteOfTable(floats, 1, {I(3)}).has_value());
  const ScalarKernel scalar = ExpectSame(floats);
  EXPECT_EQ(Count<PermuteInst>(scalar.body, "", scalar), 0);
}

}  // namespace
}  // namespace tilewright::lowering
