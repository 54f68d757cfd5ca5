// Workers and those they work for, of different versions.
#include "measure/worker/protocol_version.h"

#include <string>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/worker/child_process.h"
#include "measure/worker/message_channel.h"
#include "measure/worker/protocol.pb.h"

namespace tilewright::measure {
namespace {

using ::testing::HasSubstr;

TEST(ProtocolVersionTest, OnlyItsOwnVersionIsAccepted) {
  TW_EXPECT_OK(CheckProtocolVersion(kProtocolVersion, "the worker"));
  EXPECT_THAT(CheckProtocolVersion(kProtocolVersion + 1, "the worker"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "the worker speaks version 3 of the protocol, this "
                       "process version 2; start both from the same release"));
  EXPECT_THAT(CheckProtocolVersion(0, "the worker"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "version 0"));
}

// The first message that a real worker sends to a process of that version.
WorkerReply FirstReply(WorkerSetup::Role role, int version) {
  absl::StatusOr<ChildProcess> child = ChildProcess::Start();
  EXPECT_THAT(child.status(), IsOk());
  MessageChannel channel(child->TakeSocket());
  WorkerRequest request;
  request.mutable_setup()->set_role(role);
  request.mutable_setup()->set_backend("fake");
  request.mutable_setup()->set_protocol_version(version);
  TW_EXPECT_OK(channel.SendAll(request));
  WorkerReply reply;
  TW_EXPECT_OK(channel.Receive(reply));
  return reply;
}

TEST(ProtocolVersionTest, AWorkerSaysItsVersion) {
  for (const auto role : {WorkerSetup::BUILDER, WorkerSetup::MEASURER}) {
    const WorkerReply reply = FirstReply(role, kProtocolVersion);
    EXPECT_EQ(reply.ready().protocol_version(), kProtocolVersion)
        << reply.failed().message();
  }
}

TEST(ProtocolVersionTest, AWorkerRefusesAnotherVersion) {
  for (const auto role : {WorkerSetup::BUILDER, WorkerSetup::MEASURER}) {
    for (const int version : {0, kProtocolVersion + 1}) {
      const WorkerReply reply = FirstReply(role, version);
      EXPECT_EQ(reply.failed().fault(), Measurement::INFRASTRUCTURE);
      EXPECT_THAT(reply.failed().message(),
                  HasSubstr("the process that measures speaks version " +
                            std::to_string(version)));
    }
  }
}

}  // namespace
}  // namespace tilewright::measure
