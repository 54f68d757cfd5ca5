#include "backends/kernel_ir/tile_ir.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "backends/kernel_ir/interpreter.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::kernel_ir {
namespace {

using absl::StatusCode;

Expr V(int id, const char* name) { return Expr::Var(id, name); }

Buffer MakeBuffer(int id, const char* name, std::vector<int64_t> shape,
                  Role role, Level level = Level::kGlobal) {
  return Buffer{id,    name, DType::kFloat32,
                level, role, Layout::RowMajor(shape)};
}

// y[m] = sum over k of a[m, k], m: 4 tasks, k: 3, in a local accumulator.
Kernel RowSum() {
  Kernel k;
  k.name = "rowsum";
  k.num_vars = 2;
  k.buffers = {MakeBuffer(0, "a", {4, 3}, Role::kInput),
               MakeBuffer(1, "y", {4}, Role::kOutput),
               MakeBuffer(2, "t", {1}, Role::kLocal, Level::kRegisters)};
  const Combiner sum(Combiner::Kind::kSum, DType::kFloat32);
  const Expr m = V(0, "m"), c = V(1, "k"), zero = Expr::Int(0);
  TileOp init{TileOp::Phase::kInit, "", {}, {2}, {zero}, sum, {}, Expr()};
  TileOp update{TileOp::Phase::kUpdate,
                "",
                {},
                {2},
                {zero},
                sum,
                {Expr::Load(0, DType::kFloat32, {m, c})},
                Expr()};
  TileOp out{TileOp::Phase::kMap,
             "",
             {},
             {1},
             {m},
             std::nullopt,
             {Expr::Load(2, DType::kFloat32, {zero})},
             Expr()};
  For reduce{1, "k", 3, For::Kind::kSerial, {Stmt{update}}};
  For task{0, "m", 4, For::Kind::kTask, {Stmt{init}, Stmt{reduce}, Stmt{out}}};
  k.body = {Stmt{task}};
  return k;
}

For& TaskLoop(Kernel& k) { return std::get<For>(k.body[0].node); }
TileOp& InitOf(Kernel& k) { return std::get<TileOp>(TaskLoop(k).body[0].node); }
TileOp& UpdateOf(Kernel& k) {
  return std::get<TileOp>(std::get<For>(TaskLoop(k).body[1].node).body[0].node);
}

std::string Floats(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(float));
}
std::vector<float> ToFloats(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}
std::vector<std::string> Args() {
  return {Floats({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
          Floats({0, 0, 0, 0})};
}

TEST(TileIrTest, PrintsStatements) {
  EXPECT_EQ(RowSum().num_tasks(), 4);
  EXPECT_EQ(RowSum().ToString(),
            "kernel rowsum tasks 4\n"
            "  buffer %0 a: f32[4, 3] global input\n"
            "  buffer %1 y: f32[4] global output\n"
            "  buffer %2 t: f32[1] registers local\n"
            "  task for m.0 in 0..4:\n"
            "    init () %2[0] sum:f32\n"
            "    for k.1 in 0..3:\n"
            "      update () %2[0] sum:f32 { %0[m.0, k.1] }\n"
            "    map () %1[m.0] { %2[0] }\n");
}

TEST(TileInterpreterTest, RunsReductions) {
  std::vector<std::string> args = Args();
  TW_ASSERT_OK(InterpretTileKernel(RowSum(), absl::MakeSpan(args)));
  EXPECT_EQ(ToFloats(args[1]), (std::vector<float>{6, 15, 24, 33}));
}

TEST(TileInterpreterTest, PredicatesSkipElements) {
  Kernel k = RowSum();
  UpdateOf(k).predicate = Expr::Make(Op::kLt, {V(1, "k"), Expr::Int(2)});
  std::vector<std::string> args = Args();
  TW_ASSERT_OK(InterpretTileKernel(k, absl::MakeSpan(args)));
  EXPECT_EQ(ToFloats(args[1]), (std::vector<float>{3, 9, 15, 21}));
}

TEST(TileInterpreterTest, ReadsThroughLayouts) {
  Kernel k = RowSum();
  k.buffers[0].layout = Layout::BlockedLast({4, 3}, 0, 2);  // [m / 2, k, m % 2]
  std::vector<std::string> args = Args();
  TW_ASSERT_OK(InterpretTileKernel(k, absl::MakeSpan(args)));
  EXPECT_EQ(ToFloats(args[1]), (std::vector<float>{1 + 3 + 5, 2 + 4 + 6,
                                                   7 + 9 + 11, 8 + 10 + 12}));
}

TEST(TileInterpreterTest, ReportsReadsOutsideGuardedOrNot) {
  Kernel k = RowSum();
  UpdateOf(k).body[0] = Expr::Make(
      Op::kSelect,
      {Expr::Make(Op::kLe,
                  {V(0, "m"), Expr::Int(3)}),  // always true: no guard at all
       Expr::Load(0, DType::kFloat32, {V(0, "m") + Expr::Int(1), V(1, "k")}),
       Expr::Float(0)});
  std::vector<std::string> args = Args();
  EXPECT_THAT(InterpretTileKernel(k, absl::MakeSpan(args)),
              StatusIs(StatusCode::kOutOfRange,
                       "update of t at m=3 k=0: index [4, 0] of buffer a, "
                       "which holds [4, 3]"));
}

TEST(TileInterpreterTest, ReportsReadsOfUnwrittenLocals) {
  Kernel k = RowSum();
  InitOf(k).predicate = Expr::Make(Op::kLt, {V(0, "m"), Expr::Int(2)});
  std::vector<std::string> args = Args();
  EXPECT_THAT(InterpretTileKernel(k, absl::MakeSpan(args)),
              StatusIs(StatusCode::kOutOfRange,
                       "update of t at m=2 k=0: reads element 0 of buffer t, "
                       "which this task has not written"));
}

TEST(TileVerifierTest, AcceptsTheExample) {
  TW_EXPECT_OK(VerifyTileKernel(RowSum()));
}

TEST(TileVerifierTest, RejectsVariablesOutOfScope) {
  Kernel k = RowSum();
  std::get<TileOp>(TaskLoop(k).body[2].node).index = {V(1, "k")};
  EXPECT_THAT(VerifyTileKernel(k), StatusIs(StatusCode::kInternal,
                                            "variable 1 (k) is out of scope"));
}

TEST(TileVerifierTest, RejectsIndicesThatCanLeaveTheirBuffer) {
  Kernel k = RowSum();
  std::get<For>(TaskLoop(k).body[1].node).extent = 4;
  EXPECT_THAT(VerifyTileKernel(k),
              StatusIs(StatusCode::kInternal,
                       "index 1 of a (k) spans 0..3, outside 0..2"));
  UpdateOf(k).predicate = Expr::Make(Op::kLt, {V(1, "k"), Expr::Int(3)});
  TW_EXPECT_OK(VerifyTileKernel(k));
}

// floordiv(2m + k, 3) - floordiv(2m, 3) stays in 0..1, which intervals alone do
// not show.
TEST(TileVerifierTest, TriesValuesWhereIntervalsDoNotTell) {
  Kernel k = RowSum();
  const Expr m = V(0, "m") * Expr::Int(2);
  const Expr index =
      FloorDiv(m + V(1, "k"), Expr::Int(3)) - FloorDiv(m, Expr::Int(3));
  UpdateOf(k).body[0] =
      Expr::Load(0, DType::kFloat32, {V(0, "m"), index + Expr::Int(1)});
  TW_EXPECT_OK(VerifyTileKernel(k));
  UpdateOf(k).body[0] =
      Expr::Load(0, DType::kFloat32, {V(0, "m"), index + Expr::Int(2)});
  EXPECT_THAT(VerifyTileKernel(k),
              StatusIs(StatusCode::kInternal, "spans 2..3, outside 0..2"));
}

TEST(TileVerifierTest, KnowsHalos) {
  Kernel k = RowSum();
  UpdateOf(k).body[0] =
      Expr::Load(0, DType::kFloat32, {V(0, "m"), V(1, "k") - Expr::Int(1)});
  EXPECT_THAT(VerifyTileKernel(k),
              StatusIs(StatusCode::kInternal, "spans -1..1"));
  k.buffers[0].layout =
      k.buffers[0].layout.WithHalo({0, 1}, {0, 1}, Layout::Fill::kZero);
  TW_EXPECT_OK(VerifyTileKernel(k));
}

TEST(TileVerifierTest, RejectsLocalsReadBeforeTheyAreWritten) {
  Kernel k = RowSum();
  TaskLoop(k).body.erase(TaskLoop(k).body.begin());
  EXPECT_THAT(
      VerifyTileKernel(k),
      StatusIs(StatusCode::kInternal, "t is updated before it is initialised"));
}

TEST(TileVerifierTest, RejectsTaskLoopsInside) {
  Kernel k = RowSum();
  std::get<For>(TaskLoop(k).body[1].node).kind = For::Kind::kTask;
  EXPECT_THAT(VerifyTileKernel(k),
              StatusIs(StatusCode::kInternal, "task loop k is not outermost"));
}

TEST(TileVerifierTest, RejectsWrongDtypesAndRanks) {
  Kernel k = RowSum();
  k.buffers[2].dtype = DType::kFloat64;
  EXPECT_THAT(VerifyTileKernel(k),
              StatusIs(StatusCode::kInternal, "accumulator t is f64, not f32"));
  k = RowSum();
  UpdateOf(k).body[0] = Expr::Load(0, DType::kFloat32, {V(0, "m")});
  EXPECT_THAT(
      VerifyTileKernel(k),
      StatusIs(StatusCode::kInternal, "a has 2 dimensions and 1 indices"));
}

TEST(TileVerifierTest, RejectsStoresToInputs) {
  Kernel k = RowSum();
  k.buffers[1].role = Role::kInput;
  EXPECT_THAT(VerifyTileKernel(k),
              StatusIs(StatusCode::kInternal, "a store to the input y"));
}

}  // namespace
}  // namespace tilewright::kernel_ir
