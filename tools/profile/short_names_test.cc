#include "tools/profile/short_names.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::tools {
namespace {

using ::testing::ElementsAre;

TEST(ShortNamesTest, TheShortestEndThatNoOtherHasIsKept) {
  EXPECT_THAT(ShortNames({"/layers.0/attention/query/Add_output_0",
                          "/layers.1/attention/query/Add_output_0",
                          "/layers.1/attention/key/Add_output_0",
                          "/words/Gather_output_0"}),
              ElementsAre("layers.0/attention/query/Add",
                          "layers.1/attention/query/Add", "key/Add", "Gather"));
}

TEST(ShortNamesTest, EqualNamesStayEqual) {
  EXPECT_THAT(ShortNames({"/a/Relu", "/b/Relu", "/a/Relu"}),
              ElementsAre("a/Relu", "b/Relu", "a/Relu"));
}

TEST(ShortNamesTest, WhatEndsAnotherNameIsKeptWhole) {
  EXPECT_THAT(ShortNames({"Relu", "/a/Relu", "/b/a/Relu"}),
              ElementsAre("Relu", "/a/Relu", "b/a/Relu"));
}

TEST(ShortNamesTest, TheExportersSuffixGoesWhereNamesDifferWithoutIt) {
  EXPECT_THAT(ShortNames({"/a/norm_output_0.sum", "/a/x", "/a/x_output_0",
                          "/a/y_output_01"}),
              ElementsAre("norm.sum", "x", "x_output_0", "y_output_01"));
}

TEST(ShortNamesTest, DifferentNamesStayDifferent) {
  std::vector<std::string> names;
  for (const char* a : {"", "/", "x/", "/x/", "x//", "y/x/"}) {
    for (const char* b : {"c", "c_output_0", "x/c", "c.conv", "c/"})
      names.push_back(std::string(a) + b);
  }
  const std::vector<std::string> result = ShortNames(names);
  EXPECT_EQ(std::set<std::string>(result.begin(), result.end()).size(),
            std::set<std::string>(names.begin(), names.end()).size());
  EXPECT_THAT(ShortNames({}), ElementsAre());
  EXPECT_THAT(ShortNames({"", "/"}), ElementsAre("", "/"));
}

TEST(ColumnsTest, CodePointsCount) {
  EXPECT_EQ(Columns("64·3"), 4);
  EXPECT_EQ(Columns(""), 0);
}

TEST(ColumnsTest, TheEndIsKept) {
  EXPECT_EQ(LastColumns("abcdef", 6), "abcdef");
  EXPECT_EQ(LastColumns("abcdef", 4), "…def");
  EXPECT_EQ(LastColumns("a··def", 5), "…·def");
  EXPECT_EQ(LastColumns("abcdef", 1), "…");
}

}  // namespace
}  // namespace tilewright::tools
