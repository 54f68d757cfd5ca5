// Features by which the cost model knows a kernel that computes a group in
// tiles of some shape: counts alone. Times are made of them and a spec's rates
// and constants (kernel_seconds.h), so that constants can be fitted to what
// kernels took without planning them again (bench/cost).
#ifndef TILEWRIGHT_TILEGRAPH_COST_KERNEL_FEATURES_H_
#define TILEWRIGHT_TILEGRAPH_COST_KERNEL_FEATURES_H_

#include <cstdint>
#include <vector>

#include "tilegraph/expr/dtype.h"

namespace tilewright {

enum class ArithmeticKind : uint8_t {
  kContraction,  // two operands, each used again along an axis of the other
  kWinograd,     // such a convolution by Winograd (winograd.h)
  kWindow,       // a convolution of each channel, or of groups of them
  kStridedWindow,
  kPooling,      // other windows: what is loaded is used once, or nearly so
  kRow,          // any other reduction
  kElementwise,  // no reduction
};

// Per evaluation of a compute's bodies and one step of its combiner. Of a
// select the longer branch counts.
struct OperationCounts {
  double simple = 0;  // an instruction each
  // exp, log, sin, cos; erf; tanh, sigmoid; pow; division, square root.
  double exps = 0, erfs = 0, tanhs = 0, pows = 0, divisions = 0;
  // Loads of elements that are no neighbours where results are.
  double scattered_loads = 0;
};

// One compute of a stage.
struct ComputeFeatures {
  ArithmeticKind kind = ArithmeticKind::kElementwise;
  DType dtype = DType::kFloat32;  // whose peak counts
  OperationCounts operations;
  double points = 0;  // evaluations, with what overlapping tiles repeat
  double terms = 1;   // of one result
  // Terms are neighbours in memory: lanes lie along them, and are added at the
  // end.
  bool terms_are_neighbours = false;
  double rows = 1;          // that a register tile may have
  // Share of 1; vectors that lie across lines of a cache count twice.
  double filled_lanes = 1;
  // Times as long as in the best register tile, since tiles of the task must
  // be cut into equal ones.
  double register_tile_slowdown = 1;
  // Elementwise, in a stage with a contraction or a window.
  bool is_fused = false;
  // Winograd's alone: tiles times channels that are transformed, and outputs of
  // a tile along one dimension.
  double input_tiles = 0, output_tiles = 0;
  int winograd_m = 0;
};

// Bytes across a memory level and the next inner one.
struct LevelBytes {
  double read = 0, written = 0;
  // Runs of neighbours that are read, of those shorter than a page: prefetching
  // begins anew with each.
  double short_runs = 0;
  double both() const { return read + written; }
  LevelBytes& operator+=(const LevelBytes& other) {
    read += other.read;
    written += other.written;
    short_runs += other.short_runs;
    return *this;
  }
};

// What one nest of loops computes: a stage, with the one before if that goes
// straight into it.
struct StageFeatures {
  std::vector<ComputeFeatures> computes;
  std::vector<LevelBytes> levels;  // from the outermost of the spec inwards
};

struct KernelFeatures {
  std::vector<StageFeatures> stages;  // a kernel without stages has one
  bool has_stages = false;
  double tasks = 1;
  double tiles = 1;  // of all tasks; every one goes through the stages
  // Blocks in which a task goes through the last stage's reduction, and its
  // sums that stay in scratch meanwhile.
  double blocks = 1, sums_bytes = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_KERNEL_FEATURES_H_
