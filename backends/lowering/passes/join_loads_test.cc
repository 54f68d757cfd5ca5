#include "backends/lowering/passes/join_loads.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::ForInst;
using kernel_ir::Inst;
using kernel_ir::kNoReg;
using kernel_ir::LoadInst;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using kernel_ir::ScalarKernel;

constexpr int64_t kElements = 64, kTurns = 3;

// The lanes of all loads of buffer 0, in order.
void LoadsIn(const ScalarKernel& kernel, const std::vector<Inst>& body,
             std::vector<int>& lanes) {
  for (const Inst& inst : body) {
    if (const auto* loop = std::get_if<ForInst>(&inst.node))
      LoadsIn(kernel, loop->body, lanes);
    const auto* load = std::get_if<LoadInst>(&inst.node);
    if (load != nullptr && load->buffer == 0)
      lanes.push_back(kernel.regs[load->dst].lanes);
  }
}

std::string Run(const ScalarKernel& kernel) {
  std::vector<std::string> args(2, std::string(4 * kElements * 2, '\0'));
  for (int i = 0; i < 2 * kElements; ++i) {
    const float value = static_cast<float>(i) + 0.5f;
    std::memcpy(args[0].data() + 4 * i, &value, 4);
  }
  TW_EXPECT_OK(InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 1));
  return args[1];
}

// Calls `load` in each turn of a loop with where it begins, `stride` elements
// further each time, and stores what it gives. Joins the loads; returns the
// lanes of those that are left.
using Load = std::function<std::vector<Reg>(ScalarBuilder&, int x, Reg at)>;
std::vector<int> Joined(int64_t stride, const Load& load) {
  ScalarBuilder b("f");
  const int x =
      b.AddArgument("x", DType::kFloat32, Role::kInput, 2 * kElements);
  const int y =
      b.AddArgument("y", DType::kFloat32, Role::kOutput, 2 * kElements);
  const Reg turn = b.BeginFor(0, kTurns, 1);
  const Reg at = b.Mul(turn, b.Int(stride));
  const std::vector<Reg> values = load(b, x, at);
  int64_t place = 0;
  for (const Reg value : values) {
    b.Store(y, b.Mul(turn, b.Int(kElements / kTurns)), place, value);
    place += b.type(value).lanes;
  }
  EXPECT_LE(place, kElements / kTurns);
  b.EndFor();
  ScalarKernel kernel = std::move(b).Finish();
  TW_EXPECT_OK(VerifyScalarKernel(kernel));
  const std::string want = Run(kernel);
  JoinLoads(kernel);
  TW_EXPECT_OK(VerifyScalarKernel(kernel));
  EXPECT_EQ(Run(kernel), want);
  std::vector<int> lanes;
  LoadsIn(kernel, kernel.body, lanes);
  return lanes;
}

Load Singles(const std::vector<int64_t>& at) {
  return [at](ScalarBuilder& b, int x, Reg from) {
    std::vector<Reg> values;
    for (const int64_t element : at) values.push_back(b.Load(x, from, element));
    return values;
  };
}

using Lanes = std::vector<int>;

TEST(JoinLoadsTest, NeighboursBecomeOneLoad) {
  EXPECT_EQ(Joined(4, Singles({0, 1, 2, 3})), Lanes({4}));
  EXPECT_EQ(Joined(8, Singles({6, 4, 7, 5})), Lanes({4}));
  EXPECT_EQ(Joined(4, Singles({0, 1, 2, 3, 8, 9, 10, 11})), Lanes({4, 4}));
}

TEST(JoinLoadsTest, AtMultiplesOfTheirSizeAlone) {
  EXPECT_EQ(Joined(2, Singles({0, 1, 2, 3})), Lanes({2, 2}));
  EXPECT_EQ(Joined(1, Singles({0, 1, 2, 3})), Lanes({1, 1, 1, 1}));
  EXPECT_EQ(Joined(4, Singles({2, 3, 4, 5})), Lanes({2, 2}));
  EXPECT_EQ(Joined(4, Singles({3, 4})), Lanes({1, 1}));
}

TEST(JoinLoadsTest, NothingIsReadThatNobodyAskedFor) {
  EXPECT_EQ(Joined(4, Singles({0, 1, 2})), Lanes({2, 1}));
  EXPECT_EQ(Joined(4, Singles({1, 2, 3})), Lanes({1, 2}));
}

// A window that moves over a row: 4 + 2 elements for three vectors.
TEST(JoinLoadsTest, VectorsTakeLanesOfSeveralLoads) {
  const Load window = [](ScalarBuilder& b, int x, Reg at) {
    return std::vector<Reg>{b.Load(x, at, 0, 4), b.Load(x, at, 1, 4),
                            b.Load(x, at, 2, 4)};
  };
  EXPECT_EQ(Joined(4, window), Lanes({4, 2}));
  const Load wide = [](ScalarBuilder& b, int x, Reg at) {
    return std::vector<Reg>{b.Load(x, at, 0, 4), b.Load(x, at, 4, 4),
                            b.Load(x, at, 2, 4)};
  };
  EXPECT_EQ(Joined(4, wide), Lanes({4, 4}));
}

TEST(JoinLoadsTest, NotAcrossStoresAndBarriers) {
  ScalarBuilder b("f");
  b.AddThreads(1, 1);
  const int s = b.AddScratch("s", DType::kFloat32, kElements);
  const auto load_two = [&](int64_t at) {
    return b.Add(b.Load(s, kNoReg, at), b.Load(s, kNoReg, at + 1));
  };
  b.Store(s, kNoReg, 8, load_two(0));
  b.Store(s, kNoReg, 9, load_two(2));
  b.Barrier();
  b.Store(s, kNoReg, 10, b.Load(s, kNoReg, 1));
  ScalarKernel kernel = std::move(b).Finish();
  JoinLoads(kernel);
  TW_EXPECT_OK(VerifyScalarKernel(kernel));
  std::vector<int> lanes;
  LoadsIn(kernel, kernel.body, lanes);
  EXPECT_EQ(lanes, Lanes({2, 2, 1}));
}

TEST(JoinLoadsTest, MaskedLoadsStay) {
  const Load masked = [](ScalarBuilder& b, int x, Reg at) {
    const Reg mask = b.Emit(Op::kLt, {at, b.Int(5)});
    std::vector<Reg> values;
    for (int i = 0; i < 4; ++i) values.push_back(b.Load(x, at, i, 1, 0, mask));
    return values;
  };
  EXPECT_EQ(Joined(4, masked), Lanes({1, 1, 1, 1}));
}

TEST(JoinLoadsTest, DrawnLoadsGiveWhatTheyGave) {
  int joined = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    size_t loads = 0;
    const auto drawn = [&](ScalarBuilder& b, int x, Reg at) {
      std::vector<Reg> values;
      int64_t left = kElements / kTurns;
      while (left > 0 && random.Bernoulli(0.9)) {
        const int lanes = static_cast<int>(
            std::min<int64_t>(left, int64_t{1} << random.Index(3)));
        left -= lanes;
        values.push_back(b.Load(x, at, random.UniformInt(0, 12), lanes));
      }
      loads = values.size();
      return values;
    };
    const int64_t stride = random.UniformInt(1, 8);
    joined += Joined(stride, drawn).size() < loads ? 1 : 0;
  }
  EXPECT_GT(joined, 30);
}

}  // namespace
}  // namespace tilewright::lowering
