#include "measure/worker/message_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/worker/protocol.pb.h"

namespace tilewright::measure {
namespace {

class MessageChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    int sockets[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    here_ = MessageChannel(sockets[0]);
    there_ = MessageChannel(sockets[1]);
  }
  static WorkerRequest Request(int64_t size) {
    WorkerRequest request;
    request.mutable_prepare()->set_workload(
        std::string(static_cast<size_t>(size), 'w'));
    return request;
  }
  MessageChannel here_, there_;
};

TEST_F(MessageChannelTest, MessagesComeWholeAndInOrder) {
  for (int64_t size : {0, 1, 1000}) TW_ASSERT_OK(here_.Send(Request(size)));
  EXPECT_FALSE(here_.has_unsent());
  for (int64_t size : {0, 1, 1000}) {
    WorkerRequest request;
    TW_ASSERT_OK(there_.Receive(request));
    EXPECT_EQ(request.SerializeAsString(), Request(size).SerializeAsString());
  }
  WorkerRequest request;
  TW_ASSERT_OK(there_.Read());
  EXPECT_THAT(there_.Next(request), IsOkAndHolds(false));
}

TEST_F(MessageChannelTest, SendDoesNotWaitForAReaderButLargeMessagesArrive) {
  constexpr int64_t kSize = 3000000;
  TW_ASSERT_OK(here_.Send(Request(kSize)));
  EXPECT_TRUE(here_.has_unsent());
  WorkerRequest request;
  bool received = false;
  while (!received) {
    TW_ASSERT_OK(here_.Flush());
    TW_ASSERT_OK(there_.Read());
    TW_ASSERT_OK_AND_ASSIGN(received, there_.Next(request));
  }
  EXPECT_EQ(request.prepare().workload().size(), kSize);
  EXPECT_FALSE(here_.has_unsent());
}

TEST_F(MessageChannelTest, SendAllWaitsForTheReader) {
  std::thread writer([this] { TW_EXPECT_OK(here_.SendAll(Request(3000000))); });
  WorkerRequest request;
  TW_EXPECT_OK(there_.Receive(request));
  writer.join();
}

TEST_F(MessageChannelTest, TheLastWordsOfAGoneProcessAreHeard) {
  TW_ASSERT_OK(there_.Send(Request(5)));
  there_.Close();
  TW_EXPECT_OK(here_.Read());
  EXPECT_THAT(here_.Read(), StatusIs(absl::StatusCode::kUnavailable, "gone"));
  WorkerRequest request;
  EXPECT_THAT(here_.Next(request), IsOkAndHolds(true));
  EXPECT_THAT(here_.Next(request), IsOkAndHolds(false));
  EXPECT_THAT(here_.Send(Request(5)),
              StatusIs(absl::StatusCode::kUnavailable, "gone"));
}

TEST_F(MessageChannelTest, NonsenseIsDataLoss) {
  ASSERT_EQ(write(there_.descriptor(), "\x05\0\0\0\xff\xff\xff\xff\xff", 9), 9);
  WorkerRequest request;
  EXPECT_THAT(here_.Receive(request),
              StatusIs(absl::StatusCode::kDataLoss, "no messages"));
  ASSERT_EQ(write(here_.descriptor(), "\xff\xff\xff\xff", 4), 4);
  EXPECT_THAT(there_.Receive(request),
              StatusIs(absl::StatusCode::kDataLoss, "no messages"));
}

}  // namespace
}  // namespace tilewright::measure
