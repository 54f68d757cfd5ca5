// Tilewright as the benchmarks run it: an ONNX file compiled for this host, a
// session over it, tensors as the peer's.
#ifndef TILEWRIGHT_BENCH_MODEL_OWN_MODEL_H_
#define TILEWRIGHT_BENCH_MODEL_OWN_MODEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "bench/options/target_class.h"
#include "bench/ort/ort_session.h"
#include "compiler/compile.h"
#include "runtime/session.h"

namespace tilewright::bench {

struct CompiledBytes {
  std::string tw;            // the bytes of the .tw
  double compile_cpu_s = 0;  // import and compilation, all threads
  int fused_groups = 0;      // of operators that pass tiles on (Group::stages)
};

// Fuses whatever has a kernel, whether that pays or not: for correctness.
CompileOptions FuseEverything();
// Fuses nothing but what stays in registers.
CompileOptions FuseInRegisters();

// For the CPU this runs on, or its kind of `target`.
absl::StatusOr<CompiledBytes> CompileForHost(const std::string& onnx_path,
                                             const CompileOptions& options = {},
                                             const TargetClass& target = {});

class OwnModel {
 public:
  static absl::StatusOr<std::unique_ptr<OwnModel>> Load(const std::string& tw,
                                                        int threads);

  const Program& program() const { return model_->program(); }
  // Floating-point operations of one run, counted from the expressions.
  double flops() const;

  // Copies `inputs`; matched by name, or by position where the name is empty.
  // Must be called before Run.
  absl::Status Bind(const std::vector<OrtTensor>& inputs);
  // One run of the model, which a benchmark times.
  absl::Status Run();
  // Run, calling `on_step` after each step with its index.
  absl::Status RunSteps(const std::function<void(int step)>& on_step);
  // Copies of the last run's outputs.
  std::vector<OrtTensor> Outputs() const;
  Session& session() { return *session_; }

 private:
  OwnModel() = default;

  std::shared_ptr<const Model> model_;
  std::unique_ptr<Session> session_;
  std::vector<std::unique_ptr<backends::DeviceBuffer>> inputs_, outputs_;
  std::vector<const void*> from_;
  std::vector<void*> to_;
};

// Seconds to load a .tw from a file, best of three.
absl::StatusOr<double> LoadSeconds(const std::string& tw);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MODEL_OWN_MODEL_H_
