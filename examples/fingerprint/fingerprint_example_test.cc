// One library of Tilewright used alone: keys that are the same on every
// machine.

#include "base/fingerprint.h"
#include "gtest/gtest.h"

namespace {

TEST(FingerprintExampleTest, TheKeyOfARecordDependsOnItsFieldsAndTheirOrder) {
  const tilewright::Fingerprint key =
      tilewright::Fingerprinter().AddString("gemm").AddInt(1024).Finish();
  EXPECT_EQ(key.ToString(), "d55d80ccdc8f63d090aed6aec2c51e91");
  EXPECT_NE(
      key, tilewright::Fingerprinter().AddInt(1024).AddString("gemm").Finish());
}

}  // namespace
