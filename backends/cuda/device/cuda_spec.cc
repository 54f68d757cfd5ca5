#include "backends/cuda/device/cuda_spec.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/cuda/device/cuda_error.h"
#include "backends/spec/load_spec.h"
#include "backends/spec/set_source.h"
#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

// Multiply-adds in f32 a clock and multiprocessor: CUDA C++ Programming Guide,
// table "Throughput of Native Arithmetic Instructions". 0 if it is not there.
int F32LanesPerMultiprocessor(int capability) {
  static constexpr struct {
    int capability, lanes;
  } kTable[] = {{70, 64},   {72, 64},   {75, 64},   {80, 64},
                {86, 128},  {87, 128},  {89, 128},  {90, 128},
                {100, 128}, {103, 128}, {120, 128}, {121, 128}};
  for (const auto& row : kTable) {
    if (row.capability == capability) return row.lanes;
  }
  return 0;
}

class Attributes {
 public:
  Attributes(const DriverApi& api, CuDevice device)
      : api_(api), device_(device) {}

  absl::Status Read() {
    for (const int attribute :
         {kCuMaxThreadsPerBlock, kCuWarpSize, kCuMaxRegistersPerBlock,
          kCuClockRateKhz, kCuMultiprocessors, kCuMemoryClockRateKhz,
          kCuMemoryBusWidthBits, kCuL2CacheBytes,
          kCuMaxThreadsPerMultiprocessor, kCuComputeCapabilityMajor,
          kCuComputeCapabilityMinor, kCuSharedBytesPerMultiprocessor,
          kCuRegistersPerMultiprocessor, kCuMaxSharedBytesPerBlock,
          kCuMaxBlocksPerMultiprocessor}) {
      int value = 0;
      TW_RETURN_IF_ERROR(
          ToStatus(api_, api_.device_get_attribute(&value, attribute, device_),
                   absl::StrCat("device attribute ", attribute)));
      values_[attribute] = value;
    }
    return absl::OkStatus();
  }
  int64_t operator[](CuDeviceAttribute attribute) const {
    return values_.at(attribute);
  }

 private:
  const DriverApi& api_;
  const CuDevice device_;
  std::map<int, int64_t> values_;
};

constexpr char kAttributes[] = "cuDeviceGetAttribute";
constexpr int64_t kSectorBytes = 32;
constexpr int64_t kMaxRegistersPerThread = 255;

MemoryLevel& AddLevel(const char* name, MemoryLevel::Kind kind,
                      MemoryLevel::Scope scope, int64_t capacity_bytes,
                      int64_t transaction_bytes, DeviceSpec& spec) {
  MemoryLevel& level = *spec.add_levels();
  level.set_name(name);
  level.set_kind(kind);
  level.set_scope(scope);
  level.set_capacity_bytes(capacity_bytes);
  level.set_read_transaction_bytes(transaction_bytes);
  level.set_write_transaction_bytes(transaction_bytes);
  return level;
}

// Levels that all cores share.
void AddDeviceLevels(const Attributes& got, int64_t memory_bytes,
                     DeviceSpec& spec) {
  const int64_t cores = got[kCuMultiprocessors];
  MemoryLevel& dram = AddLevel("dram", MemoryLevel::MEMORY, MemoryLevel::DEVICE,
                               memory_bytes, kSectorBytes, spec);
  dram.set_instances(1);
  dram.set_cores_sharing(cores);
  SetSource(dram, Source::DRIVER, {"capacity_bytes", "cores_sharing"},
            "cuDeviceTotalMem, cuDeviceGetAttribute");
  SetSource(dram, Source::DERIVED,
            {"instances", "read_transaction_bytes", "write_transaction_bytes"},
            "one memory, in sectors of 32 bytes");
  const double bytes_per_s =
      2e3 * static_cast<double>(got[kCuMemoryClockRateKhz]) *
      static_cast<double>(got[kCuMemoryBusWidthBits]) / 8;
  if (bytes_per_s > 0) {
    dram.set_aggregate_read_bytes_per_s(bytes_per_s);
    dram.set_aggregate_write_bytes_per_s(bytes_per_s);
    SetSource(dram, Source::DERIVED,
              {"aggregate_read_bytes_per_s", "aggregate_write_bytes_per_s"},
              "twice the memory clock times the bus width, of "
              "cuDeviceGetAttribute");
  }
  if (got[kCuL2CacheBytes] <= 0) return;
  MemoryLevel& l2 = AddLevel("l2", MemoryLevel::CACHE, MemoryLevel::DEVICE,
                             got[kCuL2CacheBytes], kSectorBytes, spec);
  l2.set_instances(1);
  l2.set_cores_sharing(cores);
  SetSource(l2, Source::DRIVER, {"capacity_bytes", "cores_sharing"},
            kAttributes);
  SetSource(l2, Source::DERIVED,
            {"instances", "read_transaction_bytes", "write_transaction_bytes"},
            "one cache, in sectors of 32 bytes");
}

