#include "base/compiler_log.h"

#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(CompilerLogTest, ALineThatSpeaksOfAnErrorComesBeforeAllOthers) {
  EXPECT_EQ(FirstError("k.cu(3): warning: unused\n"
                       "  k.cu(7): error: no such name\nk.cu(9): error: x\n"),
            "k.cu(7): error: no such name");
}

TEST(CompilerLogTest, WithoutAnErrorItIsTheFirstLineThatSaysSomething) {
  EXPECT_EQ(FirstError("\n  \nlinker killed\nbye"), "linker killed");
  EXPECT_EQ(FirstError(""), "");
}

}  // namespace
}  // namespace tilewright
