#include "sketch/move_schedule.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ceil_div.h"
#include "sketch/output_tiles.h"
#include "tilegraph/simplify.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kLineBytes = 64;
// What a tile spans of memory that lies side by side: several lines, so that
// those which two rows share are still there, and pages are used for a while.
constexpr int64_t kSideBytes = 1024;
// Of a tile: both sides stay in the second-level cache.
constexpr int64_t kTileBytes = int64_t{256} << 10;

// The offset of a load at one point of the output.
std::optional<int64_t> OffsetAt(const Expr& offset, int axis, int64_t at) {
  const Expr bound = Simplify(
      Substitute(offset,
                 [&](int var) { return Expr::Int(var == axis ? at : 0); }),
      [](int) { return std::nullopt; });
  if (bound.op() != Op::kConst) return std::nullopt;
  return bound.int_value();
}

// How many elements along `axis` lie side by side from the first on: `extent`
// of them, or a power of two.
int64_t RunAlong(const Expr& offset, int axis, int64_t extent) {
  const std::optional<int64_t> first = OffsetAt(offset, axis, 0);
  const auto side_by_side = [&](int64_t count) {
    return first && OffsetAt(offset, axis, count - 1) == *first + count - 1;
  };
  int64_t run = 1;
  while (2 * run < extent && side_by_side(2 * run)) run *= 2;
  return side_by_side(extent) ? extent : run;
}

}  // namespace

std::optional<Crossing> FindCrossing(const Workload& workload,
                                     const Chain& chain) {
  const TensorGraph& graph = workload.graph;
  const std::vector<int64_t> shape = graph.tensor(chain.output).static_shape();
  if (shape.empty()) return std::nullopt;
  const int vector_axis = FindContiguous(workload, chain.output).dim;
  std::optional<Crossing> found;
  int64_t largest = 0;
  ForEachLoad(InlinedBody(graph, chain.output), [&](const Expr& load) {
    const Tensor& source = graph.tensor(load.source());
    const Layout layout = workload.LayoutOf(load.source());
    const int64_t bytes = layout.physical_elements() * SizeBytes(source.dtype);
    if (bytes <= largest) return;
    const Expr offset = layout.Offset(load.operands());
    const std::optional<int64_t> here = OffsetAt(offset, vector_axis, 0),
                                 next = OffsetAt(offset, vector_axis, 1);
    // Nothing moves along the vectors, or it is contiguous there.
    if (!here || !next || *here == *next || *next == *here + 1) return;
    Crossing crossing{-1, 1};
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
      const int64_t run =
          RunAlong(offset, axis, std::min<int64_t>(shape[axis], kSideBytes));
      if (axis != vector_axis && run > crossing.run) crossing = {axis, run};
    }
    if (crossing.axis < 0) return;
    largest = bytes;
    found = crossing;
  });
  return found;
}

void WriteMove(const Workload& workload, const DeviceSpec& spec,
               const Chain& chain, const Crossing& crossing,
               const Place& place) {
  const TensorGraph& graph = workload.graph;
  const Tensor& output = graph.tensor(chain.output);
  ScheduleWriter& writer = place.writer;
  for (const std::string& block : chain.inlined)
    writer.ComputeInline(writer.Block(block));
  const Handle last = writer.Block(chain.last);
  OutputTiles tiles = StartTiles(workload, chain.output);
  // The crossing axis inside, whatever else there is around.
  if (tiles.row_axis != crossing.axis) {
    tiles.outer_row_axis = tiles.row_axis;
    tiles.row_axis = crossing.axis;
  }
  const int64_t bytes = SizeBytes(output.dtype);
  const VectorUnit unit =
      UnitOf(workload, chain.output, std::max<int64_t>(1, kLineBytes / bytes));
  const int64_t rows = std::min(tiles.shape[crossing.axis], kSideBytes / bytes);
  const int64_t columns =
      std::min(kSideBytes / bytes, kTileBytes / bytes / rows);
  SetVectors(tiles, unit,
             std::min(CeilDiv(tiles.shape[tiles.vector_axis], unit.elements),
                      std::max<int64_t>(1, columns / unit.elements)));
  tiles.axes[crossing.axis].tile = crossing.run >= rows ? rows : crossing.run;
  if (place.inside) {
    TakeWhole(tiles);
  } else {
    TaskBudget budget = BudgetOf(tiles, spec, 2);
    for (const int axis :
         {tiles.row_axis, tiles.vector_axis, tiles.outer_row_axis}) {
      if (axis >= 0) TakeSteps(tiles, axis, budget);
    }
    WriteTasks(writer, tiles, last);
  }
  TileMap(writer, tiles, last, output.compute.axes, true);
}

}  // namespace tilewright::sketch
