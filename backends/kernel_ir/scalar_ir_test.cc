#include "backends/kernel_ir/scalar_ir.h"

#include <string>
#include <utility>

#include "backends/kernel_ir/builder.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::kernel_ir {
namespace {

using absl::StatusCode;

// y[task] = 2 * x[task], with a loop around.
ScalarKernel Doubling() {
  ScalarBuilder b("double", 4);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 4);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 4);
  b.BeginFor(0, 1, 1, 1, "i");
  const Reg v = b.Load(x, b.task(), 0);
  b.Store(y, b.task(), 0, b.Add(v, v));
  b.EndFor();
  return std::move(b).Finish();
}

std::vector<Inst>& LoopBody(ScalarKernel& kernel) {
  return std::get<ForInst>(kernel.body[0].node).body;
}

TEST(ScalarIrTest, PrintsRegistersBuffersAndScopes) {
  EXPECT_EQ(Doubling().ToString(),
            "kernel double tasks 4 scratch 0\n"
            "  buffer x#0: f32[4] input\n"
            "  buffer y#1: f32[4] output\n"
            "  %task.0 = task\n"
            "  for %i.1 in 0..1:\n"
            "    %2: f32 = load x#0[%task.0]\n"
            "    %3: f32 = add %2, %2\n"
            "    store y#1[%task.0] = %3\n");
}

TEST(ScalarBuilderTest, EqualPureInstructionsShareARegisterWithinScope) {
  ScalarBuilder b("k");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 4);
  const int s = b.AddScratch("s", DType::kFloat32, 4);
  EXPECT_EQ(b.Int(3), b.Int(3));
  EXPECT_NE(b.Int(3), b.Int(3, DType::kInt32));
  EXPECT_NE(b.Float(0.0), b.Float(-0.0));
  const Reg one = b.Float(1);
  b.Store(s, kNoReg, 0, one);
  const Reg before = b.Load(s, kNoReg, 0);
  EXPECT_EQ(b.Load(s, kNoReg, 0), before);
  b.Store(s, kNoReg, 1, one);
  EXPECT_NE(b.Load(s, kNoReg, 0), before);
  const Reg i = b.BeginFor(0, 2);
  EXPECT_EQ(b.Float(1), one);  // from the scope around
  const Reg inside = b.Load(x, i, 0);
  EXPECT_EQ(b.Load(x, i, 0), inside);
  const Reg seven = b.Float(7);
  b.EndFor();
  EXPECT_NE(b.Float(7), seven);  // gone with its scope
}

TEST(ScalarBuilderTest, WhatReadsAVariableIsNeverShared) {
  ScalarBuilder b("k");
  const Reg v = b.Variable(DType::kFloat32, 1);
  b.Assign(v, b.Float(1));
  const Reg first = b.Add(v, v);
  b.Assign(v, b.Float(2));
  EXPECT_NE(b.Add(v, v), first);
}

TEST(ScalarBuilderTest, ScalarsBesideVectorsAreSplat) {
  ScalarBuilder b("k");
  const Reg v = b.Add(b.Float(1, DType::kFloat32, 8), b.Float(2));
  EXPECT_EQ(b.type(v).lanes, 8);
  EXPECT_EQ(b.type(b.Emit(Op::kLt, {v, v})).dtype, DType::kBool);
}

TEST(ScalarVerifierTest, AcceptsWhatTheBuilderWrites) {
  TW_EXPECT_OK(VerifyScalarKernel(Doubling()));
}

TEST(ScalarVerifierTest, RejectsRegistersReadBeforeTheyAreSet) {
  ScalarKernel kernel = Doubling();
  LoopBody(kernel).erase(LoopBody(kernel).begin());
  EXPECT_THAT(
      VerifyScalarKernel(kernel),
      StatusIs(StatusCode::kInternal, "%2 may be read before it is set"));

  ScalarBuilder b("k");
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 1);
  const Reg v = b.Variable(DType::kFloat32, 1, "v");
  b.BeginFor(0, 0);  // never runs
  b.Assign(v, b.Float(1));
  b.EndFor();
  b.Store(y, kNoReg, 0, v);
  EXPECT_THAT(VerifyScalarKernel(std::move(b).Finish()),
              StatusIs(StatusCode::kInternal, "%v.1 may be read"));
}

TEST(ScalarVerifierTest, ValuesEndWithTheirScope) {
  ScalarKernel kernel = Doubling();
  kernel.body.push_back(LoopBody(kernel).back());
  EXPECT_THAT(
      VerifyScalarKernel(kernel),
      StatusIs(StatusCode::kInternal, "%3 may be read before it is set"));
}

TEST(ScalarVerifierTest, RejectsSecondAssignmentOfAValue) {
  ScalarKernel kernel = Doubling();
  LoopBody(kernel).insert(LoopBody(kernel).begin(), LoopBody(kernel)[0]);
  EXPECT_THAT(VerifyScalarKernel(kernel),
              StatusIs(StatusCode::kInternal, "value %2 is assigned twice"));
}

TEST(ScalarVerifierTest, RejectsStoresToInputs) {
  ScalarKernel kernel = Doubling();
  kernel.buffers[1].role = Role::kInput;
  EXPECT_THAT(VerifyScalarKernel(kernel),
              StatusIs(StatusCode::kInternal, "store to the input y"));
}

TEST(ScalarVerifierTest, RejectsConstantOffsetsOutside) {
  ScalarBuilder b("k");
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 8);
  b.Store(y, kNoReg, 1, b.Float(1, DType::kFloat32, 8));
  EXPECT_THAT(
      VerifyScalarKernel(std::move(b).Finish()),
      StatusIs(StatusCode::kInternal, "elements 1..9 of y, which has 8"));
}

