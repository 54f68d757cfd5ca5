#include "tilegraph/fuse/connect_search.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Text(absl::Span<const ConnectEdge> edges) {
  std::string text;
  for (const ConnectEdge& edge : edges)
    absl::StrAppend(&text, text.empty() ? "" : " ", edge.producer, "-",
                    edge.consumer);
  return text;
}

// "0-1 1-2 without 3-4".
std::string Text(const ConnectMove& move) {
  return absl::StrCat(Text(move.connect),
                      move.detach.empty() ? "" : " without ",
                      Text(move.detach));
}

// Saves what the test says, and remembers what it was asked and told.
class FakeJudge : public ConnectJudge {
 public:
  using Answer =
      std::function<std::optional<double>(const std::string& edges, int level)>;
  explicit FakeJudge(Answer answer) : answer_(std::move(answer)) {}

  void Begin(const ConnectEdge& edge,
             absl::Span<const ConnectMove> moves) override {
    begun.push_back(Text({edge}));
    coming.assign(moves.begin(), moves.end());
  }
  std::optional<double> Saved(const ConnectMove& move, int level) override {
    asked.push_back(absl::StrCat(Text(move), " @", level));
    EXPECT_TRUE(std::any_of(
        coming.begin(), coming.end(),
        [&](const ConnectMove& one) { return Text(one) == Text(move); }))
        << Text(move) << " was not announced";
    return answer_(Text(move), level);
  }
  void Connect(const ConnectMove& move, int level) override {
    connected.push_back(absl::StrCat(Text(move), " @", level));
  }

  std::vector<std::string> begun, asked, connected;
  std::vector<ConnectMove> coming;  // about the edge

 private:
  Answer answer_;
};

std::optional<double> Nothing(const std::string&, int) { return std::nullopt; }

TEST(ConnectSearchTest, AsksForEveryLevelOfEveryEdge) {
  FakeJudge judge(Nothing);
  ConnectSearchOptions options;
  options.levels = 2;
  SearchConnections({{0, 1}, {1, 2}}, {}, options, judge);
  EXPECT_THAT(judge.asked, ElementsAre("0-1 @1", "0-1 @2", "1-2 @1", "1-2 @2"));
  EXPECT_THAT(judge.connected, IsEmpty());
}

TEST(ConnectSearchTest, TakesTheBestLevel) {
  FakeJudge judge([](const std::string&, int level) -> std::optional<double> {
    return level == 2 ? 3.0 : 1.0;
  });
  ConnectSearchOptions options;
  options.levels = 3;
  SearchConnections({{0, 1}}, {}, options, judge);
  EXPECT_THAT(judge.connected, ElementsAre("0-1 @2"));
}

// 0 is read by 1 and 3, all meet in 3.
const std::vector<ConnectEdge> kDiamond = {{0, 1}, {0, 3}, {1, 2}, {2, 3}};

TEST(ConnectSearchTest, AllPathsAreTriedTogetherUntilTheyMeet) {
  FakeJudge judge([](const std::string& edges, int) -> std::optional<double> {
    if (edges == "0-1 0-3 1-2 2-3") return 1;
    return std::nullopt;
  });
  SearchConnections(kDiamond, {}, {}, judge);
  EXPECT_THAT(judge.asked, ElementsAre("0-1 @1", "0-1 0-3 1-2 2-3 @1"));
  EXPECT_THAT(judge.connected, ElementsAre("0-1 0-3 1-2 2-3 @1"));
  EXPECT_THAT(judge.begun, ElementsAre("0-1"));
}

TEST(ConnectSearchTest, PathsThatEndOrAreTooLongAreNotFollowed) {
  FakeJudge ends(Nothing);
  SearchConnections({{0, 1}, {0, 2}}, {}, {}, ends);
  EXPECT_THAT(ends.asked, ElementsAre("0-1 @1", "0-2 @1"));
  FakeJudge too_long(Nothing);
  ConnectSearchOptions options;
  options.most_nodes = 3;
  SearchConnections(kDiamond, {}, options, too_long);
  EXPECT_THAT(too_long.asked,
              ElementsAre("0-1 @1", "0-3 @1", "1-2 @1", "2-3 @1"));
}

TEST(ConnectSearchTest, LooksBeyondTheFirstMeeting) {
  FakeJudge judge([](const std::string& edges, int) -> std::optional<double> {
    if (edges == "0-1 1-2") return 1;
    return std::nullopt;
  });
  ConnectSearchOptions options;
  options.meetings = 2;
  SearchConnections({{0, 1}, {1, 2}, {2, 3}}, {}, options, judge);
  EXPECT_THAT(judge.connected, ElementsAre("0-1 1-2 @1"));
  EXPECT_THAT(judge.asked, ElementsAre("0-1 @1", "0-1 1-2 @1", "2-3 @1",
                                       "2-3 without 0-1 @1"));
}

