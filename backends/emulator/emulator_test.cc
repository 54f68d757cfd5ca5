// The emulator does more than running kernels: it finds accesses that a GPU
// would make somewhere else, and keeps the host away from the device's memory.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/device.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/emulator/codegen/host_compiler.h"
#include "backends/emulator/device/emulator_device.h"
#include "backends/kernel_ir/builder.h"
#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::emulator {
namespace {

using absl::StatusCode;
using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using kernel_ir::ScalarKernel;
using ::testing::AllOf;
using ::testing::HasSubstr;

DeviceSpec Spec() {
  absl::StatusOr<DeviceSpec> spec = LoadSpec("h100");
  TW_CHECK_OK(spec);
  return *std::move(spec);
}

constexpr int64_t kTasks = 8;

// out[task] = in[task * stride], of an input of eight elements; or the output
// has the stride.
ScalarKernel Strided(int64_t stride, bool output) {
  ScalarBuilder b("strided", kTasks);
  const int in = b.AddArgument("in", DType::kFloat32, Role::kInput, kTasks);
  const int out = b.AddArgument("out", DType::kFloat32, Role::kOutput, kTasks);
  const Reg far = b.Mul(b.task(), b.Int(stride));
  b.Store(out, output ? far : b.task(), 0,
          b.Load(in, output ? b.task() : far, 0));
  return std::move(b).Finish();
}

absl::Status RunIt(const ScalarKernel& kernel, bool checked) {
  EmulatorCodegenOptions options;
  options.checked = checked;
  const auto codegen = CreateEmulatorCodegen(Spec(), options);
  const auto device = CreateEmulatorDevice(Spec());
  TW_ASSIGN_OR_RETURN(const backends::Module module, codegen->Emit({kernel}));
  TW_ASSIGN_OR_RETURN(const auto loaded,
                      device->LoadModule(module.bytes, module.target));
  TW_ASSIGN_OR_RETURN(const auto resolved,
                      device->GetKernel(*loaded, kernel.name));
  TW_ASSIGN_OR_RETURN(const auto stream, device->CreateStream());
  TW_ASSIGN_OR_RETURN(const auto in, device->Allocate(4 * kTasks));
  TW_ASSIGN_OR_RETURN(const auto out, device->Allocate(4 * kTasks));
  void* const args[] = {in->address(), out->address()};
  return stream->Launch(*resolved, args, kernel.num_tasks,
                        kernel.scratch_bytes);
}

TEST(EmulatorTest, CheckedModulesReportLineBlockAndElement) {
  TW_EXPECT_OK(RunIt(Strided(1, false), true));
  EXPECT_THAT(
      RunIt(Strided(3, false), true),
      StatusIs(StatusCode::kOutOfRange,
               AllOf(HasSubstr("kernel strided, line 7, block 3: element 9 of "
                               "a buffer of 8"),
                     HasSubstr("out[task] = in[task * 3];"))));
  EXPECT_THAT(RunIt(Strided(2, true), true),
              StatusIs(StatusCode::kOutOfRange,
                       AllOf(HasSubstr("block 4: element 8 of a buffer of 8"),
                             HasSubstr("out[task * 2] = in[task];"))));
}

TEST(EmulatorTest, LanesOfVectorsAreChecked) {
  ScalarBuilder b("wide", 3);
  const int in = b.AddArgument("in", DType::kFloat32, Role::kInput, kTasks);
  const int out = b.AddArgument("out", DType::kFloat32, Role::kOutput, kTasks);
  const Reg at = b.Mul(b.task(), b.Int(2));
  b.Store(out, at, 0, b.Load(in, b.Mul(b.task(), b.Int(3)), 0, 4), 2);
  EXPECT_THAT(RunIt(std::move(b).Finish(), true),
              StatusIs(StatusCode::kOutOfRange,
                       AllOf(HasSubstr("block 2: element 8 of a buffer of 8"),
                             HasSubstr("tw_load<4>(in, task * 3)"))));
}

// Texts lean on arguments that begin at multiples of 64 bytes.
TEST(EmulatorTest, VectorsOfArgumentsThatAreNotAlignedAreReported) {
  ScalarBuilder b("copy", 1);
  const int in = b.AddArgument("in", DType::kFloat32, Role::kInput, 4);
  const int out = b.AddArgument("out", DType::kFloat32, Role::kOutput, 4);
  b.Store(out, kNoReg, 0, b.Load(in, kNoReg, 0, 4));
  EmulatorCodegenOptions options;
  options.checked = true;
  TW_ASSERT_OK_AND_ASSIGN(
      const backends::Module module,
      CreateEmulatorCodegen(Spec(), options)->Emit({std::move(b).Finish()}));
  const auto device = CreateEmulatorDevice(Spec());
  TW_ASSERT_OK_AND_ASSIGN(const auto loaded,
                          device->LoadModule(module.bytes, module.target));
  TW_ASSERT_OK_AND_ASSIGN(const auto kernel,
                          device->GetKernel(*loaded, "copy"));
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  TW_ASSERT_OK_AND_ASSIGN(const auto buffer, device->Allocate(128));
  char* const address = static_cast<char*>(buffer->address());
  void* const args[] = {address, address + 64};
  TW_EXPECT_OK(stream->Launch(*kernel, args, 1, 0));
  void* const shifted[] = {address + 4, address + 64};
  EXPECT_THAT(stream->Launch(*kernel, shifted, 1, 0),
              StatusIs(StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("element 0 of a buffer of 4"),
                             HasSubstr("tw_load_aligned<4>(in, 0)"))));
}

