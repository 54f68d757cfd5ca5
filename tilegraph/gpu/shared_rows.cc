#include "tilegraph/gpu/shared_rows.h"

#include <algorithm>

namespace tilewright {
namespace {

constexpr int64_t kPieceBytes = 16, kPieceRows = 16;

// Whether one vector of the thread tile is one of the load: both last
// dimensions run together.
bool ReadsVectors(const TensorGraph& graph, const GpuMember& member,
                  const ClusterTile& tile, const GpuLoad& load) {
  if (tile.matrix || tile.simt.vector == 1) return false;
  const Compute& compute = graph.tensor(member.id).compute;
  if (compute.axes.empty()) return false;
  if (load.index.empty()) return false;
  const size_t last = compute.axes.size() - 1;
  for (size_t d = 0; d + 1 < load.index.size(); ++d)
    if (load.index[d].moves[last] != 0) return false;
  return load.index.back().moves[last] == 1;
}

template <typename Each>
void ForReaders(const GpuTilePlan& plan, TensorId tensor, Each each) {
  for (const GpuMember& member : plan.members.members) {
    for (const GpuLoad& load : member.loads) {
      if (load.tensor == tensor && load.shared)
        each(member, plan.clusters[member.cluster], load);
    }
  }
}

bool ByMatrix(const GpuTilePlan& plan, const GpuMember& member,
              const ClusterTile& tile) {
  const GpuCluster& cluster = plan.members.clusters[member.cluster];
  return tile.matrix && plan.members.members[cluster.root].id == member.id;
}

// As ldmatrix: lane i has row i mod 16, and of it the piece i / 16.
RowAccess MatrixPieces(const TileRows& rows, int64_t warp_size) {
  RowAccess access;
  access.elements =
      std::min(rows.row_elements, kPieceBytes / rows.element_bytes);
  const int64_t pieces = rows.row_elements / access.elements;
  const int64_t high = std::min(rows.rows, kPieceRows);
  for (int64_t lane = 0; lane < warp_size; ++lane) {
    const int64_t piece = lane / high;
    if (piece >= pieces) {
      access.lanes.emplace_back(RowAccess::kIdle, 0);
    } else {
      access.lanes.emplace_back(lane % high, piece * access.elements);
    }
  }
  return access;
}

}  // namespace

int RowDims(const TensorGraph& graph, const GpuPart& part, TensorId tensor) {
  const int rank = static_cast<int>(graph.tensor(tensor).shape.size());
  int summed = rank;  // of the last dimensions
  for (const GpuMember& member : part.members) {
    const uint32_t spatial =
        (1u << graph.tensor(member.id).compute.axes.size()) - 1;
    for (const GpuLoad& load : member.loads) {
      if (load.tensor != tensor || !load.shared) continue;
      int own = 0;
      for (; own < rank; ++own) {
        const uint32_t axes = load.index[rank - 1 - own].axes;
        const bool sums = axes & ~spatial, moves = axes & spatial;
        if (moves || !sums) break;
      }
      summed = std::min(summed, own);
    }
  }
  return std::max(1, summed);
}

TileRows RowsOf(const TensorGraph& graph, const SharedOperand& operand) {
  TileRows rows;
  rows.element_bytes = SizeBytes(graph.tensor(operand.tensor).dtype);
  const int rank = static_cast<int>(operand.extents.size());
  for (int d = 0; d < rank; ++d) {
    (d < rank - operand.row_dims ? rows.rows : rows.row_elements) *=
        operand.extents[d];
  }
  return rows;
}

int64_t ChunkElements(const TensorGraph& graph, const GpuTilePlan& plan,
                      TensorId tensor) {
  int64_t chunk = 1;
  ForReaders(plan, tensor,
             [&](const GpuMember& member, const ClusterTile& tile,
                 const GpuLoad& load) {
               const int64_t bytes = SizeBytes(graph.tensor(tensor).dtype);
               if (ByMatrix(plan, member, tile)) {
                 chunk = std::max(chunk, kPieceBytes / bytes);
               } else if (ReadsVectors(graph, member, tile, load)) {
                 chunk = std::max(chunk, tile.simt.vector);
               }
             });
  return chunk;
}

std::vector<RowAccess> AccessesOf(const TensorGraph& graph,
                                  const GpuTilePlan& plan,
                                  const SharedOperand& operand,
                                  int64_t warp_size) {
  const TileRows rows = RowsOf(graph, operand);
  std::vector<RowAccess> accesses;
  ForReaders(
      plan, operand.tensor,
      [&](const GpuMember& member, const ClusterTile& tile,
          const GpuLoad& load) {
        if (ByMatrix(plan, member, tile)) {
          accesses.push_back(MatrixPieces(rows, warp_size));
          return;
        }
        if (tile.matrix)
          return;  // elements of fragments: as the unit lays them
        const Compute& compute = graph.tensor(member.id).compute;
        const bool vectors = ReadsVectors(graph, member, tile, load);
        std::vector<int64_t> extents;
        for (size_t d = 0; d < compute.axes.size(); ++d)
          extents.push_back(tile.simt.threads[d] * tile.simt.elements[d]);
        RowAccess access;
        access.elements = vectors ? tile.simt.vector : 1;
        for (int64_t lane = 0; lane < warp_size; ++lane) {
          const std::vector<int64_t> at =
              FirstElement(tile.simt, extents, lane);
          std::vector<int64_t> index(operand.extents.size(), 0);
          bool inside = !at.empty() || compute.axes.empty();
          for (size_t i = 0; i < index.size(); ++i) {
            const std::vector<int64_t>& moves = load.index[i].moves;
            for (size_t d = 0; d < at.size(); ++d) index[i] += at[d] * moves[d];
            // Threads that share a sum take neighbours along its last axis.
            if (!compute.reduce_axes.empty())
              index[i] += lane % tile.simt.reduce_threads * moves.back();
          }
          int64_t row = 0, column = 0;
          for (size_t i = 0; i < index.size(); ++i) {
            inside = inside && index[i] >= 0 && index[i] < operand.extents[i];
            int64_t& place =
                i + static_cast<size_t>(operand.row_dims) < index.size()
                    ? row
                    : column;
            place = place * operand.extents[i] + index[i];
          }
          if (inside && column + access.elements <= rows.row_elements) {
            access.lanes.emplace_back(row, column);
          } else {
            access.lanes.emplace_back(RowAccess::kIdle, 0);
          }
        }
        accesses.push_back(std::move(access));
      });
  return accesses;
}

}  // namespace tilewright
