// Generated kernels on a GPU: verified, timed by two clocks, and beside what
// the planner predicted.
#ifndef TILEWRIGHT_TOOLS_GPU_GENERATED_REPORT_H_
#define TILEWRIGHT_TOOLS_GPU_GENERATED_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/cuda/device/cuda_device.h"
#include "tools/gpu/check_graphs.h"

namespace tilewright::cuda {

// A kernel of a graph.
struct GeneratedKernel {
  std::string generator;  // of its schedule; not "simt": of one thread a task
  std::string tile;       // of a block, in elements of the output
  int64_t blocks = 0, threads = 0, shared_bytes = 0;
  int registers = 0;  // 0: the compiler does not tell
  double predicted_ns = 0;
  double events_ns = 0, records_ns = 0;  // medians; 0: not timed
  double flops = 0, bytes = 0;           // that must be done, must move

  double best_ns() const { return records_ns > 0 ? records_ns : events_ns; }
};

struct GeneratedGraph {
  CheckGraph graph;
  absl::Status status;  // of compiling and running it
  std::string reason;   // why its result is wrong; empty: it is right
  double error = 0;     // the largest, in units of what an element may err by
  // Of its outputs, unlike the interpreter's; -1: that was not asked, for it
  // would take long.
  int64_t unlike_bytes = -1;
  std::vector<GeneratedKernel> kernels;

  bool wrong() const { return !status.ok() || !reason.empty(); }
};

// Where kernels are timed: by events, and by records if there are any.
struct CheckedDevices {
  CudaDevice* events = nullptr;
  CudaDevice* records = nullptr;  // may be null
};

GeneratedGraph CheckGenerated(const CheckGraph& graph,
                              const backends::Codegen& codegen,
                              const CheckedDevices& devices, int samples);

// A row for each kernel.
std::string GeneratedTable(const std::vector<GeneratedGraph>& graphs);
// How far predicted times are from measured ones: medians by family and of all.
std::string PredictionTable(const std::vector<GeneratedGraph>& graphs);
// The GB/s of the chains of maps and rows, as a share of a copy kernel's.
std::string ChainTable(const std::vector<GeneratedGraph>& graphs,
                       double copy_bytes_per_ns);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_GENERATED_REPORT_H_
