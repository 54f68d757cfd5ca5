#include "bench/model/error_limit.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

class ErrorLimitTest : public testing::Test {
 protected:
  ErrorLimitTest() : folder_(testing::TempDir() + "/verify") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }
  std::string folder_;
};

TEST_F(ErrorLimitTest, LimitFollowsThePeer) {
  TW_ASSERT_OK_AND_ASSIGN(const double limit, ModelErrorLimit(folder_, 1e-6));
  EXPECT_DOUBLE_EQ(limit, 4e-6);
}

TEST_F(ErrorLimitTest, LimitFollowsTheClassWhereThereIsOne) {
  Write("class.json",
        "{\n  \"class\": \"fp16\",\n  \"class_error\": 1e-3\n}\n");
  TW_ASSERT_OK_AND_ASSIGN(const double limit, ModelErrorLimit(folder_, 1e-6));
  EXPECT_DOUBLE_EQ(limit, 4e-3);
}

TEST_F(ErrorLimitTest, IntegersMustBeMetBitForBit) {
  Write("class.json", "{ \"class\": \"int8\", \"class_error\": 0.000e+00 }");
  Write("peer_error.json",
        "{ \"onnxruntime_version\": \"1\", \"onnxruntime_error\": 3e-4 }");
  TW_ASSERT_OK_AND_ASSIGN(const PeerError peer, ReadPeerError(folder_));
  EXPECT_EQ(peer.error_limit, 0);
  EXPECT_DOUBLE_EQ(peer.peer_error, 3e-4);
}

TEST_F(ErrorLimitTest, AClassWithoutItsErrorIsRefused) {
  Write("class.json", "{ \"class\": \"fp16\" }");
  const absl::Status status = ModelErrorLimit(folder_, 1e-6).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("class_error"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::bench
