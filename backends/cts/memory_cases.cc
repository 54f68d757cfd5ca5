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

std::string Spell(DType dtype) { return std::string(Name(dtype)); }

const int kLanes[] = {1, 3, 4, 8, 16, 32};

// Copies a buffer that is no multiple of the lanes, its tail partly active.
void ExpectCopies(const Backend& backend) {
  std::vector<Run> runs;
  for (DType dtype : AllDTypes()) {
    for (int lanes : kLanes) {
      const int64_t full = 4 * lanes;
      const int tail = lanes == 1 ? 0 : lanes - 1;
      const int64_t elements = full + tail;
      ScalarBuilder b(absl::StrCat("copy_", Spell(dtype), "_x", lanes));
      Random random(1);
      const int in = b.AddArgument("in", dtype, Role::kInput, elements);
      const int out = b.AddArgument("out", dtype, Role::kOutput, elements);
      const Reg i = b.BeginFor(0, full, lanes);
      b.Store(out, i, 0, b.Load(in, i, 0, lanes));
      b.EndFor();
      if (tail > 0) {
        b.Store(out, kNoReg, full, b.Load(in, kNoReg, full, lanes, tail), tail);
      }
      runs.push_back({std::move(b).Finish(),
                      {SomeBytes(dtype, elements, random),
                       Pattern(elements * SizeBytes(dtype))}});
    }
  }
  ExpectSameAsInterpreter(backend, runs);
}

// Every number of active lanes, at the very end of the buffer; what is not
// loaded is zero.
void ExpectActive(const Backend& backend) {
  std::vector<Run> runs;
  for (DType dtype : AllDTypes()) {
    for (int lanes : {3, 8, 16}) {
      ScalarBuilder b(absl::StrCat("active_", Spell(dtype), "_x", lanes));
      Random random(2);
      const int in = b.AddArgument("in", dtype, Role::kInput, lanes);
      const int out = b.AddArgument("out", dtype, Role::kOutput, lanes * lanes);
      for (int active = 1; active <= lanes; ++active) {
        const Reg value = b.Load(in, kNoReg, lanes - active, lanes, active);
        b.Store(out, kNoReg, (active - 1) * lanes, value);
      }
      runs.push_back({std::move(b).Finish(),
                      {SomeBytes(dtype, lanes, random),
                       Pattern(lanes * lanes * SizeBytes(dtype))}});
    }
  }
  ExpectSameAsInterpreter(backend, runs);
}

enum class MaskKind { kVector, kScalar, kConstantTrue, kConstantFalse };

// Rows outside [first, last) are masked off: the buffer holds only the others.
void ExpectMasks(const Backend& backend, MaskKind kind) {
  std::vector<Run> runs;
  for (DType dtype : AllDTypes()) {
    for (int lanes : {1, 5, 16}) {
      for (bool with_other : {false, true}) {
        for (int active : {lanes, lanes / 2}) {
          if (active == 0 && lanes == 1) continue;
          const int64_t rows = 5;
          ScalarBuilder b(absl::StrCat("masked_", Spell(dtype), "_x", lanes,
                                       with_other ? "_other" : "", "_a",
                                       active));
          Random random(3);
          const int in = b.AddArgument("in", dtype, Role::kInput, 3 * lanes);
          const int mask_in =
              b.AddArgument("mask", DType::kBool, Role::kInput, rows * lanes);
          const int out =
              b.AddArgument("out", dtype, Role::kOutput, rows * lanes);
          const Reg row = b.BeginFor(0, rows);
          // Row 1 is the first of `in`: rows 0 and 4 lie outside.
          const Reg inside = b.And(b.Emit(Op::kGe, {row, b.Int(1)}),
                                   b.Emit(Op::kLt, {row, b.Int(4)}));
          const Reg at = b.Mul(row, b.Int(lanes));
          Reg mask = inside;
          if (kind == MaskKind::kVector) {
            mask = b.And(b.Load(mask_in, at, 0, lanes), inside);
          } else if (kind == MaskKind::kConstantFalse) {
            mask = b.Bool(false, lanes);
          }
          Reg other = kNoReg;
          if (with_other) {
            other = IsFloat(dtype) ? b.Float(-2.5, dtype, lanes)
                                   : b.Int(1, dtype, lanes);
          }
          if (kind == MaskKind::kConstantTrue) {
            b.BeginIf(inside);
            mask = b.Bool(true, lanes);
          }
          const Reg value = b.Load(in, at, -lanes, lanes, active, mask, other);
          b.Store(out, at, 0, value);
          if (kind == MaskKind::kConstantTrue) b.EndIf();
          b.EndFor();
          // And masked stores: nothing else of the buffer is written.
          const Reg again = b.BeginFor(1, 4);
          const Reg where = b.Mul(again, b.Int(lanes));
          const Reg store_mask = kind == MaskKind::kVector
                                     ? b.Load(mask_in, where, 0, lanes)
                                     : b.Emit(Op::kEq, {again, b.Int(2)});
          b.Store(out, where, 0, b.Load(in, where, -lanes, lanes), active,
                  store_mask);
          b.EndFor();
          runs.push_back({std::move(b).Finish(),
                          {SomeBytes(dtype, 3 * lanes, random),
                           SomeBytes(DType::kBool, rows * lanes, random),
                           Pattern(rows * lanes * SizeBytes(dtype))}});
        }
      }
    }
  }
  ExpectSameAsInterpreter(backend, runs);
}

