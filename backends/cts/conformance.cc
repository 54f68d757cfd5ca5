#include "backends/cts/conformance.h"

#include <algorithm>
#include <utility>

#include "backends/cts/cases.h"
#include "gtest/gtest.h"

namespace tilewright::cts {
namespace {

std::vector<Case> AllCases() {
  std::vector<Case> all;
  for (const auto& cases :
       {ArithmeticCases(), ExtremeCases(), MemoryCases(), ControlCases(),
        LaunchCases(), ModuleCases(), RandomCases(), ThreadCases()}) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

class ConformanceTest : public testing::Test {
 public:
  ConformanceTest(Backend backend, Case test)
      : backend_(std::move(backend)), case_(std::move(test)) {}

  void TestBody() override {
    const auto reason = backend_.unsupported.find(case_.name);
    if (reason != backend_.unsupported.end()) {
      GTEST_SKIP() << case_.name << " is not supported: " << reason->second;
    }
    case_.run(backend_);
  }

 private:
  const Backend backend_;
  const Case case_;
};

// Fails for names in `unsupported` that are no tests: they hide nothing.
class KnownNamesTest : public testing::Test {
 public:
  explicit KnownNamesTest(Backend backend) : backend_(std::move(backend)) {}
  void TestBody() override {
    const std::vector<std::string> names = ConformanceTestNames();
    for (const auto& [name, reason] : backend_.unsupported) {
      EXPECT_NE(std::find(names.begin(), names.end(), name), names.end())
          << "'" << name << "' is no conformance test";
      EXPECT_FALSE(reason.empty()) << name << " needs a reason";
    }
  }

 private:
  const Backend backend_;
};

}  // namespace

std::vector<std::string> ConformanceTestNames() {
  std::vector<std::string> names;
  for (const Case& test : AllCases()) names.push_back(test.name);
  return names;
}

void RegisterConformanceTests(const Backend& backend) {
  testing::RegisterTest(
      backend.name.c_str(), "UnsupportedTestsExist", nullptr, nullptr, __FILE__,
      __LINE__,
      [backend]() -> testing::Test* { return new KnownNamesTest(backend); });
  for (const Case& test : AllCases()) {
    testing::RegisterTest(backend.name.c_str(), test.name.c_str(), nullptr,
                          nullptr, __FILE__, __LINE__,
                          [backend, test]() -> testing::Test* {
                            return new ConformanceTest(backend, test);
                          });
  }
}

}  // namespace tilewright::cts
