// Runs the functions of backends/lowering/passes:expand_functions through the
// CPU backend over many floats and compares them with the oracle.
#ifndef TILEWRIGHT_BACKENDS_CPU_FUNCTION_SWEEP_H_
#define TILEWRIGHT_BACKENDS_CPU_FUNCTION_SWEEP_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::cpu {

// z[i] = op(x[i], y[i]) as machine code for a feature class, run on this host.
// Thread-compatible: one thread per object.
class CompiledFunction {
 public:
  static constexpr int64_t kElements = 16384;

  // `dtype` is f32 or f64; vectors of the spec's width.
  static absl::StatusOr<std::unique_ptr<CompiledFunction>> Compile(
      Op op, DType dtype, const DeviceSpec& spec);

  // kElements each; unary functions ignore y.
  absl::Status Run(const void* x, const void* y, void* z);
  // Elements per second over kElements that stay in cache: CPU time of the
  // fastest of 200 runs.
  absl::StatusOr<double> ElementsPerSecond(const void* x, const void* y,
                                           void* z);

 private:
  std::unique_ptr<backends::Device> device_;
  std::unique_ptr<backends::DeviceModule> module_;
  std::unique_ptr<backends::DeviceKernel> kernel_;
  std::unique_ptr<backends::Stream> stream_;
};

struct SweepResult {
  double max_ulp = 0;  // 0: every value correctly rounded
  float worst = 0;     // where
  int64_t values = 0;
};
// All floats whose bits are begin + i * step below `end`; unary functions.
absl::StatusOr<SweepResult> SweepFloats(CompiledFunction& function, Op op,
                                        uint64_t begin, uint64_t end,
                                        uint64_t step);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_FUNCTION_SWEEP_H_
