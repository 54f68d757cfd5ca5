#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cts/cases.h"
#include "backends/cts/compare.h"
#include "backends/cts/values.h"
#include "backends/kernel_ir/builder.h"
#include "backends/lowering/passes/expand_functions.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::cts {
namespace {

using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;

// A multiple of all lane counts below, and more than all pairs of specials.
constexpr int64_t kElements = 3360;
const int kLanes[] = {1, 5, 16};

std::string Spell(DType dtype) { return std::string(Name(dtype)); }

// out[i] = op(a[i], b[i], ...): one kernel per lane count.
Run Elementwise(Op op, DType dtype, DType result, int operands, int lanes) {
  ScalarBuilder b(absl::StrCat(std::string(Name(op)), "_", Spell(dtype), "_",
                               Spell(result), "_x", lanes));
  Random random(static_cast<uint64_t>(op) * 100 + static_cast<uint64_t>(dtype));
  std::vector<std::string> args = PairBytes(dtype, kElements, random);
  std::vector<int> buffers;
  if (op == Op::kSelect) {
    buffers.push_back(
        b.AddArgument("c", DType::kBool, Role::kInput, kElements));
    args.insert(args.begin(), SomeBytes(DType::kBool, kElements, random));
  }
  for (int i = 0; i < operands; ++i) {
    buffers.push_back(
        b.AddArgument(i == 0 ? "a" : "b", dtype, Role::kInput, kElements));
  }
  args.resize(buffers.size());
  const int out = b.AddArgument("out", result, Role::kOutput, kElements);
  args.push_back(Pattern(kElements * SizeBytes(result)));
  const Reg i = b.BeginFor(0, kElements, lanes);
  std::vector<Reg> values;
  for (int buffer : buffers) values.push_back(b.Load(buffer, i, 0, lanes));
  b.Store(out, i, 0,
          op == Op::kCast ? b.Cast(result, values[0]) : b.Emit(op, values));
  b.EndFor();
  return {std::move(b).Finish(), args};
}

bool IsComparison(Op op) { return op >= Op::kEq && op <= Op::kGe; }
bool IsLogic(Op op) {
  return op == Op::kNot || op == Op::kAnd || op == Op::kOr || op == Op::kXor;
}
bool IsFloatOnly(Op op) {
  return op == Op::kSqrt || op == Op::kFloor || op == Op::kCeil ||
         op == Op::kRound || op == Op::kIsNan;
}
bool IsIntegerOnly(Op op) {
  return op == Op::kFloorDiv || op == Op::kFloorMod || IsLogic(op);
}

void ExpectOp(const Backend& backend, Op op, int operands) {
  std::vector<Run> runs;
  for (DType dtype : RegisterDTypes()) {
    if (IsFloat(dtype) ? IsIntegerOnly(op) : IsFloatOnly(op)) continue;
    // Arithmetic on bool has no meaning of its own.
    if (dtype == DType::kBool && !IsLogic(op) && !IsComparison(op) &&
        op != Op::kSelect) {
      continue;
    }
    const DType result =
        IsComparison(op) || op == Op::kIsNan ? DType::kBool : dtype;
    for (int lanes : kLanes) {
      runs.push_back(Elementwise(op, dtype, result, operands, lanes));
    }
  }
  ASSERT_FALSE(runs.empty());
  ExpectSameAsInterpreter(backend, runs);
}

void ExpectCasts(const Backend& backend) {
  for (DType from : RegisterDTypes()) {
    std::vector<Run> runs;
    for (DType to : RegisterDTypes()) {
      if (to == from) continue;
      for (int lanes : kLanes) {
        runs.push_back(Elementwise(Op::kCast, from, to, 1, lanes));
      }
    }
    ExpectSameAsInterpreter(backend, runs);
  }
}

void ExpectConstants(const Backend& backend) {
  std::vector<Run> runs;
  for (DType dtype : RegisterDTypes()) {
    const std::vector<Scalar> values = SpecialValues(dtype);
    const auto elements = static_cast<int64_t>(5 * values.size());
    ScalarBuilder b("constants_" + Spell(dtype));
    const int out = b.AddArgument("out", dtype, Role::kOutput, elements);
    for (size_t i = 0; i < values.size(); ++i) {
      const Reg value = IsFloat(dtype) ? b.Float(values[i].f, dtype, 5)
                                       : b.Int(values[i].i, dtype, 5);
      b.Store(out, kernel_ir::kNoReg, static_cast<int64_t>(5 * i), value);
    }
    runs.push_back(
        {std::move(b).Finish(), {Pattern(elements * SizeBytes(dtype))}});
  }
  ExpectSameAsInterpreter(backend, runs);
}

// Reverses each group of lanes, by extracting and inserting, and adds a splat.
void ExpectLanes(const Backend& backend) {
  std::vector<Run> runs;
  for (DType dtype : RegisterDTypes()) {
    for (int lanes : {2, 5, 8, 16}) {
      ScalarBuilder b(absl::StrCat("lanes_", Spell(dtype), "_x", lanes));
      Random random(7);
      const int in = b.AddArgument("in", dtype, Role::kInput, lanes);
      const int out = b.AddArgument("out", dtype, Role::kOutput, 2 * lanes);
      const Reg value = b.Load(in, kernel_ir::kNoReg, 0, lanes);
      Reg reversed = b.Splat(b.Lane(value, 0), lanes);
      b.Store(out, kernel_ir::kNoReg, lanes, reversed);
      for (int i = 0; i < lanes; ++i) {
        reversed = b.Insert(reversed, i, b.Lane(value, lanes - 1 - i));
      }
      b.Store(out, kernel_ir::kNoReg, 0, reversed);
      runs.push_back({std::move(b).Finish(),
                      {SomeBytes(dtype, lanes, random),
                       Pattern(2 * lanes * SizeBytes(dtype))}});
    }
  }
  ExpectSameAsInterpreter(backend, runs);
}

// Lanes of two vectors, drawn at random: fewer and more than they have.
void ExpectShuffles(const Backend& backend) {
  std::vector<Run> runs;
  for (DType dtype : RegisterDTypes()) {
    for (int lanes : {2, 5, 16}) {
      ScalarBuilder b(absl::StrCat("shuffles_", Spell(dtype), "_x", lanes));
      Random random(13);
      const std::vector<int> widths = {2, 3, 8, 16, 17};
      int64_t elements = 0;
      for (int width : widths) elements += width;
      const int in = b.AddArgument("in", dtype, Role::kInput, 2 * lanes);
      const int out = b.AddArgument("out", dtype, Role::kOutput, elements);
      const Reg first = b.Load(in, kernel_ir::kNoReg, 0, lanes);
      const Reg second = b.Load(in, kernel_ir::kNoReg, lanes, lanes);
      int64_t at = 0;
      for (int width : widths) {
        std::vector<int> chosen(width);
        for (int& lane : chosen)
          lane = static_cast<int>(random.UniformInt(0, 2 * lanes - 1));
        b.Store(out, kernel_ir::kNoReg, at,
                b.Shuffle(first, width == 3 ? first : second, chosen));
        at += width;
      }
      runs.push_back({std::move(b).Finish(),
                      {SomeBytes(dtype, 2 * lanes, random),
                       Pattern(elements * SizeBytes(dtype))}});
    }
  }
  ExpectSameAsInterpreter(backend, runs);
}

// a * b + c with one rounding: operands whose product needs more bits.
void ExpectFma(const Backend& backend) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  std::vector<Run> runs;
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (int lanes : kLanes) {
      ScalarBuilder b(absl::StrCat("fma_", Spell(dtype), "_x", lanes));
      Random random(11);
      std::vector<std::string> args = PairBytes(dtype, kElements, random);
      args.push_back(SomeBytes(dtype, kElements, random));
      args.push_back(Pattern(kElements * SizeBytes(dtype)));
      const int x = b.AddArgument("x", dtype, Role::kInput, kElements);
      const int y = b.AddArgument("y", dtype, Role::kInput, kElements);
      const int z = b.AddArgument("z", dtype, Role::kInput, kElements);
      const int out = b.AddArgument("out", dtype, Role::kOutput, kElements);
      const Reg i = b.BeginFor(0, kElements, lanes);
      b.Store(out, i, 0,
              b.Fma(b.Load(x, i, 0, lanes), b.Load(y, i, 0, lanes),
                    b.Load(z, i, 0, lanes)));
      b.EndFor();
      runs.push_back({std::move(b).Finish(), args});
    }
  }
  ExpectSameAsInterpreter(backend, runs);
}