TEST(ScalarVerifierTest, RejectsMixedTypes) {
  ScalarKernel kernel = Doubling();
  kernel.regs[3].dtype = DType::kFloat64;
  EXPECT_THAT(VerifyScalarKernel(kernel),
              StatusIs(StatusCode::kInternal, "but its value is f32x1"));
  kernel = Doubling();
  kernel.regs[3].lanes = 2;
  EXPECT_THAT(VerifyScalarKernel(kernel),
              StatusIs(StatusCode::kInternal, "f32x2"));
}

TEST(ScalarVerifierTest, RejectsOverlappingScratch) {
  ScalarBuilder b("k");
  b.AddScratch("s", DType::kFloat32, 32);
  b.AddScratch("t", DType::kFloat32, 32);
  ScalarKernel kernel = std::move(b).Finish();
  TW_EXPECT_OK(VerifyScalarKernel(kernel));
  kernel.buffers[1].scratch_offset_bytes = 64;
  EXPECT_THAT(
      VerifyScalarKernel(kernel),
      StatusIs(StatusCode::kInternal, "scratch buffer t overlaps another"));
}

TEST(ScalarIrTest, BitsAndAnyNameTheirSources) {
  ScalarBuilder b("k");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 4);
  const Reg v = b.Load(x, kNoReg, 0, 4);
  const Reg bits = b.Bitcast(DType::kInt32, v);
  EXPECT_EQ(b.Bitcast(DType::kInt32, v), bits);
  const Reg any = b.Any(b.Emit(Op::kIsNan, {v}));
  EXPECT_EQ(b.Any(any), any);
  const ScalarKernel kernel = std::move(b).Finish();
  TW_EXPECT_OK(VerifyScalarKernel(kernel));
  EXPECT_NE(kernel.ToString().find("%2: i32x4 = bits of %1\n"),
            std::string::npos);
  EXPECT_NE(kernel.ToString().find("%4: bool = any of %3\n"),
            std::string::npos);
}

TEST(ScalarIrTest, ShufflesNameTheirLanes) {
  ScalarBuilder b("k");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 8);
  const Reg low = b.Load(x, kNoReg, 0, 4), high = b.Load(x, kNoReg, 4, 4);
  const Reg even = b.Shuffle(low, high, {0, 2, 4, 6});
  EXPECT_EQ(b.Shuffle(low, high, {0, 2, 4, 6}), even);
  EXPECT_NE(b.Shuffle(low, high, {1, 3, 5, 7}), even);
  EXPECT_EQ(b.Shuffle(low, high, {5}), b.Lane(high, 1));
  const ScalarKernel kernel = std::move(b).Finish();
  TW_EXPECT_OK(VerifyScalarKernel(kernel));
  EXPECT_NE(kernel.ToString().find("%3: f32x4 = shuffle %1, %2 [0 2 4 6]\n"),
            std::string::npos);
}

TEST(ScalarVerifierTest, RejectsShufflesOfUnequalVectorsAndOfLanesBeyond) {
  ScalarBuilder b("k");
  const Reg v = b.Float(1, DType::kFloat32, 4);
  const Reg wide = b.Float(1, DType::kFloat32, 8);
  b.Shuffle(v, v, {3, 7, 0, 1});
  const ScalarKernel kernel = std::move(b).Finish();
  TW_ASSERT_OK(VerifyScalarKernel(kernel));
  const auto with = [&](const auto& change) {
    ScalarKernel changed = kernel;
    change(std::get<ShuffleInst>(changed.body.back().node));
    return VerifyScalarKernel(changed);
  };
  EXPECT_THAT(with([&](ShuffleInst& s) { s.b = wide; }),
              StatusIs(StatusCode::kInternal, "shuffle of f32x4 and f32x8"));
  EXPECT_THAT(with([&](ShuffleInst& s) { s.lanes[1] = 8; }),
              StatusIs(StatusCode::kInternal, "lane 8 of two f32x4"));
  EXPECT_THAT(with([&](ShuffleInst& s) { s.lanes = {0}; }),
              StatusIs(StatusCode::kInternal, "shuffle to 1 lanes"));
  EXPECT_THAT(with([&](ShuffleInst& s) { s.lanes.pop_back(); }),
              StatusIs(StatusCode::kInternal, "but its value is f32x3"));
}

TEST(ScalarIrTest, BitsOfAnotherSizeAndAnyOfNumbersAreRefused) {
  ScalarBuilder b("k");
  const Reg v = b.Bitcast(DType::kInt32, b.Float(1, DType::kFloat32, 4));
  const Reg any = b.Any(b.Bool(true, 4));
  const ScalarKernel kernel = std::move(b).Finish();
  TW_ASSERT_OK(VerifyScalarKernel(kernel));
  ScalarKernel wide = kernel;
  wide.regs[v].dtype = DType::kInt64;
  EXPECT_THAT(VerifyScalarKernel(wide),
              StatusIs(StatusCode::kInternal, "the bits of f32x4 as i64"));
  ScalarKernel numbers = kernel;
  for (Inst& inst : numbers.body) {
    if (auto* n = std::get_if<AnyInst>(&inst.node)) n->source = v;
  }
  EXPECT_THAT(VerifyScalarKernel(numbers),
              StatusIs(StatusCode::kInternal, "any of i32x4"));
  EXPECT_EQ(numbers.regs[any].dtype, DType::kBool);
}

}  // namespace
}  // namespace tilewright::kernel_ir
