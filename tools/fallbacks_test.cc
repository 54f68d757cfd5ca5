#include "tools/fallbacks.h"

#include "gtest/gtest.h"

namespace tilewright::tools {
namespace {

Program Fallbacks() {
  Program program;
  program.add_kernels()->set_name("k0");
  KernelInfo* kernel = program.add_kernels();
  kernel->set_name("k1");
  kernel->set_label("conv1 relu1");
  kernel->set_generator("tasks");
  kernel->add_refused("contraction: no loop");
  UnfusedGroup* apart = program.add_unfused();
  apart->set_computes("a b");
  apart->set_why("only contractions");
  return program;
}

TEST(FallbacksTest, OnlyWhatWasRefusedIsTold) {
  EXPECT_EQ(FallbackText(Fallbacks()),
            "fallback k1 (conv1 relu1) to schedule 'tasks' after contraction: "
            "no loop\nnot fused a b: only contractions\n");
  EXPECT_EQ(FallbackText(Fallbacks().kernels(0)), "");
  EXPECT_EQ(FallbackText(Fallbacks().kernels(1)),
            "  fallback to schedule 'tasks' after contraction: no loop\n");
}

TEST(FallbacksTest, GroupsLeftApartForTheSameReasonAreOneLine) {
  Program program;
  for (const char* computes : {"a b c", "d e f", "g h"}) {
    UnfusedGroup* apart = program.add_unfused();
    apart->set_computes(computes);
    apart->set_why(computes[0] == 'g' ? "too large" : "no tiles");
  }
  EXPECT_EQ(UnfusedText(program),
            "not fused a to c (3 computes) and 1 more: no tiles\n"
            "not fused g h: too large\n");
}

TEST(FallbacksTest, JsonHasGroupsLeftApartToo) {
  Json json;
  AppendFallbacks(Fallbacks(), json);
  EXPECT_EQ(json.text(),
            "[{\"computes\": \"conv1 relu1\", \"kernel\": \"k1\", "
            "\"generator\": \"tasks\", \"refused\": [\"contraction: no "
            "loop\"]}, {\"computes\": \"a b\", \"generator\": \"apart\", "
            "\"refused\": [\"only contractions\"]}]");
  Json none;
  AppendFallbacks(Program(), none);
  EXPECT_EQ(none.text(), "[]");
}

}  // namespace
}  // namespace tilewright::tools