// f32 registers stored to half precision and back, over every half and values
// between them.
void ExpectHalf(const Backend& backend, DType half) {
  const int64_t elements = 1 << 16;
  std::string every(2 * elements, '\0');
  for (int64_t i = 0; i < elements; ++i) {
    every[2 * i] = static_cast<char>(i & 0xff);
    every[2 * i + 1] = static_cast<char>(i >> 8);
  }
  Random random(4);
  std::vector<Run> runs;
  for (int lanes : {1, 16}) {
    ScalarBuilder widen(absl::StrCat("widen_", Spell(half), "_x", lanes));
    int in = widen.AddArgument("in", half, Role::kInput, elements);
    int out =
        widen.AddArgument("out", DType::kFloat32, Role::kOutput, elements);
    Reg i = widen.BeginFor(0, elements, lanes);
    widen.Store(out, i, 0, widen.Load(in, i, 0, lanes));
    widen.EndFor();
    runs.push_back({std::move(widen).Finish(), {every, Pattern(4 * elements)}});

    // Each half times values near 1: ties, and neighbours of ties.
    ScalarBuilder narrow(absl::StrCat("narrow_", Spell(half), "_x", lanes));
    in = narrow.AddArgument("in", half, Role::kInput, elements);
    out = narrow.AddArgument("out", half, Role::kOutput, 4 * elements);
    i = narrow.BeginFor(0, elements, lanes);
    const Reg value = narrow.Load(in, i, 0, lanes);
    int64_t at = 0;
    const double step = half == DType::kFloat16 ? 0x1p-11 : 0x1p-8;
    for (double factor : {1.0, 1 + step, 1 + step * 1.001, 1 - step * 0.75}) {
      narrow.Store(
          out, i, at * elements,
          narrow.Mul(value, narrow.Float(factor, DType::kFloat32, lanes)));
      ++at;
    }
    narrow.EndFor();
    runs.push_back(
        {std::move(narrow).Finish(), {every, Pattern(8 * elements)}});

    ScalarBuilder any(absl::StrCat("any_", Spell(half), "_x", lanes));
    in = any.AddArgument("in", DType::kFloat32, Role::kInput, elements);
    out = any.AddArgument("out", half, Role::kOutput, elements);
    i = any.BeginFor(0, elements, lanes);
    any.Store(out, i, 0, any.Load(in, i, 0, lanes));
    any.EndFor();
    std::string bits(4 * elements, '\0');
    for (char& byte : bits) byte = static_cast<char>(random.Next());
    runs.push_back({std::move(any).Finish(), {bits, Pattern(2 * elements)}});
  }
  ExpectSameAsInterpreter(backend, runs);
}