void AddCoreLevels(const Attributes& got, DeviceSpec& spec) {
  const int64_t cores = got[kCuMultiprocessors];
  MemoryLevel& shared =
      AddLevel("shared", MemoryLevel::SCRATCHPAD, MemoryLevel::CORE,
               got[kCuSharedBytesPerMultiprocessor], 4, spec);
  shared.set_instances(cores);
  shared.set_cores_sharing(1);
  shared.set_banks(32);
  shared.set_bank_width_bytes(4);
  SetSource(shared, Source::DRIVER, {"capacity_bytes", "instances"},
            kAttributes);
  SetSource(shared, Source::DATASHEET,
            {"cores_sharing", "read_transaction_bytes",
             "write_transaction_bytes", "banks", "bank_width_bytes"},
            "CUDA C++ Programming Guide: shared memory has 32 banks of 32 "
            "bits");
  MemoryLevel& registers =
      AddLevel("registers", MemoryLevel::REGISTER, MemoryLevel::THREAD,
               4 * kMaxRegistersPerThread, 4, spec);
  registers.set_instances(cores * got[kCuMaxThreadsPerMultiprocessor]);
  registers.set_cores_sharing(1);
  SetSource(registers, Source::DRIVER, {"instances"}, kAttributes);
  SetSource(registers, Source::DATASHEET,
            {"capacity_bytes", "cores_sharing", "read_transaction_bytes",
             "write_transaction_bytes"},
            "CUDA C++ Programming Guide: at most 255 registers of 32 bits a "
            "thread");
}

void FillUnit(const Attributes& got, int capability, ComputeUnit& unit) {
  unit.set_cores(got[kCuMultiprocessors]);
  unit.set_warp_size(got[kCuWarpSize]);
  unit.set_max_threads_per_block(got[kCuMaxThreadsPerBlock]);
  unit.set_max_threads_per_core(got[kCuMaxThreadsPerMultiprocessor]);
  unit.set_max_blocks_per_core(got[kCuMaxBlocksPerMultiprocessor]);
  unit.set_registers_per_block(got[kCuMaxRegistersPerBlock]);
  unit.set_registers_per_core(got[kCuRegistersPerMultiprocessor]);
  unit.set_scratchpad_bytes_per_block(got[kCuMaxSharedBytesPerBlock]);
  unit.set_scratchpad_bytes_per_core(got[kCuSharedBytesPerMultiprocessor]);
  SetSource(
      unit, Source::DRIVER,
      {"cores", "warp_size", "max_threads_per_block", "max_threads_per_core",
       "max_blocks_per_core", "registers_per_block", "registers_per_core",
       "scratchpad_bytes_per_block", "scratchpad_bytes_per_core"},
      kAttributes);
  unit.set_threads_per_core(got[kCuMaxThreadsPerMultiprocessor]);
  unit.set_registers_per_thread(kMaxRegistersPerThread);
  unit.set_vector_bytes(4);
  unit.set_vector_registers(kMaxRegistersPerThread);
  unit.set_fma(true);
  SetSource(unit, Source::DERIVED,
            {"threads_per_core", "registers_per_thread", "vector_bytes",
             "vector_registers"},
            "a thread has scalars of 32 bits; as many threads as fit");
  const int lanes = F32LanesPerMultiprocessor(capability);
  if (lanes > 0 && got[kCuClockRateKhz] > 0) {
    PeakRate& peak = *unit.add_peaks();
    peak.set_dtype("f32");
    peak.set_unit(PeakRate::VECTOR);
    peak.set_core_ops_per_s(2e3 * lanes *
                            static_cast<double>(got[kCuClockRateKhz]));
    SetSource(peak, Source::DERIVED, {"core_ops_per_s"},
              "two operations a lane and clock; lanes of the capability by the "
              "CUDA C++ Programming Guide, clock by cuDeviceGetAttribute");
  }
}

// How many times as much a second as the committed spec's cores this device's
// do, by clock and by number.
struct Ratios {
  double clock = 1, cores = 1;
};

// Of a cache that all cores share what goes through it at the clock, of the
// scratchpads what each core's does. Memory has a bus of its own.
void AddBandwidths(const MemoryLevel& committed, const Ratios& ratios,
                   const std::string& origin, MemoryLevel& level) {
  if (level.kind() == MemoryLevel::MEMORY) return;
  const double all = level.scope() == MemoryLevel::DEVICE ? 1 : ratios.cores;
  level.set_read_bytes_per_s(committed.read_bytes_per_s() * ratios.clock);
  level.set_write_bytes_per_s(committed.write_bytes_per_s() * ratios.clock);
  level.set_aggregate_read_bytes_per_s(committed.aggregate_read_bytes_per_s() *
                                       ratios.clock * all);
  level.set_aggregate_write_bytes_per_s(
      committed.aggregate_write_bytes_per_s() * ratios.clock * all);
  SetSource(level, Source::DERIVED,
            {"read_bytes_per_s", "write_bytes_per_s",
             "aggregate_read_bytes_per_s", "aggregate_write_bytes_per_s"},
            absl::StrCat(origin, ", times the ratio of the clocks"));
}