TEST(EmulatorTest, WithoutChecksFarAccessesAreReported) {
  EXPECT_THAT(RunIt(Strided(1 << 20, false), false),
              StatusIs(StatusCode::kOutOfRange, HasSubstr("kernel strided")));
}

TEST(EmulatorTest, TheHostCannotTouchTheDevicesMemory) {
  const auto device = CreateEmulatorDevice(Spec());
  EXPECT_FALSE(device->unified_memory());
  TW_ASSERT_OK_AND_ASSIGN(const auto buffer, device->Allocate(64));
  auto* const address = static_cast<volatile char*>(buffer->address());
  EXPECT_DEATH(address[0] = 1, "");
}

TEST(EmulatorTest, CopiesAndFillsStayWithinABuffer) {
  const auto device = CreateEmulatorDevice(Spec());
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  TW_ASSERT_OK_AND_ASSIGN(auto buffer, device->Allocate(100));
  char* const address = static_cast<char*>(buffer->address());
  char host[200] = {};
  TW_EXPECT_OK(stream->Copy(address + 28, host, 100));
  EXPECT_THAT(stream->Copy(address + 29, host, 100),
              StatusIs(StatusCode::kOutOfRange, HasSubstr("no buffer")));
  EXPECT_THAT(stream->Copy(host, address - 1, 1),
              StatusIs(StatusCode::kOutOfRange, HasSubstr("no buffer")));
  EXPECT_THAT(stream->Fill(host, 0, 1),
              StatusIs(StatusCode::kOutOfRange, HasSubstr("no buffer")));
  buffer.reset();
  EXPECT_THAT(stream->Fill(address, 0, 1),
              StatusIs(StatusCode::kOutOfRange, HasSubstr("no buffer")));
}

TEST(EmulatorTest, ABlockHasAsMuchSharedMemoryAsTheSpecSays) {
  ScalarKernel kernel = Strided(1, false);
  kernel.scratch_bytes = Spec().unit().scratchpad_bytes_per_block();
  TW_EXPECT_OK(RunIt(kernel, false));
  kernel.scratch_bytes += 64;
  EXPECT_THAT(RunIt(kernel, false),
              StatusIs(StatusCode::kResourceExhausted, HasSubstr("shared")));
}

TEST(HostCompilerTest, SaysWhatIsMissingOrWrong) {
  HostCompilerOptions none;
  none.programs = {"no-such-compiler", "/nowhere/g++"};
  EXPECT_THAT(
      CompileSharedObject("", none),
      StatusIs(StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("no-such-compiler"), HasSubstr("install"))));
  EXPECT_THAT(CompileSharedObject("int a;\nint b = nothing;\n"),
              StatusIs(StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(":2:"), HasSubstr("nothing"))));
}

// g++ is what most machines have; the other compiler gives the same bits.
TEST(HostCompilerTest, ClangTakesTheSameText) {
  EmulatorCodegenOptions options;
  options.compiler.programs = {"clang++", "clang++-19", "clang++-14"};
  for (const bool checked : {false, true}) {
    options.checked = checked;
    const auto module =
        CreateEmulatorCodegen(Spec(), options)->Emit({Strided(1, false)});
    if (absl::IsFailedPrecondition(module.status())) {
      GTEST_SKIP() << module.status().message();
    }
    TW_ASSERT_OK(module.status());
    TW_EXPECT_OK(CreateEmulatorDevice(Spec())
                     ->LoadModule(module->bytes, module->target)
                     .status());
  }
}

}  // namespace
}  // namespace tilewright::emulator
