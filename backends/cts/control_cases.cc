#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cts/cases.h"
#include "backends/cts/compare.h"
#include "backends/cts/values.h"
#include "backends/kernel_ir/builder.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright::cts {
namespace {

using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;

// Writes down every value a loop's variable takes, and how many.
Run TraceLoop(int64_t begin, int64_t end, int64_t step, int unroll,
              bool dynamic, DType dtype) {
  constexpr int64_t kRoom = 64;
  ScalarBuilder b(absl::StrCat("loop_", begin, "_", end, "_", step, "_", unroll,
                               dynamic ? "_dynamic_" : "_constant_",
                               std::string(Name(dtype))));
  // Kernel names are identifiers.
  const int bounds = b.AddArgument("bounds", dtype, Role::kInput, 2);
  const int out = b.AddArgument("out", dtype, Role::kOutput, kRoom);
  const Reg count = b.Variable(DType::kInt64, 1, "count");
  b.Assign(count, b.Int(1));
  const Reg i = dynamic
                    ? b.BeginForRegs(b.Load(bounds, kNoReg, 0),
                                     b.Load(bounds, kNoReg, 1), step, unroll)
                    : b.BeginFor(begin, end, step, unroll, "i", dtype);
  b.Store(out, count, 0, i);
  b.AssignOp(count, Op::kAdd, {count, b.Int(1)});
  b.EndFor();
  b.Store(out, kNoReg, 0, b.Cast(dtype, count));
  return {std::move(b).Finish(),
          {Bytes(dtype, {{0, begin}, {0, end}}),
           Pattern(kRoom * SizeBytes(dtype))}};
}

void ExpectLoops(const Backend& backend, bool dynamic, DType dtype) {
  struct Bounds {
    int64_t begin, end, step;
  };
  std::vector<Run> runs;
  for (const Bounds& c : std::initializer_list<Bounds>{{0, 0, 1},
                                                       {0, 1, 1},
                                                       {0, 7, 1},
                                                       {3, 40, 1},
                                                       {-5, 5, 1},
                                                       {5, -5, 1},
                                                       {0, 10, 3},
                                                       {1, 33, 16},
                                                       {-7, 30, 5},
                                                       {0, 12, 4}}) {
    for (int unroll : {1, 2, 3, 4, 7, 50}) {
      runs.push_back(TraceLoop(c.begin, c.end, c.step, unroll, dynamic, dtype));
    }
  }
  for (Run& run : runs) {
    for (char& letter : run.kernel.name) {
      if (letter == '-') letter = 'm';
    }
  }
  ExpectSameAsInterpreter(backend, runs);
}

// Inner bounds from outer variables, variables carried through both.
void ExpectNestedLoops(const Backend& backend) {
  std::vector<Run> runs;
  for (int unroll : {1, 2, 4}) {
    ScalarBuilder b(absl::StrCat("triangle_u", unroll));
    const int out = b.AddArgument("out", DType::kInt64, Role::kOutput, 100);
    const Reg sum = b.Variable(DType::kInt64, 1, "sum");
    const Reg at = b.Variable(DType::kInt64, 1, "at");
    b.Assign(sum, b.Int(0));
    b.Assign(at, b.Int(0));
    const Reg i = b.BeginFor(0, 12, 1, unroll, "i");
    const Reg j =
        b.BeginForRegs(i, b.Add(b.Add(i, i), b.Int(1)), 2, unroll, "j");
    b.AssignOp(sum, Op::kAdd, {sum, b.Add(b.Mul(i, b.Int(100)), j)});
    b.Store(out, at, 0, sum);
    b.AssignOp(at, Op::kAdd, {at, b.Int(1)});
    b.EndFor();
    b.EndFor();
    runs.push_back({std::move(b).Finish(), {Pattern(800)}});
  }
  ExpectSameAsInterpreter(backend, runs);
}

// A variable rotated through others, so that a backend cannot merge them.
void ExpectVariables(const Backend& backend) {
  std::vector<Run> runs;
  for (DType dtype : RegisterDTypes()) {
    for (int lanes : {1, 3, 16}) {
      ScalarBuilder b(
          absl::StrCat("rotate_", std::string(Name(dtype)), "_x", lanes));
      Random random(1);
      const int in = b.AddArgument("in", dtype, Role::kInput, 3 * lanes);
      const int out = b.AddArgument("out", dtype, Role::kOutput, 3 * lanes);
      std::vector<Reg> v;
      for (int i = 0; i < 3; ++i) {
        v.push_back(b.Variable(dtype, lanes, absl::StrCat("v", i)));
        b.Assign(v[i], b.Load(in, kNoReg, i * lanes, lanes));
      }
      const Reg held = b.Variable(dtype, lanes, "held");
      b.BeginFor(0, 7, 1, 2);
      b.Assign(held, v[0]);
      b.Assign(v[0], v[1]);
      b.Assign(v[1], v[2]);
      b.Assign(v[2], held);
      b.EndFor();
      for (int i = 0; i < 3; ++i) b.Store(out, kNoReg, i * lanes, v[i]);
      runs.push_back({std::move(b).Finish(),
                      {SomeBytes(dtype, 3 * lanes, random),
                       Pattern(3 * lanes * SizeBytes(dtype))}});
    }
  }
  ExpectSameAsInterpreter(backend, runs);
}

void ExpectIfs(const Backend& backend) {
  ScalarBuilder b("ifs");
  const int in = b.AddArgument("in", DType::kInt32, Role::kInput, 40);
  const int out = b.AddArgument("out", DType::kInt32, Role::kOutput, 40);
  const Reg value = b.Variable(DType::kInt32, 1, "value");
  const Reg i = b.BeginFor(0, 40, 1, 4);
  const Reg x = b.Load(in, i, 0);
  b.Assign(value, x);
  b.BeginIf(b.Emit(Op::kLt, {x, b.Int(50, DType::kInt32)}));
  b.BeginIf(
      b.Emit(Op::kEq, {b.Emit(Op::kFloorMod, {x, b.Int(2, DType::kInt32)}),
                       b.Int(0, DType::kInt32)}));
  b.Assign(value, b.Int(-1, DType::kInt32));
  b.BeginElse();
  b.AssignOp(value, Op::kMul, {value, value});
  b.EndIf();
  b.BeginElse();
  b.BeginFor(0, 3);
  b.AssignOp(value, Op::kAdd, {value, b.Int(7, DType::kInt32)});
  b.EndFor();
  b.EndIf();
  b.BeginIf(b.Emit(Op::kGt, {b.Cast(DType::kInt64, x), i}));
  b.Store(out, i, 0, value);
  b.EndIf();
  b.EndFor();
  std::vector<Scalar> values;
  Random random(2);
  for (int n = 0; n < 40; ++n)
    values.push_back({0, random.UniformInt(-100, 100)});
  ExpectSameAsInterpreter(
      backend,
      {{std::move(b).Finish(), {Bytes(DType::kInt32, values), Pattern(160)}}});
}

// Conditions that become constants only when a loop is laid out.
void ExpectUnrolledConditions(const Backend& backend) {
  ScalarBuilder b("flags");
  Random random(3);
  const int in = b.AddArgument("in", DType::kFloat32, Role::kInput, 80);
  const int out = b.AddArgument("out", DType::kFloat32, Role::kOutput, 16);
  const Reg sum = b.Variable(DType::kFloat32, 16, "sum");
  const Reg i = b.BeginFor(0, 5, 1, 5);
  const Reg row = b.Load(in, b.Mul(i, b.Int(16)), 0, 16);
  b.BeginIf(b.Emit(Op::kEq, {i, b.Int(0)}));
  b.Assign(sum, b.Float(1, DType::kFloat32, 16));
  b.EndIf();
  b.EndFor();
  b.Assign(sum, b.Float(0, DType::kFloat32, 16));
  const Reg j = b.BeginFor(0, 5, 1, 5);
  b.AssignOp(sum, Op::kAdd, {sum, b.Load(in, b.Mul(j, b.Int(16)), 0, 16)});
  b.BeginIf(b.Emit(Op::kEq, {j, b.Int(4)}));
  b.Store(out, kNoReg, 0, sum);
  b.EndIf();
  b.EndFor();
  (void)row;
  ExpectSameAsInterpreter(
      backend, {{std::move(b).Finish(),
                 {SomeBytes(DType::kFloat32, 80, random), Pattern(64)}}});
}

}  // namespace

std::vector<Case> ControlCases() {
  return {
      {"LoopsWithConstantBounds",
       [](const Backend& b) { ExpectLoops(b, false, DType::kInt64); }},
      {"LoopsWithConstantBoundsInI32",
       [](const Backend& b) { ExpectLoops(b, false, DType::kInt32); }},
      {"LoopsWithBoundsInRegisters",
       [](const Backend& b) { ExpectLoops(b, true, DType::kInt64); }},
      {"LoopsWithBoundsInI32Registers",
       [](const Backend& b) { ExpectLoops(b, true, DType::kInt32); }},
      {"NestedLoopsCarryVariables", ExpectNestedLoops},
      {"VariablesOfAllDtypes", ExpectVariables},
      {"NestedIfs", ExpectIfs},
      {"ConditionsOfUnrolledLoops", ExpectUnrolledConditions},
  };
}

}  // namespace tilewright::cts