// All peaks but that of f32, which the attributes tell, and its latency.
void AddPeaks(const ComputeUnit& committed, const Ratios& ratios,
              const std::string& origin, ComputeUnit& unit) {
  for (const PeakRate& peak : committed.peaks()) {
    if (peak.unit() == PeakRate::VECTOR && peak.dtype() == "f32") {
      unit.mutable_peaks(0)->set_latency_ns(peak.latency_ns() / ratios.clock);
      SetSource(*unit.mutable_peaks(0), Source::DERIVED, {"latency_ns"},
                absl::StrCat(origin, ", times the ratio of the clocks"));
      continue;
    }
    PeakRate& at_our_clock = *unit.add_peaks();
    at_our_clock = peak;
    at_our_clock.set_core_ops_per_s(peak.core_ops_per_s() * ratios.clock);
    SetSource(at_our_clock, Source::DERIVED, {"core_ops_per_s"},
              absl::StrCat(origin, ", times the ratio of the rates of f32"));
  }
}

// Adds what no attribute tells, from the committed spec of the same target:
// units in which resources are given out, matrix instructions and their peaks
// at this clock, copies, latencies and bandwidths, constants of the cost model.
void AddCommitted(DeviceSpec& spec) {
  const absl::StatusOr<DeviceSpec> found = LoadSpec(spec.target());
  if (!found.ok()) return;
  const ComputeUnit& from = found->unit();
  ComputeUnit& unit = *spec.mutable_unit();
  const std::string origin = absl::StrCat("as the spec '", found->name(), "'");
  unit.set_register_allocation_unit(from.register_allocation_unit());
  unit.set_scratchpad_allocation_bytes(from.scratchpad_allocation_bytes());
  unit.set_scratchpad_reserved_bytes(from.scratchpad_reserved_bytes());
  unit.set_schedulers_per_core(from.schedulers_per_core());
  unit.set_launch_ns(from.launch_ns());
  unit.set_barrier_ns(from.barrier_ns());
  SetSource(unit, Source::DERIVED,
            {"register_allocation_unit", "scratchpad_allocation_bytes",
             "scratchpad_reserved_bytes", "schedulers_per_core", "launch_ns",
             "barrier_ns"},
            origin);
  *unit.mutable_matrix_units() = from.matrix_units();
  if (from.has_async_copy()) *unit.mutable_async_copy() = from.async_copy();
  if (found->has_cost_model()) *spec.mutable_cost_model() = found->cost_model();
  const double theirs = CorePeak(*found, "f32", PeakRate::VECTOR);
  const double ours = CorePeak(spec, "f32", PeakRate::VECTOR);
  Ratios ratios;
  if (theirs > 0 && ours > 0) ratios.clock = ours / theirs;
  if (from.cores() > 0)
    ratios.cores =
        static_cast<double>(unit.cores()) / static_cast<double>(from.cores());
  for (MemoryLevel& level : *spec.mutable_levels()) {
    const MemoryLevel* same = FindLevel(*found, level.name());
    if (same == nullptr) continue;
    AddBandwidths(*same, ratios, origin, level);
    if (same->latency_ns() == 0) continue;
    level.set_latency_ns(same->latency_ns());
    SetSource(level, Source::DERIVED, {"latency_ns"}, origin);
  }
  if (theirs <= 0 || ours <= 0) return;
  AddPeaks(from, ratios, origin, unit);
}

}  // namespace

absl::StatusOr<DeviceSpec> QuerySpec(const DriverApi& api, CuDevice device) {
  Attributes got(api, device);
  TW_RETURN_IF_ERROR(got.Read());
  size_t memory_bytes = 0;
  TW_RETURN_IF_ERROR(ToStatus(
      api, api.device_total_memory(&memory_bytes, device), "cuDeviceTotalMem"));
  const int capability = static_cast<int>(10 * got[kCuComputeCapabilityMajor] +
                                          got[kCuComputeCapabilityMinor]);
  DeviceSpec spec;
  spec.set_name(absl::StrCat("cuda_sm_", capability));
  // From Hopper on there are instructions that only this very one has.
  spec.set_target(
      absl::StrCat("cuda:sm_", capability, capability >= 90 ? "a" : ""));
  AddDeviceLevels(got, static_cast<int64_t>(memory_bytes), spec);
  AddCoreLevels(got, spec);
  FillUnit(got, capability, *spec.mutable_unit());
  AddCommitted(spec);
  TW_RETURN_IF_ERROR(ValidateSpec(spec));
  return spec;
}

}  // namespace tilewright::cuda
