#include "bench/compare/summary.h"

#include <string>

#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

using Verdict = SummaryRow::Verdict;

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(SummaryTest, MeanIsGeometricAndPerThreadCount) {
  const std::string text = SummaryText({{"a", 1, 1, 4, Verdict::kOk},
                                        {"b", 1, 2, 2, Verdict::kOk},
                                        {"a", 2, 10, 5, Verdict::kOk}});
  EXPECT_TRUE(Has(text,
                  "1 thread: geometric mean 2.000 x over 2 models, lowest "
                  "1.000 x (b)\n"))
      << text;
  EXPECT_TRUE(Has(text,
                  "2 threads: geometric mean 0.500 x over 1 models, lowest "
                  "0.500 x (a)\n"))
      << text;
}

TEST(SummaryTest, RowsSayHowTheyWereVerified) {
  const std::string text = SummaryText({{"a", 1, 1, 1, Verdict::kTooLarge},
                                        {"b", 1, 1, 1, Verdict::kNotVerified}});
  EXPECT_TRUE(Has(text, "| a | 1 | 1.000 | 1.000 | 1.00 x | TOO LARGE |\n"))
      << text;
  EXPECT_TRUE(Has(text, "| b | 1 | 1.000 | 1.000 | 1.00 x | not verified |\n"))
      << text;
}

TEST(SummaryTest, WithoutAPeerThereIsNone) {
  EXPECT_EQ(SummaryText({}), "");
  EXPECT_EQ(SummaryText({{"a", 1, 1, 0, Verdict::kOk}}), "");
}

}  // namespace
}  // namespace tilewright::bench
