// Every function over all 2^32 floats on this host, as the table of
// docs/results/functions.md. Takes minutes per function.
//
//   functions_exhaustive [STEP [THREADS [FUNCTION]]]   every STEP-th float (1),
//   shared by THREADS (1), of one function (all)
//
// Exits with 1 if a bound is exceeded.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/cpu/function_sweep.h"
#include "backends/lowering/testing/function_oracle.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/host_spec.h"
#include "base/status_macros.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::cpu {
namespace {

absl::StatusOr<SweepResult> Sweep(Op op, const DeviceSpec& spec, uint64_t step,
                                  int threads) {
  const uint64_t total =
      (uint64_t{1} << 32) / step / threads * step;  // per thread but the last
  std::vector<absl::StatusOr<SweepResult>> parts(threads, SweepResult{});
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      parts[t] = [&]() -> absl::StatusOr<SweepResult> {
        TW_ASSIGN_OR_RETURN(
            const auto function,
            CompiledFunction::Compile(op, DType::kFloat32, spec));
        return SweepFloats(
            *function, op, total * t,
            t + 1 == threads ? uint64_t{1} << 32 : total * (t + 1), step);
      }();
    });
  }
  for (std::thread& thread : running) thread.join();
  SweepResult all;
  for (const auto& part : parts) {
    TW_RETURN_IF_ERROR(part.status());
    all.values += part->values;
    if (part->max_ulp > all.max_ulp) {
      all.max_ulp = part->max_ulp;
      all.worst = part->worst;
    }
  }
  return all;
}

// x from -8 to 8, for log and pow from 1/256 to 8; y from -4 to 4.
absl::StatusOr<double> Speed(Op op, DType dtype, const DeviceSpec& spec) {
  TW_ASSIGN_OR_RETURN(const auto function,
                      CompiledFunction::Compile(op, dtype, spec));
  const int64_t n = CompiledFunction::kElements;
  const auto run = [&](auto zero) {
    std::vector<decltype(zero)> x(n), y(n), z(n);
    for (int64_t i = 0; i < n; ++i) {
      const bool positive = op == Op::kLog || op == Op::kPow;
      x[i] = positive ? static_cast<decltype(zero)>(i + 8) / 2048
                      : static_cast<decltype(zero)>(i - 8192) / 1024;
      y[i] = static_cast<decltype(zero)>(i % 1024 - 512) / 128;
    }
    return function->ElementsPerSecond(x.data(), y.data(), z.data());
  };
  return dtype == DType::kFloat32 ? run(0.0f) : run(0.0);
}

absl::StatusOr<bool> Table(uint64_t step, int threads, std::string_view only) {
  TW_ASSIGN_OR_RETURN(const std::string best, BestCpuClass(HostCpuFeatures()));
  bool within = true;
  std::printf(
      "| function | class | floats | max error (ULP) | at x | bound | f32 "
      "10^9/s | f64 10^9/s |\n|---|---|---|---|---|---|---|---|\n");
  for (const std::string& cpu_class : {best, std::string("x86-64-v2")}) {
    TW_ASSIGN_OR_RETURN(const DeviceSpec spec,
                        CpuSpec(cpu_class, QueryHostStructure()));
    for (Op op : lowering::kFunctions) {
      if (!only.empty() && Name(op) != only) continue;
      TW_ASSIGN_OR_RETURN(const double single,
                          Speed(op, DType::kFloat32, spec));
      TW_ASSIGN_OR_RETURN(const double twice, Speed(op, DType::kFloat64, spec));
      SweepResult result;
      if (op != Op::kPow) {
        TW_ASSIGN_OR_RETURN(result, Sweep(op, spec, step, threads));
        within = within && result.max_ulp <= lowering::UlpBound(op);
      }
      std::printf("| %s | %s | ", std::string(Name(op)).c_str(),
                  cpu_class.c_str());
      if (op == Op::kPow) {
        std::printf("pairs: sampled in functions_test | | | ");
      } else {
        std::printf("%lld | %.3f | %.9g | ",
                    static_cast<long long>(result.values), result.max_ulp,
                    result.worst);
      }
      std::printf("%g | %.2f | %.2f |\n", lowering::UlpBound(op), single * 1e-9,
                  twice * 1e-9);
      std::fflush(stdout);
    }
  }
  return within;
}

}  // namespace
}  // namespace tilewright::cpu

int main(int argc, char** argv) {
  const int64_t step = argc > 1 ? std::atoll(argv[1]) : 1;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  if (argc > 4 || step < 1 || threads < 1) {
    std::fprintf(stderr,
                 "usage: functions_exhaustive [STEP [THREADS [FUNCTION]]], "
                 "numbers from 1 on\n");
    return 2;
  }
  const absl::StatusOr<bool> within = tilewright::cpu::Table(
      static_cast<uint64_t>(step), threads, argc > 3 ? argv[3] : "");
  if (!within.ok()) {
    std::fprintf(stderr, "functions_exhaustive: %s\n",
                 std::string(within.status().message()).c_str());
    return 1;
  }
  return *within ? 0 : 1;
}
