#include "compiler/rewrite_model.h"

#include <utility>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(RewriteModelTest, ProductsOfBf16AreUsedWhereTheyAreFaster) {
  for (const auto& [name, uses] :
       {std::pair<const char*, bool>{"cpu_x86_64_v4_bf16", true},
        {"cpu_zen5", true},
        {"cpu_emerald_rapids", false},  // has the instruction
        {"cpu_x86_64_v4_amx", false},   // the same core
        {"cpu_x86_64_v4", false}}) {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(name));
    EXPECT_EQ(MultipliesBf16(spec), uses) << name;
  }
}

}  // namespace
}  // namespace tilewright