// Bytes that say which of a table's: a kernel for each number of lanes.
void ExpectTables(const Backend& backend) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  std::vector<Run> runs;
  for (const int lanes : {1, 5, 16, 96, 160}) {
    ScalarBuilder b(absl::StrCat("permute_x", lanes));
    Random random(17);
    std::vector<std::string> args = {
        SomeBytes(DType::kUInt8, kElements, random),
        SomeBytes(DType::kInt8, kernel_ir::kPermuteBytes, random),
        Pattern(kElements)};
    const int x = b.AddArgument("x", DType::kUInt8, Role::kInput, kElements);
    const int table = b.AddArgument("table", DType::kInt8, Role::kConstant,
                                    kernel_ir::kPermuteBytes);
    const int out =
        b.AddArgument("out", DType::kInt8, Role::kOutput, kElements);
    const Reg values =
        b.Load(table, kernel_ir::kNoReg, 0, kernel_ir::kPermuteBytes);
    const Reg i = b.BeginFor(0, kElements, lanes);
    b.Store(out, i, 0, b.Permute(b.Load(x, i, 0, lanes), values));
    b.EndFor();
    runs.push_back({std::move(b).Finish(), args});
  }
  if (absl::IsUnimplemented(codegen->Emit({runs[0].kernel}).status()))
    GTEST_SKIP() << "no instruction reads tables";
  ExpectSameAsInterpreter(backend, runs);
}

