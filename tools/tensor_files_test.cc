#include "tools/tensor_files.h"

#include <fstream>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/npy.h"

namespace tilewright::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NpyTest, EveryDtypeAndRankComesBack) {
  for (const DType dtype :
       {DType::kBool, DType::kInt8, DType::kInt64, DType::kUInt16,
        DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
    for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
             {}, {3}, {2, 3}, {1, 2, 3, 4}, {0, 5}}) {
      HostTensor tensor(dtype, shape);
      for (int64_t i = 0; i < tensor.num_elements(); ++i)
        tensor.Set(i, {static_cast<double>(i % 2), i % 2});
      TW_ASSERT_OK_AND_ASSIGN(const HostTensor read, ParseNpy(ToNpy(tensor)));
      EXPECT_EQ(read.dtype(), dtype);
      EXPECT_EQ(read.shape(), shape);
      EXPECT_EQ(std::string(read.data(), read.size_bytes()),
                std::string(tensor.data(), tensor.size_bytes()));
    }
  }
}

TEST(NpyTest, DataStartsAtAMultipleOf64) {
  EXPECT_EQ(ToNpy(HostTensor(DType::kFloat32, {0})).size() % 64, 0u);
}

TEST(NpyTest, DamageIsRefused) {
  const std::string good = ToNpy(HostTensor(DType::kFloat32, {2, 3}));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(ParseNpy(good.substr(0, size)).ok()) << size;
  EXPECT_FALSE(ParseNpy(good + "x").ok());
}

TEST(ReadTensorTest, AFileOfAnotherKindIsNamed) {
  const std::string path = testing::TempDir() + "/x.txt";
  std::ofstream(path) << "hello";
  EXPECT_THAT(ReadTensor(path).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("x.txt: neither .npy nor .pb")));
}

}  // namespace
}  // namespace tilewright::tools
