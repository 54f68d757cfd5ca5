// --target of a benchmark: everything is held to one class of x86-64 CPUs, the
// peers too where they let themselves be.
#ifndef TILEWRIGHT_BENCH_OPTIONS_TARGET_CLASS_H_
#define TILEWRIGHT_BENCH_OPTIONS_TARGET_CLASS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::bench {

struct TargetClass {
  std::string name;  // "x86-64-v3"; empty: the host's own, nothing is limited
  int vector_bytes = 64;

  bool limits() const { return !name.empty(); }
};

// x86-64-v2, x86-64-v3 or x86-64-v4, or the same without x86-64-.
// InvalidArgument for anything else.
absl::StatusOr<TargetClass> ParseTargetClass(std::string_view text);

// The host as a machine of that class: its caches and cores. Unimplemented,
// naming what it lacks, if the host is none.
absl::StatusOr<DeviceSpec> SpecOf(const TargetClass& target);

// Sets the variables by which oneDNN (ONEDNN_MAX_CPU_ISA, DNNL_MAX_CPU_ISA) and
// OpenBLAS (OPENBLAS_CORETYPE) choose their kernels when they are loaded. ONNX
// Runtime asks CPUID alone. Nothing without a limit.
void LimitPeers(const TargetClass& target);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_OPTIONS_TARGET_CLASS_H_