// x * y + z is rounded twice: nobody contracts it.
void ExpectNoContraction(const Backend& backend) {
  std::vector<Run> runs;
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (int lanes : kLanes) {
      ScalarBuilder b(absl::StrCat("muladd_", Spell(dtype), "_x", lanes));
      Random random(13);
      std::vector<std::string> args = PairBytes(dtype, kElements, random);
      args.push_back(Pattern(kElements * SizeBytes(dtype)));
      const int x = b.AddArgument("x", dtype, Role::kInput, kElements);
      const int y = b.AddArgument("y", dtype, Role::kInput, kElements);
      const int out = b.AddArgument("out", dtype, Role::kOutput, kElements);
      const Reg i = b.BeginFor(0, kElements, lanes);
      const Reg a = b.Load(x, i, 0, lanes);
      const Reg c = b.Load(y, i, 0, lanes);
      b.Store(out, i, 0, b.Sub(b.Add(b.Mul(a, c), c), b.Mul(c, c)));
      b.EndFor();
      runs.push_back({std::move(b).Finish(), args});
    }
  }
  ExpectSameAsInterpreter(backend, runs);
}

// Bits keep their value between dtypes of one size.
void ExpectBitcasts(const Backend& backend) {
  std::vector<Run> runs;
  for (DType from : RegisterDTypes()) {
    for (DType to : RegisterDTypes()) {
      if (from == to || SizeBytes(from) != SizeBytes(to) ||
          from == DType::kBool || to == DType::kBool) {
        continue;
      }
      for (int lanes : kLanes) {
        ScalarBuilder b(
            absl::StrCat("bits_", Spell(from), "_", Spell(to), "_x", lanes));
        Random random(17);
        const int in = b.AddArgument("in", from, Role::kInput, kElements);
        const int out = b.AddArgument("out", to, Role::kOutput, kElements);
        const Reg i = b.BeginFor(0, kElements, lanes);
        b.Store(out, i, 0, b.Bitcast(to, b.Load(in, i, 0, lanes)));
        b.EndFor();
        runs.push_back({std::move(b).Finish(),
                        {SomeBytes(from, kElements, random),
                         Pattern(kElements * SizeBytes(to))}});
      }
    }
  }
  ExpectSameAsInterpreter(backend, runs);
}

// Sparse masks, so that whole vectors are false.
void ExpectAny(const Backend& backend) {
  std::vector<Run> runs;
  for (int lanes : {1, 3, 8, 16, 32}) {
    ScalarBuilder b(absl::StrCat("any_x", lanes));
    const int64_t rows = 40;
    const int in =
        b.AddArgument("in", DType::kUInt8, Role::kInput, rows * lanes);
    const int out = b.AddArgument("out", DType::kInt32, Role::kOutput, rows);
    const Reg row = b.BeginFor(0, rows);
    const Reg any =
        b.Any(b.Emit(Op::kGt, {b.Load(in, b.Mul(row, b.Int(lanes)), 0, lanes),
                               b.Int(245, DType::kUInt8)}));
    b.Store(out, row, 0, b.Cast(DType::kInt32, any));
    b.BeginIf(any);
    b.Store(out, row, 0, b.Int(7, DType::kInt32));
    b.EndIf();
    b.EndFor();
    Random random(18);
    std::vector<Scalar> values;
    for (int64_t i = 0; i < rows * lanes; ++i) {
      values.push_back({0, random.UniformInt(0, 255)});
    }
    runs.push_back({std::move(b).Finish(),
                    {Bytes(DType::kUInt8, values), Pattern(rows * 4)}});
  }
  ExpectSameAsInterpreter(backend, runs);
}

