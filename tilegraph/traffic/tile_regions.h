// Regions of many tiles of one part: Propagate (tilegraph/region/region.h) with
// what does not depend on the tile worked out once. Affine accesses become
// arithmetic on extents; others ask the general inference, whose answers are
// remembered.
//
// In expressions variable d is the number of the tile along dimension d.
#ifndef TILEWRIGHT_TILEGRAPH_TRAFFIC_TILE_REGIONS_H_
#define TILEWRIGHT_TILEGRAPH_TRAFFIC_TILE_REGIONS_H_

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/region/region.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {

// base + [0, extent) * step along one dimension of a tensor.
struct TileSpan {
  // base = constant + Σ moves[d] * tile d + Σ coefficient * term
  int64_t constant = 0;
  absl::InlinedVector<int64_t, 4> moves;
  // Terms (TileRegions::Term) that are not linear in the tile's number.
  std::vector<std::pair<int, int64_t>> others;
  int64_t extent = 1;
  int64_t step = 1;
};
using TileBox = std::vector<TileSpan>;  // per dimension of the tensor

// A tile is needed only if `span` meets [0, size): otherwise nothing that
// exists of some result between is.
struct TileCondition {
  TileSpan span;
  int64_t size;
};

// The box that tiles need of a tensor, in tiles that meet all conditions.
struct TileNeed {
  TileBox box;
  std::vector<TileCondition> conditions;
};

// What tiles compute of members between others.
enum class TileBetween {
  // Buffers of their own, as schedules do it: boxes without gaps, the whole
  // tensor where a box is no smaller.
  kBuffers,
  // What their readers need, as Propagate says it.
  kNeeded,
};

// Not thread-safe.
class TileRegions {
 public:
  // Both must outlive it. REQUIRES: what members load are members or inputs of
  // the part; with kNeeded, other loads are passed over.
  TileRegions(const TensorGraph& graph, const Subgraph& part,
              TileBetween between = TileBetween::kBuffers);

  // Infers the needs of tiles `tile` of every output, of part.inputs and then
  // of part.members, in their order. trips[d]: tiles along dimension d.
  // `steps`: extents of the reduce axes of members, whole where absent. The
  // result is kept in `needs`, whose memory is used again.
  void Of(const TileBox& tile, const std::vector<int64_t>& trips,
          const std::map<TensorId, std::vector<int64_t>>& steps,
          std::vector<TileNeed>& needs);

  const Expr& Term(int id) const { return terms_[id]; }
  // The range of a base over all tiles.
  Range RangeOfBase(const TileSpan& span, const std::vector<int64_t>& trips);
  // For the inference over expressions, and back.
  RegionDim AsRegionDim(const TileSpan& span) const;
  TileSpan AsSpan(const RegionDim& dim, const std::vector<int64_t>& trips);

 private:
  struct AffineIndex {
    int dim;
    int64_t constant;
    std::vector<std::pair<int, int64_t>> axes;  // (axis, coefficient)
  };
  // Indices that share axes, some of them not affine.
  struct GeneralIndices {
    std::vector<int> dims;
    std::vector<Expr> indices;
    std::vector<int64_t> shape;
    std::vector<int> axes;
    std::map<std::vector<int64_t>, TileBox> known;  // by axes and trips
  };
  struct Access {
    std::vector<AffineIndex> affine;
    std::vector<GeneralIndices> general;
  };
  struct Source {
    size_t slot;
    size_t rank;
    std::vector<Access> accesses;
  };
  struct Member {
    size_t slot;
    bool buffered;  // TileBetween
    std::vector<int64_t> extents, reduce_extents;
    std::vector<Source> sources;
  };

  Access Compile(const Expr& load, int axes) const;
  void RegionOf(Access& access, const TileBox& axes,
                const std::vector<int64_t>& trips, TileBox& box);
  void Affine(const AffineIndex& index, const TileBox& axes,
              const std::vector<int64_t>& trips, TileSpan& span);
  void General(GeneralIndices& indices, const TileBox& axes,
               const std::vector<int64_t>& trips, TileBox& box);
  // The part of a member's axis that is computed. False if there may be none,
  // in some tile.
  bool Clip(int64_t extent, bool buffered, const std::vector<int64_t>& trips,
            TileSpan& span);
  // a becomes the join of both.
  void Join(const TileBox& b, const std::vector<int64_t>& trips, TileBox& a);
  TileSpan JoinSpans(const TileSpan& a, const TileSpan& b,
                     const std::vector<int64_t>& trips);
  int InternTerm(const Expr& term);

  struct ExprHash {
    size_t operator()(const Expr& e) const { return e.hash(); }
  };

  const TensorGraph& graph_;
  size_t rank_;                  // of the outputs
  std::vector<size_t> outputs_;  // slots
  std::vector<TensorId> part_members_;
  size_t slots_;
  std::vector<Member> members_;  // users before what they use
  std::vector<Expr> terms_;
  std::unordered_map<Expr, int, ExprHash> term_ids_;   // looked up only
  std::map<std::vector<int64_t>, Range> term_ranges_;  // by id and trips
  TileBox axes_, joined_, other_;                      // while Of runs
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TRAFFIC_TILE_REGIONS_H_
