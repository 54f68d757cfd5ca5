#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright::kernel_ir {
namespace {

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(T));
}
template <typename T>
std::vector<T> Values(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(ScalarInterpreterTest, LoopsAccumulateInVariables) {
  ScalarBuilder b("dot");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 5);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 1);
  const Reg acc = b.Variable(DType::kFloat32, 1, "acc");
  b.Assign(acc, b.Float(1));
  const Reg i = b.BeginFor(0, 5, 1, 1, "i");
  const Reg v = b.Load(x, i, 0);
  b.AssignFma(acc, v, v, acc);
  b.EndFor();
  b.Store(y, kNoReg, 0, acc);
  const ScalarKernel kernel = std::move(b).Finish();
  std::vector<std::string> args = {Bytes<float>({1, 2, 3, 4, 5}),
                                   Bytes<float>({0})};
  TW_ASSERT_OK(InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 1));
  EXPECT_EQ(Values<float>(args[1])[0], 56.0f);
}

TEST(ScalarInterpreterTest, ShufflesTakeLanesOfBothSources) {
  ScalarBuilder b("shuffle");
  const int x = b.AddArgument("x", DType::kInt16, Role::kInput, 8);
  const int y = b.AddArgument("y", DType::kInt16, Role::kOutput, 6);
  const Reg low = b.Load(x, kNoReg, 0, 4), high = b.Load(x, kNoReg, 4, 4);
  b.Store(y, kNoReg, 0, b.Shuffle(low, high, {7, 0, 5, 5, 2, 1}));
  const ScalarKernel kernel = std::move(b).Finish();
  std::vector<std::string> args = {
      Bytes<int16_t>({10, 11, 12, 13, 14, 15, 16, 17}),
      Bytes<int16_t>({0, 0, 0, 0, 0, 0})};
  TW_ASSERT_OK(InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 1));
  EXPECT_EQ(Values<int16_t>(args[1]),
            (std::vector<int16_t>{17, 10, 15, 15, 12, 11}));
}

TEST(ScalarInterpreterTest, BytesSayWhichOfATable) {
  ScalarBuilder b("permute");
  const int x = b.AddArgument("x", DType::kUInt8, Role::kInput, 3);
  const int t = b.AddArgument("t", DType::kInt8, Role::kInput, kPermuteBytes);
  const int y = b.AddArgument("y", DType::kInt8, Role::kOutput, 3);
  const Reg table = b.Load(t, kNoReg, 0, kPermuteBytes);
  b.Store(y, kNoReg, 0, b.Permute(b.Load(x, kNoReg, 0, 3), table));
  ScalarKernel kernel = std::move(b).Finish();
  std::vector<int8_t> values(kPermuteBytes);
  values[0] = 5, values[130] = -7, values[255] = 100;
  std::vector<std::string> args = {Bytes<uint8_t>({255, 0, 130}), Bytes(values),
                                   Bytes<int8_t>({0, 0, 0})};
  TW_ASSERT_OK(InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 1));
  EXPECT_EQ(Values<int8_t>(args[2]), (std::vector<int8_t>{100, 5, -7}));
  for (Inst& inst : kernel.body) {
    if (auto* permute = std::get_if<PermuteInst>(&inst.node))
      std::swap(permute->source, permute->table);
  }
  EXPECT_THAT(VerifyScalarKernel(kernel),
              StatusIs(absl::StatusCode::kInternal,
                       ::testing::HasSubstr("permute of u8x3 by i8x256")));
}

TEST(ScalarInterpreterTest, AVariableMayBeShuffledIntoItself) {
  ScalarBuilder b("reverse");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 4);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 4);
  const Reg v = b.Variable(DType::kFloat32, 4);
  b.Assign(v, b.Load(x, kNoReg, 0, 4));
  b.Store(y, kNoReg, 0, b.Shuffle(v, v, {3, 2, 1, 0}));
  ScalarKernel kernel = std::move(b).Finish();
  auto& shuffle = std::get<ShuffleInst>(kernel.body[2].node);
  std::get<StoreInst>(kernel.body[3].node).value = v;
  shuffle.dst = v;
  std::vector<std::string> args = {Bytes<float>({1, 2, 3, 4}),
                                   Bytes<float>({0, 0, 0, 0})};
  TW_ASSERT_OK(InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 1));
  EXPECT_EQ(Values<float>(args[1]), (std::vector<float>{4, 3, 2, 1}));
}

