#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/cts/cases.h"
#include "backends/kernel_ir/builder.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::cts {
namespace {

using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using kernel_ir::ScalarKernel;
using ::testing::HasSubstr;

// out = in + addend, with a vector constant that lands in the module's data.
ScalarKernel AddKernel(const std::string& name, double addend) {
  ScalarBuilder b(name);
  const int in = b.AddArgument("in", DType::kFloat32, Role::kInput, 32);
  const int out = b.AddArgument("out", DType::kFloat32, Role::kOutput, 32);
  const Reg i = b.BeginFor(0, 32, 8);
  Reg bias = b.Float(addend, DType::kFloat32, 8);
  for (int lane = 0; lane < 8; ++lane) {
    bias = b.Insert(bias, lane, b.Float(addend + lane));
  }
  b.Store(out, i, 0, b.Add(b.Load(in, i, 0, 8), bias));
  b.EndFor();
  return std::move(b).Finish();
}

void ExpectGarbageRefused(const Backend& backend) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  TW_ASSERT_OK_AND_ASSIGN(const auto device, backend.device(1));
  TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                          codegen->Emit({AddKernel("add", 1)}));
  for (const std::string& garbage :
       {std::string(), std::string("x"), std::string(5000, 'x'),
        std::string(5000, '\0')}) {
    EXPECT_EQ(device->LoadModule(garbage, module.target).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  // Whatever cut leaves its segments incomplete must be refused, not crash.
  int refused = 0;
  const size_t step = module.bytes.size() / 64 + 1;
  for (size_t size = 0; size < module.bytes.size(); size += step) {
    const auto loaded =
        device->LoadModule(module.bytes.substr(0, size), module.target);
    if (!loaded.ok()) {
      EXPECT_EQ(loaded.status().code(), absl::StatusCode::kInvalidArgument);
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

void ExpectWrongTargetRefused(const Backend& backend) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  TW_ASSERT_OK_AND_ASSIGN(const auto device, backend.device(1));
  TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                          codegen->Emit({AddKernel("add", 1)}));
  EXPECT_THAT(device->LoadModule(module.bytes, "abacus:wood"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("abacus:wood")));
}

void ExpectMissingKernelNamed(const Backend& backend) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  TW_ASSERT_OK_AND_ASSIGN(const auto device, backend.device(1));
  TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                          codegen->Emit({AddKernel("add", 1)}));
  TW_ASSERT_OK_AND_ASSIGN(const auto loaded,
                          device->LoadModule(module.bytes, module.target));
  EXPECT_THAT(device->GetKernel(*loaded, "add"), IsOk());
  EXPECT_THAT(device->GetKernel(*loaded, "sub"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("sub")));
}

void ExpectEqualNamesRefused(const Backend& backend) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  EXPECT_THAT(codegen->Emit({AddKernel("add", 1), AddKernel("add", 2)}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("add")));
}

// Kernels of several modules at once, each with data of its own; modules
// unloaded in between leave the others alone.
void ExpectModulesIndependent(const Backend& backend) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  TW_ASSERT_OK_AND_ASSIGN(const auto device, backend.device(1));
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  TW_ASSERT_OK_AND_ASSIGN(const auto in, device->Allocate(128));
  TW_ASSERT_OK_AND_ASSIGN(const auto out, device->Allocate(128));
  TW_ASSERT_OK(stream->Fill(in->address(), 0, 128));
  struct One {
    std::unique_ptr<backends::DeviceModule> module;
    std::unique_ptr<backends::DeviceKernel> kernel;
  };
  std::vector<One> loaded;
  for (int i = 0; i < 20; ++i) {
    // The same name in each.
    TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                            codegen->Emit({AddKernel("add", 10 * i)}));
    One one;
    TW_ASSERT_OK_AND_ASSIGN(one.module,
                            device->LoadModule(module.bytes, module.target));
    TW_ASSERT_OK_AND_ASSIGN(one.kernel, device->GetKernel(*one.module, "add"));
    loaded.push_back(std::move(one));
    if (i % 3 == 1) {
      loaded[i - 1].kernel.reset();
      loaded[i - 1].module.reset();
    }
  }
  for (int i = 0; i < 20; ++i) {
    if (loaded[i].kernel == nullptr) continue;
    void* const args[] = {in->address(), out->address()};
    TW_ASSERT_OK(stream->Launch(*loaded[i].kernel, args, 1, 0));
    float values[32];
    TW_ASSERT_OK(stream->Copy(values, out->address(), 128));
    TW_ASSERT_OK(stream->Synchronize());
    for (int n = 0; n < 32; ++n) EXPECT_EQ(values[n], 10 * i + n % 8) << i;
  }
}

void ExpectDeterministicEmit(const Backend& backend) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  TW_ASSERT_OK_AND_ASSIGN(const auto other, backend.codegen());
  std::vector<ScalarKernel> kernels;
  for (int i = 0; i < 5; ++i) {
    kernels.push_back(AddKernel("add" + std::to_string(i), i));
  }
  TW_ASSERT_OK_AND_ASSIGN(const backends::Module first, codegen->Emit(kernels));
  EXPECT_EQ(first.target, codegen->spec().target());
  // Again, by another generator, and by several threads at once.
  std::vector<std::string> bytes(4);
  std::vector<std::thread> threads;
  for (std::string& mine : bytes) {
    threads.emplace_back([&mine, &kernels, &codegen] {
      for (int i = 0; i < 3; ++i) {
        const auto module = codegen->Emit(kernels);
        mine = module.ok() ? module->bytes : module.status().ToString();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  TW_ASSERT_OK_AND_ASSIGN(const backends::Module again, other->Emit(kernels));
  bytes.push_back(again.bytes);
  for (const std::string& same : bytes) EXPECT_TRUE(same == first.bytes);
}

void ExpectReports(const Backend& backend) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  TW_ASSERT_OK_AND_ASSIGN(
      const backends::Module module,
      codegen->Emit({AddKernel("one", 1), AddKernel("two", 2)}));
  ASSERT_EQ(module.kernels.size(), 2u);
  EXPECT_EQ(module.kernels[0].name, "one");
  EXPECT_EQ(module.kernels[1].name, "two");
  for (const backends::KernelReport& report : module.kernels) {
    EXPECT_GT(report.code_bytes, 0);
    EXPECT_LT(report.code_bytes, static_cast<int64_t>(module.bytes.size()));
    EXPECT_EQ(report.spills, 0);
    EXPECT_GE(report.stack_bytes, 0);
  }
}

void ExpectSource(const Backend& backend) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  EXPECT_THAT(codegen->Source(AddKernel("readable", 1)),
              IsOkAndHolds(HasSubstr("readable")));
}

}  // namespace

std::vector<Case> ModuleCases() {
  return {
      {"GarbageIsNoModule", ExpectGarbageRefused},
      {"ModulesOfOtherTargetsAreRefused", ExpectWrongTargetRefused},
      {"MissingKernelsAreNamed", ExpectMissingKernelNamed},
      {"KernelsOfAModuleHaveDifferentNames", ExpectEqualNamesRefused},
      {"ModulesAreIndependent", ExpectModulesIndependent},
      {"EmitIsDeterministicAndThreadSafe", ExpectDeterministicEmit},
      {"ReportsDescribeEachKernel", ExpectReports},
      {"SourceIsReadable", ExpectSource},
  };
}

}  // namespace tilewright::cts