// Offsets in i32 and i64 registers, constant offsets of both signs.
void ExpectOffsets(const Backend& backend) {
  std::vector<Run> runs;
  for (DType index : {DType::kInt32, DType::kInt64}) {
    for (DType dtype : {DType::kInt8, DType::kFloat32, DType::kFloat64}) {
      ScalarBuilder b(absl::StrCat("offset_", Spell(index), "_", Spell(dtype)));
      Random random(5);
      const int in = b.AddArgument("in", dtype, Role::kInput, 40);
      const int out = b.AddArgument("out", dtype, Role::kOutput, 40);
      const Reg i = b.BeginFor(0, 5, 1, 1, "i", index);
      const Reg at = b.Mul(b.Sub(b.Int(4, index), i), b.Int(8, index));
      b.Store(out, b.Mul(i, b.Int(8, index)), 4, b.Load(in, at, 4, 4));
      b.Store(out, b.Add(b.Mul(i, b.Int(8, index)), b.Int(20, index)), -20,
              b.Load(in, b.Add(at, b.Int(100, index)), -100, 4));
      b.EndFor();
      runs.push_back(
          {std::move(b).Finish(),
           {SomeBytes(dtype, 40, random), Pattern(40 * SizeBytes(dtype))}});
    }
  }
  ExpectSameAsInterpreter(backend, runs);
}

void ExpectPrefetch(const Backend& backend) {
  ScalarBuilder b("prefetch");
  Random random(6);
  const int in = b.AddArgument("in", DType::kFloat32, Role::kInput, 16);
  const int out = b.AddArgument("out", DType::kFloat32, Role::kOutput, 16);
  for (int level : {0, 1}) {
    for (int64_t far : {int64_t{0}, -(int64_t{1} << 30), int64_t{1} << 30}) {
      b.Prefetch(in, kNoReg, far, level);
    }
  }
  b.Store(out, kNoReg, 0, b.Load(in, kNoReg, 0, 16));
  ExpectSameAsInterpreter(
      backend, {{std::move(b).Finish(),
                 {SomeBytes(DType::kFloat32, 16, random), Pattern(64)}}});
}

// Many arguments, of different dtypes, none written but the output.
void ExpectManyBuffers(const Backend& backend) {
  ScalarBuilder b("many");
  Random random(8);
  std::vector<std::string> args;
  std::vector<int> inputs;
  for (int i = 0; i < 30; ++i) {
    inputs.push_back(b.AddArgument(absl::StrCat("in", i), DType::kInt32,
                                   i % 2 == 0 ? Role::kInput : Role::kConstant,
                                   24));
    args.push_back(SomeBytes(DType::kInt32, 24, random));
  }
  const int out = b.AddArgument("out", DType::kInt32, Role::kOutput, 24);
  args.push_back(Pattern(24 * 4));
  const Reg i = b.BeginFor(0, 24, 8);
  Reg sum = b.Load(inputs[0], i, 0, 8);
  for (size_t n = 1; n < inputs.size(); ++n) {
    sum = b.Sub(b.Load(inputs[n], i, 0, 8), sum);
  }
  b.Store(out, i, 0, sum);
  b.EndFor();
  ExpectSameAsInterpreter(backend, {{std::move(b).Finish(), args}});
}

}  // namespace

std::vector<Case> MemoryCases() {
  return {
      {"LoadsAndStoresOfAllDtypes", ExpectCopies},
      {"OnlyActiveLanesAreTouched", ExpectActive},
      {"VectorMasks",
       [](const Backend& b) { ExpectMasks(b, MaskKind::kVector); }},
      {"ScalarMasks",
       [](const Backend& b) { ExpectMasks(b, MaskKind::kScalar); }},
      {"ConstantMasksAllOn",
       [](const Backend& b) { ExpectMasks(b, MaskKind::kConstantTrue); }},
      {"ConstantMasksAllOff",
       [](const Backend& b) { ExpectMasks(b, MaskKind::kConstantFalse); }},
      {"Fp16ConvertsToNearestEven",
       [](const Backend& b) { ExpectHalf(b, DType::kFloat16); }},
      {"Bf16ConvertsToNearestEven",
       [](const Backend& b) { ExpectHalf(b, DType::kBFloat16); }},
      {"OffsetsInI32AndI64", ExpectOffsets},
      {"PrefetchNeverFaults", ExpectPrefetch},
      {"ThirtyOneArguments", ExpectManyBuffers},
  };
}

}  // namespace tilewright::cts