// The expansion of a function by lowering:ExpandFunctions means the same
// everywhere.
void ExpectFunction(const Backend& backend, Op op, int operands) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  lowering::FunctionOptions options;
  options.fma = codegen->spec().unit().fma();
  std::vector<Run> runs;
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (int lanes : {1, 16}) {
      Run run = Elementwise(op, dtype, dtype, operands, lanes);
      lowering::ExpandFunctions(run.kernel, options);
      runs.push_back(std::move(run));
    }
  }
  ExpectSameAsInterpreter(backend, runs);
}

}  // namespace

std::vector<Case> ArithmeticCases() {
  struct OpCase {
    const char* name;
    Op op;
    int operands;
  };
  std::vector<Case> cases;
  for (const OpCase& c :
       std::initializer_list<OpCase>{{"Neg", Op::kNeg, 1},
                                     {"Abs", Op::kAbs, 1},
                                     {"Sqrt", Op::kSqrt, 1},
                                     {"Floor", Op::kFloor, 1},
                                     {"Ceil", Op::kCeil, 1},
                                     {"Round", Op::kRound, 1},
                                     {"Not", Op::kNot, 1},
                                     {"IsNan", Op::kIsNan, 1},
                                     {"Add", Op::kAdd, 2},
                                     {"Sub", Op::kSub, 2},
                                     {"Mul", Op::kMul, 2},
                                     {"Div", Op::kDiv, 2},
                                     {"FloorDiv", Op::kFloorDiv, 2},
                                     {"FloorMod", Op::kFloorMod, 2},
                                     {"Max", Op::kMax, 2},
                                     {"Min", Op::kMin, 2},
                                     {"And", Op::kAnd, 2},
                                     {"Or", Op::kOr, 2},
                                     {"Xor", Op::kXor, 2},
                                     {"Eq", Op::kEq, 2},
                                     {"Ne", Op::kNe, 2},
                                     {"Lt", Op::kLt, 2},
                                     {"Le", Op::kLe, 2},
                                     {"Gt", Op::kGt, 2},
                                     {"Ge", Op::kGe, 2},
                                     {"Select", Op::kSelect, 2}}) {
    cases.push_back({absl::StrCat("Op", c.name), [c](const Backend& backend) {
                       ExpectOp(backend, c.op, c.operands);
                     }});
  }
  for (const OpCase& c :
       std::initializer_list<OpCase>{{"Exp", Op::kExp, 1},
                                     {"Log", Op::kLog, 1},
                                     {"Tanh", Op::kTanh, 1},
                                     {"Erf", Op::kErf, 1},
                                     {"Sigmoid", Op::kSigmoid, 1},
                                     {"Sin", Op::kSin, 1},
                                     {"Cos", Op::kCos, 1},
                                     {"Pow", Op::kPow, 2}}) {
    cases.push_back(
        {absl::StrCat("ExpandedFunction", c.name), [c](const Backend& backend) {
           ExpectFunction(backend, c.op, c.operands);
         }});
  }
  cases.push_back({"CastsBetweenAllDtypes", ExpectCasts});
  cases.push_back({"BitcastsKeepBits", ExpectBitcasts});
  cases.push_back({"AnyLane", ExpectAny});
  cases.push_back({"ConstantsOfAllDtypes", ExpectConstants});
  cases.push_back({"LanesAreExtractedInsertedAndSplat", ExpectLanes});
  cases.push_back({"LanesOfTwoVectorsAreShuffled", ExpectShuffles});
  cases.push_back({"FmaRoundsOnce", ExpectFma});
  cases.push_back({"TablesOfBytesAreRead", ExpectTables});
  cases.push_back({"MultiplyAndAddRoundTwice", ExpectNoContraction});
  return cases;
}

}  // namespace tilewright::cts
