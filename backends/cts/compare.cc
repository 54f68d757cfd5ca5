#include "backends/cts/compare.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "backends/guarded_buffer.h"
#include "backends/kernel_ir/interpreter.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::cts {
namespace {

using ::tilewright::backends::Device;
using ::tilewright::backends::DeviceBuffer;
using ::tilewright::backends::DeviceKernel;
using ::tilewright::backends::GuardedBuffer;
using ::tilewright::backends::Stream;
using ::tilewright::kernel_ir::ScalarKernel;

template <typename T>
T Read(const std::string& bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

double FloatAt(DType dtype, const std::string& bytes, size_t index) {
  switch (dtype) {
    case DType::kFloat16:
      return HalfToFloat(Read<uint16_t>(bytes, index));
    case DType::kBFloat16:
      return BFloat16ToFloat(Read<uint16_t>(bytes, index));
    case DType::kFloat32:
      return Read<float>(bytes, index);
    default:
      return Read<double>(bytes, index);
  }
}

absl::Status Launch(Stream& stream, const DeviceKernel& kernel,
                    const ScalarKernel& ir, absl::Span<void* const> args) {
  TW_RETURN_IF_ERROR(
      stream.Launch(kernel, args, ir.num_tasks, ir.scratch_bytes));
  return stream.Synchronize();
}

// With buffers that touch inaccessible pages. A fault is an error only when one
// thread runs; otherwise it ends the test.
absl::Status RunGuarded(Device& device, Stream& stream,
                        const DeviceKernel& kernel, const ScalarKernel& ir,
                        GuardedBuffer::Side side,
                        std::vector<std::string>& args) {
  std::vector<GuardedBuffer> buffers;
  std::vector<void*> addresses;
  for (const std::string& arg : args) {
    TW_ASSIGN_OR_RETURN(
        GuardedBuffer buffer,
        GuardedBuffer::Create(static_cast<int64_t>(arg.size()), side));
    if (!arg.empty()) std::memcpy(buffer.data(), arg.data(), arg.size());
    addresses.push_back(buffer.data());
    buffers.push_back(std::move(buffer));
  }
  const auto launch = [&] { return Launch(stream, kernel, ir, addresses); };
  TW_RETURN_IF_ERROR(device.num_threads() == 1 ? backends::TrapFaults(launch)
                                               : launch());
  for (size_t i = 0; i < args.size(); ++i) {
    args[i].assign(buffers[i].data(), args[i].size());
  }
  return absl::OkStatus();
}

absl::Status RunInDeviceMemory(Device& device, Stream& stream,
                               const DeviceKernel& kernel,
                               const ScalarKernel& ir,
                               std::vector<std::string>& args) {
  std::vector<std::unique_ptr<DeviceBuffer>> buffers;
  std::vector<void*> addresses;
  for (const std::string& arg : args) {
    const auto size = static_cast<int64_t>(arg.size());
    TW_ASSIGN_OR_RETURN(auto buffer, device.Allocate(size));
    TW_RETURN_IF_ERROR(stream.Copy(buffer->address(), arg.data(), size));
    addresses.push_back(buffer->address());
    buffers.push_back(std::move(buffer));
  }
  TW_RETURN_IF_ERROR(Launch(stream, kernel, ir, addresses));
  for (size_t i = 0; i < args.size(); ++i) {
    TW_RETURN_IF_ERROR(stream.Copy(&args[i][0], buffers[i]->address(),
                                   static_cast<int64_t>(args[i].size())));
  }
  return stream.Synchronize();
}

void ExpectEqualArguments(const ScalarKernel& kernel,
                          const std::vector<std::string>& actual,
                          const std::vector<std::string>& expected,
                          const char* where) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const kernel_ir::ScalarBuffer& buffer = kernel.buffers[i];
    const std::string difference =
        FirstDifference(buffer.dtype, actual[i], expected[i]);
    EXPECT_EQ(difference, "") << "buffer " << buffer.name << " of kernel "
                              << kernel.name << ", " << where << ", in\n"
                              << kernel.ToString();
  }
}

}  // namespace

std::string FirstDifference(DType dtype, const std::string& actual,
                            const std::string& expected) {
  if (actual == expected) return "";
  const auto size = static_cast<size_t>(SizeBytes(dtype));
  for (size_t i = 0; i < expected.size() / size; ++i) {
    if (actual.compare(i * size, size, expected, i * size, size) == 0) continue;
    if (IsFloat(dtype)) {
      const double a = FloatAt(dtype, actual, i);
      const double e = FloatAt(dtype, expected, i);
      if (std::isnan(a) && std::isnan(e)) continue;
      return absl::StrCat("element ", i, " is ", a, " instead of ", e);
    }
    uint64_t a = 0, e = 0;
    std::memcpy(&a, actual.data() + i * size, size);
    std::memcpy(&e, expected.data() + i * size, size);
    return absl::StrCat("element ", i, " is 0x", absl::Hex(a), " instead of 0x",
                        absl::Hex(e));
  }
  return "";
}

void ExpectSameAsInterpreter(const Backend& backend,
                             const std::vector<Run>& runs, int num_threads) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  TW_ASSERT_OK_AND_ASSIGN(const auto device, backend.device(num_threads));
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  std::vector<ScalarKernel> kernels;
  for (const Run& run : runs) {
    ASSERT_THAT(VerifyScalarKernel(run.kernel), IsOk())
        << run.kernel.ToString();
    kernels.push_back(run.kernel);
  }
  TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                          codegen->Emit(kernels));
  TW_ASSERT_OK_AND_ASSIGN(const auto loaded,
                          device->LoadModule(module.bytes, module.target));
  for (const Run& run : runs) {
    std::vector<std::string> expected = run.args;
    ASSERT_THAT(InterpretScalarKernel(run.kernel, absl::MakeSpan(expected), 0,
                                      run.kernel.num_tasks),
                IsOk())
        << run.kernel.ToString();
    TW_ASSERT_OK_AND_ASSIGN(const auto kernel,
                            device->GetKernel(*loaded, run.kernel.name));
    if (!device->unified_memory()) {
      std::vector<std::string> args = run.args;
      ASSERT_THAT(
          RunInDeviceMemory(*device, *stream, *kernel, run.kernel, args),
          IsOk());
      ExpectEqualArguments(run.kernel, args, expected, "in device memory");
      continue;
    }
    for (const auto side :
         {GuardedBuffer::Side::kEnd, GuardedBuffer::Side::kBegin}) {
      const char* where = side == GuardedBuffer::Side::kEnd
                              ? "with a guard behind"
                              : "with a guard before";
      std::vector<std::string> args = run.args;
      ASSERT_THAT(RunGuarded(*device, *stream, *kernel, run.kernel, side, args),
                  IsOk())
          << where << ", in\n"
          << run.kernel.ToString();
      ExpectEqualArguments(run.kernel, args, expected, where);
    }
  }
}

}  // namespace tilewright::cts
