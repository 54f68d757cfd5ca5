#include "bench/gpu/memory_counts.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/types/span.h"
#include "backends/codegen.h"
#include "backends/device.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/emulator/device/access_counts.h"
#include "backends/emulator/device/emulator_device.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/spec/device_spec.pb.h"
#include "base/status_macros.h"
#include "compiler/connect_gpu.h"
#include "compiler/kernels/generated_block_of.h"
#include "compiler/kernels/group_workload.h"
#include "compiler/kernels/kernel_maker.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {
namespace {

using emulator::KernelCounts;
using emulator::PlaceCount;
using kernel_ir::ScalarBuffer;
using kernel_ir::ScalarKernel;

constexpr double kSectorBytes = 32, kTurnBytes = 32 * 4;

// A tensor of the model in one memory.
using Key = std::pair<TensorId, bool>;

// Sectors and turns that the plan expects warps to ask for.
std::map<Key, double> Planned(const GpuCost& cost) {
  std::map<Key, double> planned;
  for (const auto& [tensor, sectors] : cost.requested_sectors)
    planned[{tensor, false}] = sectors;
  for (const auto& [tensor, turns] : cost.requested_turns)
    planned[{tensor, true}] = turns;
  return planned;
}

// Those that its cost is made of.
std::map<Key, double> Costed(const GpuCost& cost) {
  std::map<Key, double> costed;
  for (const GpuTraffic& traffic : cost.traffic)
    costed[{traffic.tensor, traffic.shared}] +=
        traffic.bytes / (traffic.shared ? kTurnBytes : kSectorBytes);
  return costed;
}

// The buffer of a place: an argument, or scratch that begins there.
const ScalarBuffer* BufferOf(const ScalarKernel& kernel,
                             const PlaceCount& place) {
  if (place.argument >= 0)
    return &kernel.buffers[static_cast<size_t>(place.argument)];
  for (const ScalarBuffer& buffer : kernel.buffers)
    if (buffer.role == kernel_ir::Role::kLocal && !buffer.per_thread &&
        buffer.scratch_offset_bytes == place.scratch_bytes)
      return &buffer;
  return nullptr;
}

absl::StatusOr<KernelCounts> CountKernel(const ScalarKernel& kernel,
                                         const DeviceSpec& spec) {
  emulator::EmulatorCodegenOptions options;
  options.counted = true;
  TW_ASSIGN_OR_RETURN(const backends::Module module,
                      emulator::CreateEmulatorCodegen(spec, options)
                          ->Emit(absl::MakeConstSpan(&kernel, 1)));
  KernelCounts counts;
  emulator::EmulatorDeviceOptions device_options;
  device_options.on_counts = [&](const KernelCounts& of) { counts = of; };
  const auto device = emulator::CreateEmulatorDevice(spec, device_options);
  TW_ASSIGN_OR_RETURN(const auto loaded,
                      device->LoadModule(module.bytes, module.target));
  TW_ASSIGN_OR_RETURN(const auto resolved,
                      device->GetKernel(*loaded, kernel.name));
  TW_ASSIGN_OR_RETURN(const auto stream, device->CreateStream());
  std::vector<std::unique_ptr<backends::DeviceBuffer>> buffers;
  std::vector<void*> addresses;
  for (const ScalarBuffer& buffer : kernel.buffers) {
    if (buffer.role == kernel_ir::Role::kLocal) continue;
    const int64_t bytes = buffer.elements * SizeBytes(buffer.dtype);
    TW_ASSIGN_OR_RETURN(auto memory, device->Allocate(bytes));
    TW_RETURN_IF_ERROR(stream->Fill(memory->address(), 0, bytes));
    addresses.push_back(memory->address());
    buffers.push_back(std::move(memory));
  }
  TW_RETURN_IF_ERROR(stream->Launch(*resolved, addresses, kernel.num_tasks,
                                    kernel.scratch_bytes));
  return counts;
}

void AddRows(const std::string& label, const CompiledKernel& kernel,
             const GroupWorkload& group, const TensorGraph& graph,
             const GpuTilePlan& tiles, const KernelCounts& counts,
             std::vector<MemoryRow>& rows) {
  std::map<Key, MemoryRow> row_of;
  for (const emulator::CountedPlace& place : counts.places) {
    const ScalarBuffer* const buffer = BufferOf(kernel.scalar, place.count);
    if (buffer == nullptr) continue;
    const std::optional<TensorId> tensor = ModelTensorOf(group, buffer->name);
    if (!tensor) continue;
    const bool shared = place.count.argument < 0;
    MemoryRow& row = row_of[{*tensor, shared}];
    row.accesses += place.count.accesses;
    row.counted +=
        static_cast<double>(shared ? place.count.turns : place.count.sectors);
    row.least += static_cast<double>(shared ? place.count.least_turns
                                            : place.count.least_sectors);
    row.block_sectors += static_cast<double>(place.count.block_sectors);
  }
  for (const auto& [key, planned] : Planned(tiles.cost))
    row_of[key].planned = planned;
  for (const auto& [key, costed] : Costed(tiles.cost))
    row_of[key].costed = costed;
  for (auto& [key, row] : row_of) {
    row.kernel = label;
    row.tensor = graph.tensor(key.first).name;
    row.shared = key.second;
    rows.push_back(std::move(row));
  }
}

}  // namespace

bool MemoryRow::agrees(double with) const {
  return std::abs(with - counted) <= 0.05 * counted;
}

absl::StatusOr<MemoryCounts> CountMemory(const CompiledModel& compiled,
                                         double most) {
  MemoryCounts result;
  std::set<int> done;
  for (size_t g = 0; g < compiled.plan.groups.size(); ++g) {
    const int number = compiled.kernel_of_group[g];
    if (number < 0 || !done.insert(number).second) continue;
    const CompiledKernel& kernel =
        compiled.kernels[static_cast<size_t>(number)];
    const Group& group = compiled.plan.groups[g];
    const GpuTilePlan* const tiles = TilesOf(*compiled.gpu, group);
    if (tiles == nullptr || !kernel.scalar.has_threads()) continue;
    const std::string& label = compiled.program.kernels(number).label();
    double expected = 0;
    for (const auto& [key, planned] : Planned(tiles->cost)) expected += planned;
    if (expected > most) {
      result.left_out.push_back(label);
      continue;
    }
    TW_ASSIGN_OR_RETURN(const KernelCounts counts,
                        CountKernel(kernel.scalar, compiled.gpu->spec));
    result.lines += emulator::ToString(counts);
    AddRows(label, kernel,
            MakeGroupWorkload(compiled.graph, compiled.plan, group),
            compiled.graph, *tiles, counts, result.rows);
  }
  return result;
}

}  // namespace tilewright
