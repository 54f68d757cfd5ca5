// A part of a tile-graph as one kernel of a GPU sees it: which tensors go
// through the scratchpad of a core, which results stay in registers, and which
// computes therefore share one division among threads.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_GPU_PART_H_
#define TILEWRIGHT_TILEGRAPH_GPU_GPU_PART_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tilegraph/analysis/families.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {

// The index of a load along one dimension of the tensor that it reads. Axes as
// in Compute: spatial ones first.
struct GpuIndex {
  int64_t extent = 1;    // of the dimension
  uint32_t axes = 0;     // that it depends on, bit by bit
  bool by_data = false;  // it reads a tensor itself
  // How far one step of each axis moves it; 0 where it moves in no affine way.
  std::vector<int64_t> moves;
};

struct GpuLoad {
  TensorId tensor = 0;
  std::vector<GpuIndex> index;  // by dimension of the tensor
  uint32_t dims = 0;    // of the member's output that move it, bit by bit
  bool shared = false;  // read from the scratchpad
};

struct GpuMember {
  TensorId id = 0;
  std::optional<ContractionRoles> contraction;
  std::vector<GpuLoad> loads;  // of tensors, not of its own cluster's registers
  double operations = 0;       // of a term, or of an element without terms
  // The reduce axis that is computed in steps: its longest, if all its terms'
  // operands but those that other members made are read by nobody else. -1:
  // taken whole.
  int stepped_axis = -1;
  // Some member reads it at other elements than its thread has: it is written
  // to the scratchpad.
  bool shared = false;
  bool output = false;
  int cluster = 0;
};

struct GpuInput {
  TensorId id = 0;
  // Loaded into the scratchpad first: a reduction or a transposition reads it.
  // Others go straight to registers.
  bool staged = false;
  int stepped_by = -1;  // member, if a tile of it is loaded step by step
};

// Members that pass their elements on in registers: all have the same shape.
// The root has most work and decides which thread has what.
struct GpuCluster {
  int root = 0;              // index of a member
  std::vector<int> members;  // ascending
};

struct GpuPart {
  std::vector<GpuMember> members;    // as Subgraph::members
  std::vector<GpuInput> inputs;      // as Subgraph::inputs
  std::vector<GpuCluster> clusters;  // by their first member
};

GpuPart AsGpuPart(const TensorGraph& graph, const Subgraph& part);

// The box that the load touches while axis i runs over extents[i] values: exact
// for affine indices, the whole tensor along others.
std::vector<int64_t> ExtentsOf(const GpuLoad& load,
                               const std::vector<int64_t>& extents);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_GPU_PART_H_