TEST(ScalarInterpreterTest, MasksKeepAccessesInsideAndGiveOther) {
  ScalarBuilder b("copy");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 5);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 8);
  b.Store(y, kNoReg, 0,
          b.Load(x, kNoReg, 0, 8, 5, kNoReg, b.Float(-1, DType::kFloat32, 8)));
  ScalarKernel kernel = std::move(b).Finish();
  std::vector<std::string> args = {Bytes<float>({1, 2, 3, 4, 5}),
                                   std::string(32, 'x')};
  TW_ASSERT_OK(InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 1));
  EXPECT_EQ(Values<float>(args[1]),
            (std::vector<float>{1, 2, 3, 4, 5, -1, -1, -1}));
}

// y[2 * task] = x[task] where the mask register allows it.
TEST(ScalarInterpreterTest, TasksAndMaskRegisters) {
  ScalarBuilder b("k", 4);
  const int x = b.AddArgument("x", DType::kInt64, Role::kInput, 2);
  const int y = b.AddArgument("y", DType::kInt64, Role::kOutput, 8);
  const Reg inside = b.Emit(Op::kLt, {b.task(), b.Int(2)});
  const Reg v = b.Load(x, b.task(), 0, 1, 0, inside, b.Int(-7));
  b.Store(y, b.Mul(b.task(), b.Int(2)), 0, v);
  const ScalarKernel kernel = std::move(b).Finish();
  std::vector<std::string> args = {Bytes<int64_t>({10, 11}),
                                   Bytes<int64_t>(std::vector<int64_t>(8, 0))};
  TW_ASSERT_OK(InterpretScalarKernel(kernel, absl::MakeSpan(args), 1, 4));
  EXPECT_EQ(Values<int64_t>(args[1]),
            (std::vector<int64_t>{0, 0, 11, 0, -7, 0, -7, 0}));
}

TEST(ScalarInterpreterTest, BranchesTakeOneSide) {
  ScalarBuilder b("k", 2);
  const int y = b.AddArgument("y", DType::kInt32, Role::kOutput, 2);
  const Reg v = b.Variable(DType::kInt32, 1);
  b.BeginIf(b.Emit(Op::kEq, {b.task(), b.Int(0)}));
  b.Assign(v, b.Int(5, DType::kInt32));
  b.BeginElse();
  b.Assign(v, b.Int(6, DType::kInt32));
  b.EndIf();
  b.Store(y, b.task(), 0, v);
  const ScalarKernel kernel = std::move(b).Finish();
  std::vector<std::string> args = {Bytes<int32_t>({0, 0})};
  TW_ASSERT_OK(InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 2));
  EXPECT_EQ(Values<int32_t>(args[0]), (std::vector<int32_t>{5, 6}));
}

TEST(ScalarInterpreterTest, HalvesConvertOnLoadAndRoundOnStore) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    ScalarBuilder b("k");
    const int x = b.AddArgument("x", dtype, Role::kInput, 2);
    const int y = b.AddArgument("y", dtype, Role::kOutput, 2);
    b.Store(y, kNoReg, 0,
            b.Add(b.Load(x, kNoReg, 0, 2),
                  b.Float(1.0 / 4096, DType::kFloat32, 2)));
    const ScalarKernel kernel = std::move(b).Finish();
    auto store = [&](float v) {
      return dtype == DType::kFloat16 ? FloatToHalf(v) : FloatToBFloat16(v);
    };
    std::vector<std::string> args = {Bytes<uint16_t>({store(1), store(0.5)}),
                                     Bytes<uint16_t>({0, 0})};
    TW_ASSERT_OK(InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 1));
    EXPECT_EQ(Values<uint16_t>(args[1]),
              (std::vector<uint16_t>{store(1 + 1.0f / 4096),
                                     store(0.5f + 1.0f / 4096)}));
  }
}

