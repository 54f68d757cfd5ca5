// Lists what the null backend does not do, test by test. Copy this file with
// the folder and delete entries as your backend learns.
#include "backends/cts/conformance.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/device.h"
#include "backends/null/null_codegen.h"
#include "backends/null/null_device.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::null {
namespace {

using ::testing::HasSubstr;

DeviceSpec UnitSpec() {
  absl::StatusOr<DeviceSpec> spec = LoadSpec("unit");
  TW_CHECK_OK(spec);
  return *std::move(spec);
}

cts::Backend NullBackend() {
  cts::Backend backend;
  backend.name = "Null";
  backend.codegen = []() -> absl::StatusOr<std::unique_ptr<backends::Codegen>> {
    return CreateNullCodegen(UnitSpec());
  };
  backend.device =
      [](int) -> absl::StatusOr<std::unique_ptr<backends::Device>> {
    return CreateNullDevice(UnitSpec());
  };
  for (const std::string& name : cts::ConformanceTestNames()) {
    backend.unsupported[name] = "the null backend implements nothing";
  }
  return backend;
}

TEST(NullBackendTest, MethodsSayThatTheyAreUnimplemented) {
  const auto device = CreateNullDevice(UnitSpec());
  const auto codegen = CreateNullCodegen(UnitSpec());
  EXPECT_EQ(device->spec().name(), "unit");
  EXPECT_EQ(codegen->spec().name(), "unit");
  EXPECT_THAT(codegen->Emit({}), StatusIs(absl::StatusCode::kUnimplemented,
                                          HasSubstr("Codegen::Emit")));
  EXPECT_THAT(codegen->Legalize({}), StatusIs(absl::StatusCode::kUnimplemented,
                                              HasSubstr("Legalize")));
  EXPECT_THAT(codegen->Source({}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("Source")));
  EXPECT_THAT(device->Allocate(1), StatusIs(absl::StatusCode::kUnimplemented,
                                            HasSubstr("Device::Allocate")));
  EXPECT_THAT(device->LoadModule("", ""),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("Load")));
  EXPECT_THAT(device->CreateStream(),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("Stream")));
}

}  // namespace
}  // namespace tilewright::null

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  tilewright::cts::RegisterConformanceTests(tilewright::null::NullBackend());
  return RUN_ALL_TESTS();
}
