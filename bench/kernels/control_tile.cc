#include "bench/kernels/control_tile.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/cpu/micro_kernels.h"
#include "base/status_macros.h"

namespace tilewright::bench {
namespace {

constexpr int kSamples = 5;
// As tasks of one launch.
constexpr int64_t kRunsPerSample = 200;

// 14x2 vectors of AVX-512, 6x2 where there are 16 registers: 16 KiB of B, less
// of A.
cpu::GemmPanel PanelFor(const DeviceSpec& spec) {
  cpu::GemmPanel panel;
  panel.lanes = static_cast<int>(spec.unit().vector_bytes() / 4);
  panel.fma = spec.unit().fma();
  panel.rows = spec.unit().vector_registers() >= 32 ? 14 : panel.fma ? 6 : 3;
  panel.vectors = 2;
  panel.m = panel.rows;
  panel.k = 128;
  return panel;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControlTile>> ControlTile::Create(
    const TargetClass& target) {
  std::unique_ptr<ControlTile> tile(new ControlTile);
  TW_ASSIGN_OR_RETURN(tile->device_, cpu::CreateCpuDevice({.num_threads = 1}));
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, SpecOf(target));
  TW_ASSIGN_OR_RETURN(const auto codegen, cpu::CreateCpuCodegen(spec));
  const cpu::GemmPanel panel = PanelFor(spec);
  const kernel_ir::ScalarKernel kernel = cpu::MakeGemmPanel(panel);
  TW_ASSIGN_OR_RETURN(const backends::Module module, codegen->Emit({kernel}));
  TW_ASSIGN_OR_RETURN(tile->module_,
                      tile->device_->LoadModule(module.bytes, module.target));
  TW_ASSIGN_OR_RETURN(tile->kernel_,
                      tile->device_->GetKernel(*tile->module_, kernel.name));
  TW_ASSIGN_OR_RETURN(tile->stream_, tile->device_->CreateStream());
  for (const auto& [buffer, elements] :
       {std::pair{&tile->a_, panel.m * panel.k},
        {&tile->b_, panel.k * panel.n()},
        {&tile->c_, panel.m * panel.n()}}) {
    TW_ASSIGN_OR_RETURN(*buffer, tile->device_->Allocate(4 * elements));
    std::memset((*buffer)->address(), 0, 4 * elements);
  }
  tile->flops_ = static_cast<double>(panel.flops());
  return tile;
}

absl::StatusOr<double> ControlTile::Sample() {
  void* const args[] = {a_->address(), b_->address(), c_->address()};
  double best = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    TW_ASSIGN_OR_RETURN(const int64_t ns, device_->TimeNs(*stream_, [&] {
      return stream_->Launch(*kernel_, args, kRunsPerSample, 0);
    }));
    best = std::max(best, kRunsPerSample * flops_ / static_cast<double>(ns));
  }
  return best;
}

}  // namespace tilewright::bench