TEST(ScalarInterpreterTest, NamesBufferAndElementOfBadAccesses) {
  ScalarBuilder b("k", 3);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 2);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 3);
  b.Store(y, b.task(), 0, b.Load(x, b.task(), 0));
  const ScalarKernel kernel = std::move(b).Finish();
  std::vector<std::string> args = {Bytes<float>({1, 2}),
                                   Bytes<float>({0, 0, 0})};
  EXPECT_THAT(
      InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 3),
      StatusIs(
          absl::StatusCode::kOutOfRange,
          "task 2: instruction 1: load of element 2 of buffer x, which has 2"));
}

TEST(ScalarInterpreterTest, ScratchOfAnEarlierTaskIsUndefined) {
  ScalarBuilder b("k", 2);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 2);
  const int s = b.AddScratch("s", DType::kFloat32, 1);
  b.BeginIf(b.Emit(Op::kEq, {b.task(), b.Int(0)}));
  b.Store(s, kNoReg, 0, b.Float(3));
  b.EndIf();
  b.Store(y, b.task(), 0, b.Load(s, kNoReg, 0));
  const ScalarKernel kernel = std::move(b).Finish();
  std::vector<std::string> args = {Bytes<float>({0, 0})};
  TW_ASSERT_OK(InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 2));
  EXPECT_EQ(Values<float>(args[0])[0], 3);
  EXPECT_TRUE(std::isnan(Values<float>(args[0])[1]));
}

TEST(ScalarInterpreterTest, TwoTasksMayNotWriteOneElement) {
  ScalarBuilder b("k", 2);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 2);
  b.Store(y, kNoReg, 0, b.Float(3));
  const ScalarKernel kernel = std::move(b).Finish();
  std::vector<std::string> args = {Bytes<float>({0, 0})};
  EXPECT_THAT(InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 2),
              StatusIs(absl::StatusCode::kOutOfRange, "a second task's store"));
}

TEST(ScalarInterpreterTest, ReportsEveryAccess) {
  ScalarBuilder b("k");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 4);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 4);
  b.Store(y, kNoReg, 0, b.Load(x, kNoReg, 0, 4), 2);
  const ScalarKernel kernel = std::move(b).Finish();
  std::vector<std::string> args = {Bytes<float>({1, 2, 3, 4}),
                                   Bytes<float>({0, 0, 0, 0})};
  int64_t loaded = 0, stored = 0;
  TW_ASSERT_OK(InterpretScalarKernel(
      kernel, absl::MakeSpan(args), 0, 1,
      [&](int buffer, int64_t, int64_t bytes, bool is_store) {
        EXPECT_EQ(buffer, is_store ? y : x);
        (is_store ? stored : loaded) += bytes;
      }));
  EXPECT_EQ(loaded, 16);
  EXPECT_EQ(stored, 8);
}