TEST(ConnectSearchTest, TheFirstNodeOfPathsMayStayApart) {
  FakeJudge judge([](const std::string& edges, int) -> std::optional<double> {
    if (edges == "0-1 0-3 1-2 2-3") return 1;
    if (edges == "1-2 2-3") return 2;
    return std::nullopt;
  });
  ConnectSearchOptions options;
  options.may_leave_first = true;
  SearchConnections(kDiamond, {}, options, judge);
  EXPECT_THAT(judge.connected, ElementsAre("1-2 2-3 @1"));
  EXPECT_THAT(judge.begun, ElementsAre("0-1", "0-3"));
  FakeJudge whole([](const std::string& edges, int) -> std::optional<double> {
    if (edges == "0-1 0-3 1-2 2-3") return 1;
    return edges == "1-2 2-3" ? std::optional(2.0) : std::nullopt;
  });
  SearchConnections(kDiamond, {}, {}, whole);
  EXPECT_THAT(whole.connected, ElementsAre("0-1 0-3 1-2 2-3 @1"));
}

TEST(ConnectSearchTest, WhatIsConnectedStays) {
  FakeJudge judge(Nothing);
  SearchConnections(kDiamond, {{1, 2}}, {}, judge);
  EXPECT_THAT(judge.begun, ElementsAre("0-1", "0-3", "2-3"));
  EXPECT_EQ(judge.asked[1], "0-1 0-3 2-3 @1");
}

// 0-1 is fused first; 2 takes part only if 0 does not.
TEST(ConnectSearchTest, LeavesOutAgainWhatStandsInTheWay) {
  FakeJudge judge([](const std::string& move, int) -> std::optional<double> {
    if (move == "0-1") return 1;
    if (move == "1-2 without 0-1") return 5;
    return std::nullopt;
  });
  SearchConnections({{0, 1}, {1, 2}, {2, 3}}, {}, {}, judge);
  EXPECT_THAT(judge.asked, ElementsAre("0-1 @1", "1-2 @1", "1-2 without 0-1 @1",
                                       "2-3 @1", "2-3 without 1-2 @1"));
  EXPECT_THAT(judge.connected, ElementsAre("0-1 @1", "1-2 without 0-1 @1"));
}

TEST(ConnectSearchTest, LeavesOutOnlyWhatItConnectedAndWhatBeginsIt) {
  // All but 0-3 and 1-3 of what reaches 3; 1 was connected by the caller.
  const std::vector<ConnectEdge> edges = {{0, 2}, {1, 3}, {2, 3}, {3, 4}};
  FakeJudge judge([](const std::string& move, int) -> std::optional<double> {
    if (move == "0-2" || move == "2-3") return 1;
    return std::nullopt;
  });
  SearchConnections(edges, {{1, 3}}, {}, judge);
  EXPECT_THAT(judge.asked, ElementsAre("0-2 @1", "2-3 @1", "2-3 without 0-2 @1",
                                       "3-4 @1", "3-4 without 0-2 @1"));
  ConnectSearchOptions options;
  options.most_detached = 0;
  FakeJudge none(Nothing);
  SearchConnections(edges, {{1, 3}}, options, none);
  EXPECT_EQ(none.asked.size(), 3u);
}

TEST(ConnectSearchTest, LeavesOutAsManyAsItMay) {
  // 3 nodes begin what 3 and 4 belong to.
  const std::vector<ConnectEdge> edges = {{0, 3}, {1, 3}, {2, 3}, {3, 4}};
  for (const int most : {1, 2, 5}) {
    int without = 0;
    FakeJudge judge([&](const std::string& move, int) -> std::optional<double> {
      if (move.find("3-4") == std::string::npos)
        return move.find("without") == std::string::npos ? std::optional(1.0)
                                                         : std::nullopt;
      without += move.find("without") != std::string::npos;
      return std::nullopt;
    });
    ConnectSearchOptions options;
    options.most_detached = most;
    SearchConnections(edges, {}, options, judge);
    EXPECT_EQ(without, std::min(most, 3));
  }
}

TEST(ConnectSearchTest, GreedyGrowthStartsAnewBehindWhatDoesNotPay) {
  FakeJudge judge([](const std::string& edges, int) -> std::optional<double> {
    if (edges.substr(0, 3) == "2-3") return std::nullopt;
    return edges.size() == 3 ? 1 : 0.5;
  });
  ConnectSearchOptions options;
  options.search = ConnectSearch::kGreedy;
  SearchConnections({{0, 1}, {1, 2}, {2, 3}, {3, 4}}, {}, options, judge);
  EXPECT_THAT(judge.connected, ElementsAre("0-1 @1", "1-2 @1", "3-4 @1"));
  EXPECT_THAT(judge.begun, ElementsAre("0-1", "1-2", "2-3", "3-4"));
}

}  // namespace
}  // namespace tilewright
