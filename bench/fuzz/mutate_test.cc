#include <set>
#include <string>

#include "base/random.h"
#include "base/status_matchers.h"
#include "bench/fuzz/fuzz_answer.h"
#include "bench/fuzz/mutate_onnx.h"
#include "bench/fuzz/mutate_tw.h"
#include "frontends/onnx/model_builder.h"
#include "gtest/gtest.h"
#include "runtime/format/tw_file.h"

namespace tilewright::bench {
namespace {

onnx::ModelProto SmallModel() {
  ModelBuilder builder(13);
  builder.Input("x", {2, 3}).Floats("w", {3}, {1, 2, 3});
  builder.Node("Mul", {"x", "w"}, {"z"});
  builder.Node("ReduceSum", {"z"}, {"y"}).Int("keepdims", 1);
  builder.Output("y");
  return builder.model();
}

TEST(MutateOnnxTest, TheSameStateMakesTheSameChangeAndNearlyAllDiffer) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    onnx::ModelProto once = SmallModel(), again = SmallModel();
    Random a(seed), b(seed);
    const std::string change = MutateOnnx(once, a);
    EXPECT_EQ(change, MutateOnnx(again, b));
    EXPECT_EQ(once.SerializeAsString(), again.SerializeAsString());
    EXPECT_FALSE(change.empty());
    EXPECT_EQ(change.find('\n'), std::string::npos) << change;
    seen.insert(once.SerializeAsString());
  }
  EXPECT_GT(seen.size(), 250u);
}

std::string SmallTw() {
  Program program;
  program.set_target("cpu:x86-64-v2");
  program.set_arena_bytes(64);
  program.add_buffers()->set_kind(ProgramBuffer::ARENA);
  program.mutable_buffers(0)->set_size_bytes(64);
  program.add_kernels()->set_name("k");
  program.add_steps()->mutable_zero()->set_size_bytes(8);
  return SerializeTw(program, "module", "constants");
}

TEST(MutateTwTest, ChecksumsFitAgainAndCodeThatRunsIsNeverChanged) {
  const std::string tw = SmallTw();
  TW_ASSERT_OK_AND_ASSIGN(const TwView before, ParseTw(tw));
  int parsed = 0, may_run = 0;
  for (int64_t index = 0; index < 1000; ++index) {
    const TwMutant mutant = MakeTwMutant({tw}, index);
    EXPECT_EQ(mutant.bytes, MakeTwMutant({tw}, index).bytes);
    const auto view = ParseTw(mutant.bytes);
    if (view.ok()) {
      ++parsed;
      EXPECT_EQ(view->module, before.module) << mutant.change;
    }
    if (!mutant.may_run) continue;
    ++may_run;
    ASSERT_TRUE(view.ok());
    EXPECT_EQ(view->program.kernels(0).SerializeAsString(),
              before.program.kernels(0).SerializeAsString());
  }
  EXPECT_GT(parsed, 200);
  EXPECT_GT(may_run, 100);
}

TEST(FuzzAnswerTest, WhatIsEncodedIsDecoded) {
  const FuzzAnswer answer{"refused", "import", "a 'b'\nc", {}};
  const FuzzAnswer back = Decode(Encode(answer));
  EXPECT_EQ(back.verdict, "refused");
  EXPECT_EQ(back.stage, "import");
  EXPECT_EQ(back.message, answer.message);
  EXPECT_EQ(KindOfMessage("node 'a12' has 30 of [2, 3]"),
            "node '.' has # of []");
  EXPECT_EQ(KindOfMessage("node 'a' (Conv): (b)"), "node '.' (op): (b)");
}

TEST(FuzzAnswerTest, DifferencesAreFoundAndRoundingIsNone) {
  OrtTensor a = DrawTensor("x", 1, {4}, 1);
  EXPECT_EQ(a.bytes, DrawTensor("x", 1, {4}, 1).bytes);
  EXPECT_NE(a.bytes, DrawTensor("x", 1, {4}, 2).bytes);
  EXPECT_EQ(Difference({a}, {a}), "");
  OrtTensor b = a;
  reinterpret_cast<float*>(b.bytes.data())[2] += 1e-7f;
  EXPECT_EQ(Difference({a}, {b}), "");
  reinterpret_cast<float*>(b.bytes.data())[2] += 1;
  EXPECT_NE(Difference({a}, {b}), "");
  b.dims = {2, 2};
  EXPECT_NE(Difference({a}, {b}), "");
}

}  // namespace
}  // namespace tilewright::bench
