#include "base/fingerprint.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

int BitsSet(const Fingerprint& a, const Fingerprint& b) {
  return __builtin_popcountll(a.high ^ b.high) +
         __builtin_popcountll(a.low ^ b.low);
}

TEST(FingerprintTest, ValuesNeverChange) {
  EXPECT_EQ(Fingerprint::Of("").ToString(), "c2d570ca20136ef34c3e8330d5a06bce");
  EXPECT_EQ(Fingerprint::Of("tilewright").ToString(),
            "a495883d2d56a1306243b648fb685d79");
  EXPECT_EQ(Fingerprint::Of(std::string(1000, '\xff')).ToString(),
            "b1e0eef51aa9c41cdcbdb3412a57d1e1");
}

TEST(FingerprintTest, AnySplitOfTheStreamGivesTheSame) {
  std::string bytes;
  for (int i = 0; i < 150; ++i) bytes += static_cast<char>(i * 37);
  const std::string_view view = bytes;
  const Fingerprint whole = Fingerprint::Of(view);
  for (size_t i = 0; i <= view.size(); ++i) {
    for (size_t j = i; j <= view.size(); j += 7) {
      ASSERT_EQ(Fingerprinter()
                    .Add(view.substr(0, i))
                    .Add(view.substr(i, j - i))
                    .Add(view.substr(j))
                    .Finish(),
                whole)
          << i << " " << j;
    }
  }
}

TEST(FingerprintTest, EveryInputBitFlipsAboutHalfTheOutput) {
  for (const size_t size : {1, 8, 31, 32, 33, 64, 100}) {
    std::string bytes(size, '\0');
    const Fingerprint original = Fingerprint::Of(bytes);
    double sum = 0;
    for (size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] ^= static_cast<char>(1 << (bit % 8));
      const int flipped = BitsSet(original, Fingerprint::Of(bytes));
      bytes[bit / 8] ^= static_cast<char>(1 << (bit % 8));
      ASSERT_GT(flipped, 30) << size << " bytes, bit " << bit;
      ASSERT_LT(flipped, 98) << size << " bytes, bit " << bit;
      sum += flipped;
    }
    EXPECT_NEAR(sum / (8.0 * static_cast<double>(size)), 64, 6) << size;
  }
}

TEST(FingerprintTest, SimilarInputsDoNotCollideInEitherHalf) {
  std::set<uint64_t> high, low;
  for (int i = 0; i < 100000; ++i) {
    const Fingerprint f = Fingerprint::Of(absl::StrCat("task ", i));
    high.insert(f.high);
    low.insert(f.low);
  }
  for (int zeros = 0; zeros < 1000; ++zeros) {
    const Fingerprint f = Fingerprint::Of(std::string(zeros, '\0'));
    high.insert(f.high);
    low.insert(f.low);
  }
  EXPECT_EQ(high.size(), 101000u);
  EXPECT_EQ(low.size(), 101000u);
}

TEST(FingerprintTest, StringsKeepTheirBorders) {
  EXPECT_NE(Fingerprinter().AddString("ab").AddString("c").Finish(),
            Fingerprinter().AddString("a").AddString("bc").Finish());
  EXPECT_NE(Fingerprinter().AddInt(1).AddInt(2).Finish(),
            Fingerprinter().AddInt(2).AddInt(1).Finish());
}

TEST(FingerprintTest, HexRoundTripsAndBadHexIsRefused) {
  const Fingerprint f = Fingerprint::Of("x");
  EXPECT_THAT(Fingerprint::FromString(f.ToString()), IsOkAndHolds(f));
  for (const char* bad : {"", "12", "zz", "0123456789abcdef0123456789abcdeF"}) {
    EXPECT_THAT(Fingerprint::FromString(bad),
                StatusIs(absl::StatusCode::kInvalidArgument, "32"));
  }
}

}  // namespace
}  // namespace tilewright