// Every operation on every register type and awkward operands gives what
// EvaluateOp says: fast paths are no second definition.
TEST(ScalarInterpreterTest, OperationsMeanWhatEvaluateOpSays) {
  const double inf = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> floats = {0.0,  -0.0, 1.5,  -2.25,
                                      1e30, inf,  -inf, nan};
  const std::vector<int64_t> ints = {0,
                                     1,
                                     -1,
                                     7,
                                     -7,
                                     100,
                                     std::numeric_limits<int32_t>::min(),
                                     std::numeric_limits<int64_t>::min()};
  const std::vector<Op> ops = {
      Op::kNeg,      Op::kAbs,      Op::kSqrt, Op::kFloor, Op::kExp,
      Op::kIsNan,    Op::kAdd,      Op::kSub,  Op::kMul,   Op::kDiv,
      Op::kFloorDiv, Op::kFloorMod, Op::kMax,  Op::kMin,   Op::kEq,
      Op::kNe,       Op::kLt,       Op::kLe,   Op::kGt,    Op::kGe};
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt64,
                      DType::kInt32, DType::kInt8, DType::kUInt8}) {
    for (Op op : ops) {
      const bool float_only = op == Op::kSqrt || op == Op::kFloor ||
                              op == Op::kExp || op == Op::kIsNan;
      if (float_only && !IsFloat(dtype)) continue;
      if (IsFloat(dtype) && (op == Op::kFloorDiv || op == Op::kFloorMod))
        continue;
      const bool binary = op >= Op::kAdd;
      const size_t n = 8;
      HostTensor x(dtype, {8}), z(dtype, {8});
      for (size_t shift = 0; shift < n; ++shift) {
        for (size_t i = 0; i < n; ++i) {
          x.Set(i, {floats[i], ints[i]});
          z.Set(i, {floats[(i + shift) % n], ints[(i + shift) % n]});
        }
        ScalarBuilder b("op");
        const int xb = b.AddArgument("x", dtype, Role::kInput, 8);
        const int zb = b.AddArgument("z", dtype, Role::kInput, 8);
        const bool to_bool = op >= Op::kEq || op == Op::kIsNan;
        const DType out = to_bool ? DType::kBool : dtype;
        const int yb = b.AddArgument("y", out, Role::kOutput, 8);
        std::vector<Reg> operands = {b.Load(xb, kNoReg, 0, 8)};
        if (binary) operands.push_back(b.Load(zb, kNoReg, 0, 8));
        b.Store(yb, kNoReg, 0, b.Emit(op, operands));
        const ScalarKernel kernel = std::move(b).Finish();
        HostTensor y(out, {8});
        std::vector<std::string> args = {std::string(x.data(), x.size_bytes()),
                                         std::string(z.data(), z.size_bytes()),
                                         std::string(y.size_bytes(), '\1')};
        TW_ASSERT_OK(InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 1));
        std::memcpy(y.data(), args[2].data(), y.size_bytes());
        for (size_t i = 0; i < n; ++i) {
          const Scalar in[2] = {x.Get(i), z.Get(i)};
          const Scalar want =
              EvaluateOp(op, out, dtype, {in, binary ? 2u : 1u}, true);
          const Scalar got = y.Get(i);
          if (IsFloat(out)) {
            EXPECT_TRUE((std::isnan(want.f) && std::isnan(got.f)) ||
                        (want.f == got.f &&
                         std::signbit(want.f) == std::signbit(got.f)))
                << Name(op) << " " << Name(dtype) << " " << in[0].f << " "
                << in[1].f << ": " << got.f << " not " << want.f;
          } else {
            EXPECT_EQ(got.i, want.i)
                << Name(op) << " " << Name(dtype) << " of " << in[0].i << ", "
                << in[1].i << " / " << in[0].f << ", " << in[1].f;
          }
        }
      }
    }
  }
}

TEST(ScalarInterpreterTest, BitsMoveUnchangedAndAnySeesEveryLane) {
  ScalarBuilder b("k");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 4);
  const int bits = b.AddArgument("bits", DType::kInt32, Role::kOutput, 4);
  const int back = b.AddArgument("back", DType::kFloat32, Role::kOutput, 4);
  const int any = b.AddArgument("any", DType::kBool, Role::kOutput, 2);
  const Reg v = b.Load(x, kNoReg, 0, 4);
  const Reg i = b.Bitcast(DType::kInt32, v);
  b.Store(bits, kNoReg, 0, i);
  b.Store(back, kNoReg, 0, b.Bitcast(DType::kFloat32, i));
  b.Store(any, kNoReg, 0,
          b.Any(b.Emit(Op::kLt, {v, b.Float(-1, DType::kFloat32, 4)})));
  b.Store(any, kNoReg, 1,
          b.Any(b.Emit(Op::kLt, {v, b.Float(-3, DType::kFloat32, 4)})));
  const ScalarKernel kernel = std::move(b).Finish();
  const std::vector<float> values = {1, -0.0f, 1e-45f, -2};
  std::vector<std::string> args = {Bytes(values), std::string(16, 'x'),
                                   std::string(16, 'x'), std::string(2, 'x')};
  TW_ASSERT_OK(InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 1));
  EXPECT_EQ(Values<int32_t>(args[1]),
            (std::vector<int32_t>{0x3f800000, INT32_MIN, 1,
                                  static_cast<int32_t>(0xc0000000)}));
  EXPECT_EQ(args[2], Bytes(values));
  EXPECT_EQ(args[3], std::string("\1\0", 2));
}

}  // namespace
}  // namespace tilewright::kernel_ir
