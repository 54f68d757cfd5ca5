#include "backends/spec/cpu_features.h"

#include <cpuid.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace tilewright {
namespace {

// The features that each class adds to the one before it.
struct ClassDefinition {
  const char* name;
  std::vector<std::string> adds;
};

const std::vector<ClassDefinition>& Definitions() {
  static const auto* definitions = new std::vector<ClassDefinition>{
      {"x86-64-v2",
       {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"}},
      {"x86-64-v3",
       {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe",
        "xsave"}},
      {"x86-64-v4",
       {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl", "evex512"}},
      {"x86-64-v4-vnni", {"avx512vnni"}},
      {"x86-64-v4-bf16", {"avx512bf16", "avx512vbmi"}},
      {"x86-64-v4-amx", {"amx-bf16", "amx-int8", "amx-tile"}},
  };
  return *definitions;
}

uint64_t Xgetbv0() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

enum Register { kEax, kEbx, kEcx, kEdx };

// One CPUID bit, and the XCR0 bits the operating system must have enabled.
struct FeatureBit {
  const char* name;
  uint32_t leaf;
  uint32_t subleaf;
  Register reg;
  int bit;
  uint64_t xcr0;
};

constexpr uint64_t kYmm = 0x6;        // SSE and AVX state
constexpr uint64_t kZmm = 0xe6;       // and opmask, upper ZMM
constexpr uint64_t kTiles = 0x60000;  // XTILECFG, XTILEDATA

// Intel's Software Developer's Manual, volume 2, CPUID.
constexpr FeatureBit kFeatureBits[] = {
    {"amx-bf16", 7, 0, kEdx, 22, kTiles},
    {"amx-int8", 7, 0, kEdx, 25, kTiles},
    {"amx-tile", 7, 0, kEdx, 24, kTiles},
    {"avx", 1, 0, kEcx, 28, kYmm},
    {"avx2", 7, 0, kEbx, 5, kYmm},
    {"avx512bf16", 7, 1, kEax, 5, kZmm},
    {"avx512bw", 7, 0, kEbx, 30, kZmm},
    {"avx512cd", 7, 0, kEbx, 28, kZmm},
    {"avx512dq", 7, 0, kEbx, 17, kZmm},
    {"avx512f", 7, 0, kEbx, 16, kZmm},
    {"avx512vbmi", 7, 0, kEcx, 1, kZmm},
    {"avx512vl", 7, 0, kEbx, 31, kZmm},
    {"avx512vnni", 7, 0, kEcx, 11, kZmm},
    {"bmi", 7, 0, kEbx, 3, 0},
    {"bmi2", 7, 0, kEbx, 8, 0},
    {"cx16", 1, 0, kEcx, 13, 0},
    {"evex512", 7, 0, kEbx, 16, kZmm},
    {"f16c", 1, 0, kEcx, 29, kYmm},
    {"fma", 1, 0, kEcx, 12, kYmm},
    {"lzcnt", 0x80000001, 0, kEcx, 5, 0},
    {"movbe", 1, 0, kEcx, 22, 0},
    {"popcnt", 1, 0, kEcx, 23, 0},
    {"sahf", 0x80000001, 0, kEcx, 0, 0},
    {"sse3", 1, 0, kEcx, 0, 0},
    {"sse4.1", 1, 0, kEcx, 19, 0},
    {"sse4.2", 1, 0, kEcx, 20, 0},
    {"ssse3", 1, 0, kEcx, 9, 0},
    {"xsave", 1, 0, kEcx, 27, 0},  // OSXSAVE: enabled by the system too
};

}  // namespace

const std::vector<std::string>& CpuClasses() {
  static const auto* names = [] {
    auto* result = new std::vector<std::string>;
    for (const ClassDefinition& definition : Definitions()) {
      result->push_back(definition.name);
    }
    return result;
  }();
  return *names;
}

absl::StatusOr<std::vector<std::string>> CpuClassFeatures(
    std::string_view cpu_class) {
  std::vector<std::string> features;
  for (const ClassDefinition& definition : Definitions()) {
    features.insert(features.end(), definition.adds.begin(),
                    definition.adds.end());
    if (definition.name == cpu_class) {
      std::sort(features.begin(), features.end());
      return features;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", std::string(cpu_class),
                   "' is no CPU feature class; the classes are ",
                   absl::StrJoin(CpuClasses(), ", ")));
}

std::vector<std::string> HostCpuFeatures() {
  uint32_t regs[4] = {};
  const bool osxsave = __get_cpuid(1, &regs[0], &regs[1], &regs[2], &regs[3]) &&
                       (regs[kEcx] >> 27 & 1);
  const uint64_t xcr0 = osxsave ? Xgetbv0() : 0;
  std::vector<std::string> features;
  for (const FeatureBit& feature : kFeatureBits) {
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, &regs[0], &regs[1],
                           &regs[2], &regs[3])) {
      continue;
    }
    if ((regs[feature.reg] >> feature.bit & 1) != 0 &&
        (xcr0 & feature.xcr0) == feature.xcr0) {
      features.push_back(feature.name);
    }
  }
  std::sort(features.begin(), features.end());
  return features;
}

absl::StatusOr<std::vector<std::string>> MissingCpuFeatures(
    std::string_view cpu_class, const std::vector<std::string>& have) {
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> need,
                      CpuClassFeatures(cpu_class));
  std::vector<std::string> missing;
  std::set_difference(need.begin(), need.end(), have.begin(), have.end(),
                      std::back_inserter(missing));
  return missing;
}

absl::StatusOr<std::string> BestCpuClass(const std::vector<std::string>& have) {
  std::string best;
  for (const std::string& cpu_class : CpuClasses()) {
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> missing,
                        MissingCpuFeatures(cpu_class, have));
    if (missing.empty()) {
      best = cpu_class;
    } else if (best.empty()) {
      return absl::UnimplementedError(
          absl::StrCat("this CPU is older than ", cpu_class, ": it lacks ",
                       absl::StrJoin(missing, ", ")));
    } else {
      break;
    }
  }
  return best;
}

bool HasFeature(const DeviceSpec& spec, std::string_view feature) {
  return std::any_of(spec.features().begin(), spec.features().end(),
                     [&](const std::string& name) { return name == feature; });
}

}  // namespace tilewright
