#include "backends/kernel_ir/mutate.h"

#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/interpreter.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::kernel_ir {
namespace {

constexpr int kRows = 3, kColumns = 5, kDepth = 4;

// c[task, 0:5] = max(sum over k of a[task, k] * b[k, 0:5], 0) with vectors of
// 4, the last one partly active.
ScalarKernel Product() {
  ScalarBuilder b("product", kRows);
  const int a =
      b.AddArgument("a", DType::kFloat32, Role::kInput, kRows * kDepth);
  const int m =
      b.AddArgument("b", DType::kFloat32, Role::kInput, kDepth * kColumns);
  const int c =
      b.AddArgument("c", DType::kFloat32, Role::kOutput, kRows * kColumns);
  std::vector<Reg> acc = {b.Variable(DType::kFloat32, 4),
                          b.Variable(DType::kFloat32, 4)};
  for (Reg r : acc) b.Assign(r, b.Float(0, DType::kFloat32, 4));
  const Reg row = b.Mul(b.task(), b.Int(kDepth));
  const Reg k = b.BeginFor(0, kDepth);
  const Reg x = b.Splat(b.Load(a, b.Add(row, k), 0), 4);
  const Reg at = b.Mul(k, b.Int(kColumns));
  b.AssignFma(acc[0], x, b.Load(m, at, 0, 4), acc[0]);
  b.AssignFma(acc[1], x, b.Load(m, at, 4, 4, 1), acc[1]);
  b.EndFor();
  const Reg out = b.Mul(b.task(), b.Int(kColumns));
  b.Store(c, out, 0, b.Max(acc[0], b.Float(0)));
  b.Store(c, out, 4, b.Max(acc[1], b.Float(0)), 1);
  return std::move(b).Finish();
}

// The output, or "error".
std::string Result(const ScalarKernel& kernel) {
  std::vector<std::string> args(3);
  const int sizes[] = {kRows * kDepth, kDepth * kColumns, kRows * kColumns};
  for (int i = 0; i < 3; ++i) {
    std::vector<float> values(sizes[i]);
    for (int j = 0; j < sizes[i]; ++j)
      values[j] = i == 2 ? -1 : (j * 7 + 3 * i) % 11 - 4.0f;
    args[i].assign(reinterpret_cast<const char*>(values.data()),
                   values.size() * sizeof(float));
  }
  return InterpretScalarKernel(kernel, absl::MakeSpan(args), 0,
                               kernel.num_tasks)
                 .ok()
             ? args[2]
             : "error";
}

TEST(MutateTest, MutantsAreValidManyAndOfManyKinds) {
  const ScalarKernel kernel = Product();
  const std::vector<Mutant> mutants = Mutants(kernel, 30, 1);
  EXPECT_EQ(mutants.size(), 30u);
  std::set<std::string> kinds;
  for (const Mutant& m : mutants) {
    TW_EXPECT_OK(VerifyScalarKernel(m.kernel)) << m.name;
    EXPECT_TRUE(m.kernel.ToString() != kernel.ToString()) << m.name;
    kinds.insert(m.name.substr(m.name.find(": ") + 2));
  }
  EXPECT_GE(kinds.size(), 12u);
}

TEST(MutateTest, NearlyEveryMutantComputesSomethingElse) {
  const ScalarKernel kernel = Product();
  const std::string want = Result(kernel);
  ASSERT_NE(want, "error");
  std::vector<std::string> same;
  const std::vector<Mutant> mutants = Mutants(kernel, 1000, 1);
  for (const Mutant& m : mutants) {
    if (Result(m.kernel) == want) same.push_back(m.name);
  }
  EXPECT_LE(same.size() * 20, mutants.size()) << ::testing::PrintToString(same);
}

// y = x with neighbours exchanged.
TEST(MutateTest, MutantsOfShufflesComputeSomethingElse) {
  ScalarBuilder b("swap");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 8);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 8);
  const Reg low = b.Load(x, kNoReg, 0, 4), high = b.Load(x, kNoReg, 4, 4);
  b.Store(y, kNoReg, 0, b.Shuffle(low, high, {1, 0, 3, 2, 5, 4, 7, 6}));
  const ScalarKernel kernel = std::move(b).Finish();
  const auto result = [](const ScalarKernel& k) {
    std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<std::string> args(
        2, std::string(reinterpret_cast<const char*>(values.data()), 32));
    return InterpretScalarKernel(k, absl::MakeSpan(args), 0, 1).ok() ? args[1]
                                                                     : "error";
  };
  const std::string want = result(kernel);
  int shuffles = 0;
  for (const Mutant& m : Mutants(kernel, 100, 1)) {
    EXPECT_NE(result(m.kernel), want) << m.name;
    shuffles += m.name.find("shuffle") != std::string::npos;
  }
  EXPECT_EQ(shuffles, 3);
}

TEST(MutateTest, EqualSeedsGiveEqualMutants) {
  const std::vector<Mutant> a = Mutants(Product(), 10, 5),
                            b = Mutants(Product(), 10, 5),
                            c = Mutants(Product(), 10, 6);
  std::string text_a, text_b, text_c;
  for (int i = 0; i < 10; ++i) {
    text_a += a[i].name + a[i].kernel.ToString();
    text_b += b[i].name + b[i].kernel.ToString();
    text_c += c[i].name + c[i].kernel.ToString();
  }
  EXPECT_EQ(text_a, text_b);
  EXPECT_NE(text_a, text_c);
}

}  // namespace
}  // namespace tilewright::kernel_ir
