// Features of x86-64 CPUs: feature classes, and the host by CPUID. Never the
// CPU's name.
#ifndef TILEWRIGHT_BACKENDS_SPEC_CPU_FEATURES_H_
#define TILEWRIGHT_BACKENDS_SPEC_CPU_FEATURES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright {

// The classes kernels are built for, smallest first: "x86-64-v2", "x86-64-v3",
// "x86-64-v4" (the levels of the x86-64 psABI), "x86-64-v4-vnni" (v4 with
// AVX512_VNNI), "x86-64-v4-bf16" (and AVX512_BF16
// and AVX512_VBMI: Zen 4 and Sapphire Rapids, not Cooper Lake), "x86-64-v4-amx"
// (and AMX). Each includes the ones before it.
const std::vector<std::string>& CpuClasses();

// Features of a class in LLVM's spelling, sorted. InvalidArgument lists the
// classes if there is no such one.
absl::StatusOr<std::vector<std::string>> CpuClassFeatures(
    std::string_view cpu_class);

// Features of the running CPU, of those any class names, that the operating
// system lets programs use; sorted. Asked by CPUID and XGETBV.
std::vector<std::string> HostCpuFeatures();

// The features that `cpu_class` needs and `have` (sorted) lacks.
absl::StatusOr<std::vector<std::string>> MissingCpuFeatures(
    std::string_view cpu_class, const std::vector<std::string>& have);

// The largest class all of whose features are in `have`. Unimplemented, naming
// what lacks, if even the smallest is not.
absl::StatusOr<std::string> BestCpuClass(const std::vector<std::string>& have);

// Whether the machine of `spec` has it.
bool HasFeature(const DeviceSpec& spec, std::string_view feature);

}  // namespace tilewright

#endif  // TILEWRIGHT_BACKENDS_SPEC_CPU_FEATURES_H_
