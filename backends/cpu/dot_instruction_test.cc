// Dots of narrow numbers as machine code, for every class that this machine
// has: bit for bit what the declared meaning gives.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/host_spec.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/intrinsics.h"

namespace tilewright::cpu {
namespace {

using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::Role;

// C[r] += dot(A[r], B[r]) for every row r.
kernel_ir::ScalarKernel Kernel(const DotIntrinsic& dot, int rows, int lanes) {
  kernel_ir::ScalarBuilder b(
      absl::StrCat("dot_", std::string(dot.name), "_", lanes));
  const int64_t group = dot.group;
  const int x = b.AddArgument("A", dot.a, Role::kInput, rows * group);
  const int y = b.AddArgument("B", dot.b, Role::kInput, rows * group * lanes);
  const int c = b.AddArgument("C", dot.acc, Role::kInput, rows * lanes);
  const int out = b.AddArgument("T", dot.acc, Role::kOutput, rows * lanes);
  const Reg row = b.BeginFor(0, rows);
  const auto load = [&](int buffer, int64_t width) {
    const Reg offset = b.Mul(row, b.Int(width));
    const int count = static_cast<int>(width);
    return b.buffer(buffer).dtype == DType::kBFloat16
               ? b.LoadBits(buffer, offset, 0, count)
               : b.Load(buffer, offset, 0, count);
  };
  const Reg sum = b.Variable(dot.acc, lanes);
  b.Assign(sum, load(c, lanes));
  b.AssignDot(sum, load(x, group), load(y, group * lanes));
  b.Store(out, b.Mul(row, b.Int(lanes)), 0, sum);
  b.EndFor();
  return std::move(b).Finish();
}

// Extremes and what lies between; floats whose products and sums are exact.
Scalar Draw(Random& random, DType dtype) {
  switch (dtype) {
    case DType::kUInt8: {
      const int64_t extreme[] = {0, 1, 127, 128, 255};
      return {0, random.Bernoulli(0.5) ? extreme[random.Index(5)]
                                       : random.UniformInt(0, 255)};
    }
    case DType::kInt8: {
      const int64_t extreme[] = {-128, -127, -1, 0, 127};
      return {0, random.Bernoulli(0.5) ? extreme[random.Index(5)]
                                       : random.UniformInt(-128, 127)};
    }
    case DType::kInt32: {
      const int64_t extreme[] = {INT32_MIN, INT32_MIN + 1000, -1,
                                 0,         INT32_MAX - 1000, INT32_MAX};
      return {0, extreme[random.Index(6)]};
    }
    default:
      return {static_cast<double>(random.UniformInt(-64, 64)), 0};
  }
}

HostTensor Fill(Random& random, DType dtype, int64_t count) {
  HostTensor tensor(dtype, {count});
  for (int64_t i = 0; i < count; ++i) tensor.Set(i, Draw(random, dtype));
  return tensor;
}

std::string Bytes(const HostTensor& tensor) {
  return std::string(tensor.data(), tensor.size_bytes());
}

// Evaluates the declared expression for every row.
absl::StatusOr<std::string> Expected(const DotIntrinsic& dot, int rows,
                                     int lanes, const HostTensor& a,
                                     const HostTensor& b, const HostTensor& c) {
  const TensorGraph graph = Semantics(dot, lanes);
  std::string result;
  for (int row = 0; row < rows; ++row) {
    const auto part = [&](const HostTensor& from, std::vector<int64_t> shape) {
      HostTensor tensor(from.dtype(), std::move(shape));
      const int64_t count = tensor.num_elements();
      for (int64_t i = 0; i < count; ++i)
        tensor.Set(i, from.Get(row * count + i));
      return tensor;
    };
    std::map<TensorId, HostTensor> inputs;
    inputs.emplace(*graph.Find("A"), part(a, {dot.group}));
    inputs.emplace(*graph.Find("B"), part(b, {lanes, dot.group}));
    inputs.emplace(*graph.Find("C"), part(c, {lanes}));
    TW_ASSIGN_OR_RETURN(const auto interpreter,
                        Interpreter::Create(graph, std::move(inputs), {}));
    TW_ASSIGN_OR_RETURN(const HostTensor sums,
                        interpreter->Evaluate(graph.outputs()[0]));
    result += Bytes(sums);
  }
  return result;
}

TEST(DotInstructionTest, EveryClassComputesTheDeclaredMeaning) {
  constexpr int kRows = 64;
  int classes = 0;
  for (const std::string& cpu_class : CpuClasses()) {
    TW_ASSERT_OK_AND_ASSIGN(const auto missing,
                            MissingCpuFeatures(cpu_class, HostCpuFeatures()));
    if (!missing.empty()) continue;
    ++classes;
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec,
                            CpuSpec(cpu_class, QueryHostStructure()));
    TW_ASSERT_OK_AND_ASSIGN(const auto codegen, CreateCpuCodegen(spec));
    CpuDeviceOptions options;
    options.num_threads = 1;
    TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateCpuDevice(options));
    TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
    std::vector<kernel_ir::ScalarKernel> kernels;
    for (const DotIntrinsic& dot : DotIntrinsics()) {
      for (const int lanes : {1, 2, 4, 8, 16, 32})
        kernels.push_back(Kernel(dot, kRows, lanes));
    }
    TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                            codegen->Emit(kernels));
    TW_ASSERT_OK_AND_ASSIGN(const auto loaded,
                            device->LoadModule(module.bytes, module.target));
    size_t next = 0;
    for (const DotIntrinsic& dot : DotIntrinsics()) {
      for (const int lanes : {1, 2, 4, 8, 16, 32}) {
        const kernel_ir::ScalarKernel& kernel = kernels[next++];
        Random random(next);
        const HostTensor a = Fill(random, dot.a, kRows * dot.group);
        const HostTensor b = Fill(random, dot.b, kRows * dot.group * lanes);
        const HostTensor c = Fill(random, dot.acc, kRows * lanes);
        TW_ASSERT_OK_AND_ASSIGN(const std::string expected,
                                Expected(dot, kRows, lanes, a, b, c));
        std::vector<std::string> args = {Bytes(a), Bytes(b), Bytes(c),
                                         std::string(4 * kRows * lanes, 'x')};
        std::vector<std::string> interpreted = args;
        TW_ASSERT_OK(kernel_ir::InterpretScalarKernel(
            kernel, absl::MakeSpan(interpreted), 0, 1));
        EXPECT_EQ(interpreted[3], expected) << kernel.name;
        std::vector<void*> addresses;
        for (std::string& arg : args) addresses.push_back(&arg[0]);
        TW_ASSERT_OK_AND_ASSIGN(const auto resolved,
                                device->GetKernel(*loaded, kernel.name));
        TW_ASSERT_OK(stream->Launch(*resolved, addresses, 1, 0));
        TW_ASSERT_OK(stream->Synchronize());
        EXPECT_EQ(args[3], expected) << cpu_class << " " << kernel.name;
      }
    }
  }
  if (classes == 0) GTEST_SKIP() << "this machine has none of the classes";
}

}  // namespace
}  // namespace tilewright::cpu
