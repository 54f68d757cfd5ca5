#include "frontends/onnx/ops/einsum/contraction_order.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

// "(0 1)ik": factors 0 and 1 make one with labels ik.
std::string Order(const std::vector<std::string>& operands,
                  const std::string& result,
                  const std::map<char, int64_t>& extent) {
  std::string text;
  for (const Contraction& step : OrderContractions(operands, result, extent))
    absl::StrAppend(&text, "(", step.a, " ", step.b, ")", step.labels, " ");
  return text;
}

TEST(ContractionOrderTest, TwoOperandsAreMultipliedAtOnce) {
  EXPECT_EQ(Order({"ij", "jk"}, "ki", {{'i', 2}, {'j', 3}, {'k', 4}}),
            "(0 1)ki ");
  EXPECT_EQ(Order({"ij"}, "i", {{'i', 2}, {'j', 3}}), "");
}

TEST(ContractionOrderTest, AChainBeginsWhereItIsNarrow) {
  EXPECT_EQ(Order({"ij", "jk", "kl"}, "il",
                  {{'i', 100}, {'j', 2}, {'k', 100}, {'l', 100}}),
            "(1 2)jl (0 3)il ");
  EXPECT_EQ(Order({"ij", "jk", "kl"}, "il",
                  {{'i', 100}, {'j', 100}, {'k', 2}, {'l', 100}}),
            "(0 1)ik (3 2)il ");
}

TEST(ContractionOrderTest, ABilinearFormIsAProductAndASum) {
  EXPECT_EQ(Order({"bn", "anm", "bm"}, "ba",
                  {{'a', 16}, {'b', 64}, {'m', 32}, {'n', 32}}),
            "(0 1)bam (3 2)ba ");
}

TEST(ContractionOrderTest, LabelsOfBothFactorsComeFirst) {
  EXPECT_EQ(Order({"bij", "bjk", "bkl"}, "bil",
                  {{'b', 8}, {'i', 4}, {'j', 50}, {'k', 3}, {'l', 60}}),
            "(0 1)bik (3 2)bil ");
}

// What a step needs is what its factors and what is left have in common with
// the rest: a label that nothing needs any more never stays.
TEST(ContractionOrderTest, EveryLabelIsSummedAsSoonAsItCanBe) {
  const std::map<char, int64_t> extent = {
      {'a', 3}, {'b', 5}, {'c', 7}, {'d', 2}, {'e', 4}};
  const std::vector<std::string> operands = {"ab", "bc", "cd", "de", "ea"};
  const std::vector<Contraction> steps =
      OrderContractions(operands, "", extent);
  ASSERT_EQ(steps.size(), 4u);
  std::vector<std::string> factors = operands;
  std::vector<bool> taken(9, false);
  for (const Contraction& step : steps) {
    EXPECT_FALSE(taken[step.a] || taken[step.b]);
    taken[step.a] = taken[step.b] = true;
    factors.push_back(step.labels);
    for (const char label : step.labels) {
      int left = 0;
      for (size_t i = 0; i + 1 < factors.size(); ++i)
        left += !taken[i] && factors[i].find(label) != std::string::npos;
      EXPECT_GT(left, 0) << label;
    }
  }
  EXPECT_EQ(steps.back().labels, "");
}

}  // namespace
}  // namespace tilewright
