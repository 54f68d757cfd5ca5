#include "bench/traffic/kernel_chain.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright::bench {
namespace {

// 0x3c3c3c3c is 0.0115 as f32, 0x3c3c 1.06 as fp16.
constexpr char kFloatByte = 0x3c;
constexpr int kLeastTurns = 6;

}  // namespace

absl::StatusOr<char*> NamedBuffers::Get(const std::string& name, int64_t bytes,
                                        bool floats) {
  std::unique_ptr<backends::DeviceBuffer>& buffer = buffers_[name];
  if (!buffer) {
    TW_ASSIGN_OR_RETURN(buffer, device_.Allocate(bytes));
    std::fill_n(static_cast<char*>(buffer->address()), bytes,
                floats ? kFloatByte : '\0');
  }
  if (buffer->size_bytes() < bytes)
    return absl::InternalError(absl::StrCat(name, " is too small"));
  return static_cast<char*>(buffer->address());
}

absl::StatusOr<KernelChain> KernelChain::Create(
    absl::Span<const ChainKernel> kernels, const backends::Codegen& codegen,
    backends::Device& device, NamedBuffers& buffers) {
  KernelChain chain;
  for (const ChainKernel& one : kernels) {
    Kernel& kernel = chain.kernels_.emplace_back();
    TW_ASSIGN_OR_RETURN(const backends::Module module,
                        codegen.Emit({one.scalar}));
    TW_ASSIGN_OR_RETURN(kernel.module,
                        device.LoadModule(module.bytes, module.target));
    TW_ASSIGN_OR_RETURN(kernel.resolved,
                        device.GetKernel(*kernel.module, one.scalar.name));
    kernel.tasks = one.scalar.num_tasks;
    kernel.scratch_bytes = one.scalar.scratch_bytes;
    kernel.spills = module.kernels[0].spills;
    size_t i = 0;
    for (const kernel_ir::ScalarBuffer& buffer : one.scalar.buffers) {
      if (buffer.role == kernel_ir::Role::kLocal) continue;
      const ChainKernel::Argument& argument = one.arguments[i++];
      TW_ASSIGN_OR_RETURN(char* const address,
                          buffers.Get(argument.buffer, argument.buffer_bytes,
                                      IsFloat(buffer.dtype)));
      kernel.args.push_back(address + argument.offset_bytes);
    }
  }
  return chain;
}

absl::Status KernelChain::Run(backends::Stream& stream) const {
  for (const Kernel& kernel : kernels_) {
    TW_RETURN_IF_ERROR(stream.Launch(*kernel.resolved, kernel.args,
                                     kernel.tasks, kernel.scratch_bytes));
  }
  return absl::OkStatus();
}

int64_t KernelChain::scratch_bytes() const {
  int64_t most = 0;
  for (const Kernel& kernel : kernels_)
    most = std::max(most, kernel.scratch_bytes);
  return most;
}

int KernelChain::spills() const {
  int spills = 0;
  for (const Kernel& kernel : kernels_) spills += kernel.spills;
  return spills;
}

absl::StatusOr<std::vector<ChainTimes>> TimeInterleaved(
    absl::Span<const KernelChain> chains, backends::Device& device,
    double seconds) {
  TW_ASSIGN_OR_RETURN(const auto stream, device.CreateStream());
  std::vector<std::vector<int64_t>> times_ns(chains.size());
  double spent = 0;
  for (int turn = 0; turn < kLeastTurns || spent < seconds; ++turn) {
    for (size_t i = 0; i < chains.size(); ++i) {
      TW_ASSIGN_OR_RETURN(const int64_t ns, device.TimeNs(*stream, [&] {
        return chains[i].Run(*stream);
      }));
      spent += static_cast<double>(ns) * 1e-9;
      if (turn > 0) times_ns[i].push_back(ns);
    }
  }
  std::vector<ChainTimes> times;
  for (std::vector<int64_t>& own : times_ns) {
    std::sort(own.begin(), own.end());
    times.push_back({static_cast<double>(own[0]) * 1e-9,
                     static_cast<double>(own[own.size() / 2]) * 1e-9});
  }
  return times;
}

}  // namespace tilewright::bench
