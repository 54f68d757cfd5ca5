#include <string>

#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "third_party/tests/tiny.pb.h"

namespace tilewright {
namespace {

TEST(ProtoTest, MessagesRoundTripThroughBytesTextAndJson) {
  third_party::Tiny tiny;
  tiny.set_value(7);
  tiny.add_names("a");

  third_party::Tiny from_bytes;
  ASSERT_TRUE(from_bytes.ParseFromString(tiny.SerializeAsString()));
  EXPECT_EQ(from_bytes.value(), 7);

  third_party::Tiny from_text;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "value: 7 names: 'a'", &from_text));
  EXPECT_EQ(from_text.SerializeAsString(), tiny.SerializeAsString());

  std::string json;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(tiny, &json).ok());
  EXPECT_EQ(json, R"({"value":"7","names":["a"]})");
}

}  // namespace
}  // namespace tilewright
