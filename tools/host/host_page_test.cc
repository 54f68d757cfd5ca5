#include "tools/host/host_page.h"

#include <string>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/host/host_facts.h"
#include "tools/page/json.h"

namespace tilewright::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

HostFacts SomeFacts() {
  HostFacts facts;
  facts.command = "tilewright_bench --report=</script>.html";
  facts.date = "2026-11-21";
  facts.threads = 2;
  facts.peaks = {{"f32", "AVX-512", 1, 1.5e11}};
  facts.bandwidths = {{"read", 2, 4096, 2e11}};
  facts.latencies = {{4096, 1.25}};
  facts.costs = {{"launch", "a kernel", 700}};
  facts.variations = {{"f32", "cpu", {10, 20}, {0, 0.5}}};
  facts.interferences = {{"l2", 2, 1.5, 2.5}};
  return facts;
}

TEST(HostPageTest, JsonHasEveryFact) {
  Json json;
  AppendHostFacts(SomeFacts(), json);
  EXPECT_EQ(
      json.text(),
      "{\"command\": \"tilewright_bench --report=</script>.html\", \"date\": "
      "\"2026-11-21\", \"instructions\": \"\", \"threads\": 2, \"peaks\": "
      "[{\"dtype\": \"f32\", \"instructions\": \"AVX-512\", \"threads\": 1, "
      "\"ops_per_s\": 1.5e+11}], \"bandwidths\": [{\"loop\": \"read\", "
      "\"threads\": 2, \"bytes\": 4096, \"bytes_per_s\": 2e+11}], "
      "\"latencies\": [{\"bytes\": 4096, \"ns\": 1.25}], \"retentions\": [], "
      "\"costs\": "
      "[{\"name\": \"launch\", \"what\": \"a kernel\", \"ns\": 700}], "
      "\"variations\": [{\"kernel\": \"f32\", \"clock\": \"cpu\", \"repeats\": "
      "[10, 20], \"cv\": [0, 0.5]}], \"interferences\": [{\"kernel\": \"l2\", "
      "\"degree\": 2, \"cpu_slowdown\": 1.5, \"wall_slowdown\": 2.5}]}");
}

TEST(HostPageTest, ThePageNeedsNothingElse) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  const std::string page = HostPage(SomeFacts(), spec, "tilewright 0");
  EXPECT_THAT(page, HasSubstr("\"ops_per_s\": 1.5e+11"));
  EXPECT_THAT(page, HasSubstr("\"capacity_bytes\": 32768"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme"));
  // Data ends no script early, and nothing is left to fill in or to fetch.
  EXPECT_THAT(page, HasSubstr("--report=<\\/script>.html"));
  for (const char* part : {"@DATA@", "@STYLE@", "@SCRIPT@", "http://",
                           "https://", "src=", "<link"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
}

}  // namespace
}  // namespace tilewright::tools
