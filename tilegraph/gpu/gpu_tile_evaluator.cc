#include "tilegraph/gpu/gpu_tile_evaluator.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "tilegraph/gpu/block_remap.h"
#include "tilegraph/gpu/hardware/block_threads.h"
#include "tilegraph/gpu/shared_rows.h"
#include "tilegraph/gpu/tile_step.h"
#include "tilegraph/plan/even_slices.h"

namespace tilewright {
namespace {

// Registers for addresses, loop counters and the like.
constexpr int64_t kBaseRegisters = 24;
// 0 is no limit.
int64_t Most(int64_t limit) { return limit > 0 ? limit : INT64_MAX; }

constexpr int64_t kManyBlocks = 4;     // of a core
constexpr int64_t kMostElements = 64;  // of a thread, of one slice
// Alignment in the scratchpad: 32 bytes for matrix units, 128 for bulk copies.
constexpr int64_t kAlignmentBytes = 32, kBulkAlignmentBytes = 128;
TileWorkOptions WorkOptions(const MemoryLevel& near) {
  TileWorkOptions options;
  options.read_transaction_bytes =
      std::max<int64_t>(1, near.read_transaction_bytes());
  options.write_transaction_bytes =
      std::max<int64_t>(1, near.write_transaction_bytes());
  return options;
}

Subgraph Tiled(Subgraph part) {
  part.outputs = {part.outputs.back()};
  return part;
}

int64_t AlignmentOf(const ComputeUnit& unit) {
  return unit.async_copy().bulk() ? kBulkAlignmentBytes : kAlignmentBytes;
}

int64_t Aligned(const ComputeUnit& unit, int64_t bytes) {
  return CeilDiv(bytes, AlignmentOf(unit)) * AlignmentOf(unit);
}

}  // namespace

GpuTileEvaluator::GpuTileEvaluator(const TileGraph& graph, const Subgraph& part,
                                   const DeviceSpec& spec,
                                   const GpuFeatures& features)
    : graph_(graph.graph()),
      subgraph_(part),
      spec_(spec),
      features_(features),
      gpu_(AsGpuPart(graph.graph(), part)),
      tiled_(Tiled(part)),
      levels_(*GpuLevelsOf(spec)),
      works_(graph, tiled_, WorkOptions(*levels_.near)),
      evaluated_(Undecided()) {
  for (const GpuMember& member : gpu_.members)
    row_dims_[member.id] = RowDims(graph_, gpu_, member.id);
  for (const GpuInput& input : gpu_.inputs)
    row_dims_[input.id] = RowDims(graph_, gpu_, input.id);
}

absl::StatusOr<const TileWork*> GpuTileEvaluator::Work(
    const std::vector<int64_t>& tile) {
  const auto found = known_.find(tile);
  if (found != known_.end()) return &found->second;
  TW_ASSIGN_OR_RETURN(TileWork work, works_.Of({tile, {}}));
  return &known_.emplace(tile, std::move(work)).first->second;
}

bool GpuTileEvaluator::Partitions(const std::vector<int64_t>& tile) const {
  return std::all_of(subgraph_.outputs.begin(), subgraph_.outputs.end() - 1,
                     [&](TensorId id) {
                       const absl::StatusOr<BlockRemap> remap =
                           RemapOf(graph_, tiled_, tile, id);
                       return remap.ok() && remap->partitions;
                     });
}

const TileStep& GpuTileEvaluator::Step(const TileWork& work, int64_t step) {
  if (stepped_ != &work || step_size_ != step) {
    step_ =
        StepOf(graph_, gpu_, work, step,
               std::max<int64_t>(1, levels_.near->write_transaction_bytes()));
    stepped_ = &work;
    step_size_ = step;
  }
  return step_;
}

int64_t GpuTileEvaluator::SlicesOf(int member, const TileWork& work,
                                   const GpuTileDecision& decision) const {
  const GpuMember& of = gpu_.members[member];
  if (decision.slices == 1 || of.stepped_axis < 0) return 1;
  const Compute& compute = graph_.tensor(of.id).compute;
  const int64_t elements = Product(TileOf(work, of.id).extents);
  if (!compute.combiner->associative() || !compute.combiner->commutative() ||
      compute.combiner->arity() != 1 || decision.threads >= 2 * elements)
    return 1;
  return EvenSlices(compute.reduce_axes[of.stepped_axis].extent.value(),
                    decision.step, decision.slices);
}

std::vector<int64_t> GpuTileEvaluator::SlicesFor(const TileWork& work,
                                                 int64_t step,
                                                 int64_t threads) const {
  std::vector<int64_t> slices = {1};
  if (Product(work.trips) >= kManyBlocks * spec_.unit().cores()) return slices;
  const int64_t elements = Product(work.outputs.back().extents);
  GpuTileDecision decision;
  decision.step = step;
  decision.threads = threads;
  for (decision.slices = 2;
       decision.slices * spec_.unit().warp_size() <= threads &&
       elements * decision.slices <= kMostElements * threads;
       decision.slices *= 2) {
    if (std::any_of(gpu_.clusters.begin(), gpu_.clusters.end(),
                    [&](const GpuCluster& cluster) {
                      return SlicesOf(cluster.root, work, decision) > 1;
                    }))
      slices.push_back(decision.slices);
  }
  return slices;
}

std::vector<int64_t> GpuTileEvaluator::ThreadsFor(const TileWork& work,
                                                  int64_t step) {
  std::vector<BlockWork> works;
  for (const GpuCluster& cluster : gpu_.clusters) {
    const TileStep::Member& member = Step(work, step).members[cluster.root];
    const ThreadWork& of = member.threads;
    const int64_t elements = Product(of.extents);
    // Warps share sums of few elements.
    int64_t shared = 1;
    while (shared * 2 <= std::min(of.terms, spec_.unit().warp_size()))
      shared *= 2;
    works.push_back({elements * shared,
                     static_cast<double>(elements * of.terms * member.steps) *
                         gpu_.members[cluster.root].operations});
  }
  std::vector<int64_t> threads;
  for (const BlockThreads& size :
       CommonBlockThreads(works, spec_.unit(), 0.7)) {
    const int64_t warps = size.threads / spec_.unit().warp_size();
    if (threads.empty() || (warps & (warps - 1)) == 0)
      threads.push_back(size.threads);
    if (threads.size() == 5) break;
  }
  return threads;
}

const ThreadTile& GpuTileEvaluator::ThreadTileOf(int root,
                                                 const ThreadWork& work,
                                                 int64_t threads) {
  // With an element for every thread none shares terms, and how many there are
  // is one factor of all that is compared.
  const bool shares = Product(work.extents) < threads;
  std::vector<int64_t> key = {root, threads, shares ? work.terms : 0};
  key.insert(key.end(), work.extents.begin(), work.extents.end());
  const auto [known, is_new] = thread_tiles_.try_emplace(std::move(key));
  if (is_new)
    known->second = BestThreadTile(work, threads, spec_.unit().warp_size());
  return known->second;
}

ClusterTile GpuTileEvaluator::Divide(const GpuCluster& cluster,
                                     const TileWork& work,
                                     const GpuTileDecision& decision) {
  const GpuMember& root = gpu_.members[cluster.root];
  const TileStep::Member& of = Step(work, decision.step).members[cluster.root];
  ClusterTile tile;
  if (root.contraction && decision.matrix) {
    const ContractionRoles& product = *root.contraction;
    const std::vector<MatrixForm> forms =
        MatrixForms(spec_.unit(), Name(product.dtype),
                    {Covered(of.axes, product.rows),
                     Covered(of.axes, product.columns), of.threads.terms},
                    decision.threads);
    const auto better = [](const MatrixForm& a, const MatrixForm& b) {
      const auto size = [](const MatrixForm& f) {
        return f.unit->m() * f.unit->n() * f.unit->k();
      };
      return std::make_tuple(-a.useful, a.operand_elements, -size(a)) <
             std::make_tuple(-b.useful, b.operand_elements, -size(b));
    };
    const auto best = std::min_element(forms.begin(), forms.end(), better);
    if (best != forms.end()) {
      tile.matrix = *best;
      return tile;
    }
  }
  const int64_t slices = SlicesOf(cluster.root, work, decision);
  ThreadWork threads = of.threads;
  threads.terms /= slices;
  tile.simt = ThreadTileOf(cluster.root, threads, decision.threads / slices);
  tile.simt.slices = slices;
  return tile;
}

double GpuTileEvaluator::ConflictsIn(const SharedOperand& operand,
                                     const GpuTilePlan& plan) const {
  const TileRows rows = RowsOf(graph_, operand);
  const std::vector<RowAccess> accesses =
      AccessesOf(graph_, plan, operand, spec_.unit().warp_size());
  if (accesses.empty()) return 1;
  return static_cast<double>(
             PassesOf(rows, operand.layout, accesses, BanksOf(levels_))) /
         static_cast<double>(std::max<int64_t>(
             1, LeastPassesOf(rows, accesses, BanksOf(levels_))));
}

BufferLifetime GpuTileEvaluator::AddShared(TensorId tensor,
                                           std::vector<int64_t> extents,
                                           int64_t copies, int made, Rows rows,
                                           GpuTilePlan& plan) const {
  BufferLifetime lifetime{0, made, std::max(made, 0)};
  bool read = false;
  for (size_t m = 0; m < gpu_.members.size(); ++m) {
    for (const GpuLoad& load : gpu_.members[m].loads) {
      if (load.tensor != tensor) continue;
      if (made < 0 && !read) lifetime.first = static_cast<int>(m);
      lifetime.last = static_cast<int>(m);
      read = true;
    }
  }
  SharedOperand operand;
  operand.tensor = tensor;
  operand.extents = std::move(extents);
  operand.copies = copies;
  operand.row_dims = row_dims_.at(tensor);
  const TileRows tile = RowsOf(graph_, operand);
  if (rows == Rows::kBest) {
    const Banks banks = BanksOf(levels_);
    const std::vector<RowAccess> accesses =
        AccessesOf(graph_, plan, operand, spec_.unit().warp_size());
    const int64_t chunk = ChunkElements(graph_, plan, tensor);
    operand.layout = features_.swizzles
                         ? BestBankLayout(tile, accesses, chunk, banks)
                         : BestPadding(tile, accesses, chunk, banks);
  }
  if (rows != Rows::kPlain) operand.conflicts = ConflictsIn(operand, plan);
  operand.bytes = Aligned(spec_.unit(), operand.layout.Bytes(tile)) * copies;
  lifetime.size_bytes = operand.bytes;
  plan.shared.push_back(std::move(operand));
  return lifetime;
}

BufferLifetime GpuTileEvaluator::AddSlices(int root, const TileWork& work,
                                           int64_t slices,
                                           GpuTilePlan& plan) const {
  const Tensor& tensor = graph_.tensor(gpu_.members[root].id);
  SharedOperand& partial = plan.shared.emplace_back();
  partial.tensor = gpu_.members[root].id;
  partial.extents = TileOf(work, partial.tensor).extents;
  partial.slices = slices;
  partial.bytes =
      Aligned(spec_.unit(), Product(partial.extents) * slices *
                                SizeBytes(tensor.compute.combiner->acc()));
  return {partial.bytes, root, root};
}

void GpuTileEvaluator::PlaceShared(const GpuTileDecision& decision,
                                   const TileWork& work, const TileStep& step,
                                   Rows rows, GpuTilePlan& plan) const {
  std::vector<BufferLifetime> buffers;
  for (size_t i = 0; i < gpu_.inputs.size(); ++i) {
    if (!gpu_.inputs[i].staged) continue;
    const TileStep::Input& input = step.inputs[i];
    buffers.push_back(AddShared(
        gpu_.inputs[i].id, input.extents,
        input.steps > 1 && decision.double_buffer ? 2 : 1, -1, rows, plan));
  }
  // Without registers to speak of, sums are in the scratchpad too.
  const bool no_registers = spec_.unit().registers_per_core() == 0;
  for (size_t m = 0; m < gpu_.members.size(); ++m) {
    const GpuMember& member = gpu_.members[m];
    const int own = static_cast<int>(m);
    if (member.shared ||
        (no_registers && own == gpu_.clusters[member.cluster].root))
      buffers.push_back(AddShared(member.id, TileOf(work, member.id).extents, 1,
                                  own, rows, plan));
    const ClusterTile& tile = plan.clusters[member.cluster];
    if (tile.simt.slices > 1 && own == gpu_.clusters[member.cluster].root)
      buffers.push_back(AddSlices(own, work, tile.simt.slices, plan));
  }
  const BufferPlacement placed =
      PlaceBuffers(buffers, AlignmentOf(spec_.unit()));
  for (size_t i = 0; i < buffers.size(); ++i)
    plan.shared[i].offset_bytes = placed.offset_bytes[i];
  plan.shared_bytes = placed.arena_bytes;
}

GpuTilePlan GpuTileEvaluator::Undecided() const {
  GpuTilePlan plan;
  plan.part = subgraph_;
  plan.levels = levels_;
  plan.members = gpu_;
  return plan;
}

void GpuTileEvaluator::Outline(const GpuTileDecision& decision,
                               const TileWork& work, GpuTilePlan& plan) const {
  plan.tile = decision.tile;
  plan.grid = work.trips;
  plan.order = {};
  for (size_t d = 0; d < plan.grid.size(); ++d)
    plan.order.dims.push_back(static_cast<int>(d));
  plan.step = decision.step;
  plan.threads = decision.threads;
  plan.clusters.clear();
  plan.shared.clear();
  plan.cost = {};
}

absl::StatusOr<bool> GpuTileEvaluator::Make(const GpuTileDecision& decision,
                                            Rows rows, GpuTilePlan& plan) {
  TW_ASSIGN_OR_RETURN(const TileWork* work, Work(decision.tile));
  Outline(decision, *work, plan);
  for (const GpuCluster& cluster : gpu_.clusters)
    plan.clusters.push_back(Divide(cluster, *work, decision));
  const TileStep& step = Step(*work, decision.step);
  PlaceShared(decision, *work, step, rows, plan);
  plan.registers_per_thread = RegistersOf(decision, plan);
  if (plan.registers_per_thread > Most(features_.registers) ||
      plan.shared_bytes > Most(features_.scratchpad_bytes))
    return false;
  plan.occupancy =
      OccupancyOf(spec_.unit(),
                  {plan.threads, plan.registers_per_thread, plan.shared_bytes});
  if (plan.occupancy.blocks_per_core == 0) return false;
  AddCost(decision, *work, step, rows, plan);
  return true;
}

absl::StatusOr<const GpuTilePlan*> GpuTileEvaluator::Evaluate(
    const GpuTileDecision& decision) {
  TW_ASSIGN_OR_RETURN(const bool fits,
                      Make(decision, Rows::kPlain, evaluated_));
  return fits ? &evaluated_ : nullptr;
}

absl::StatusOr<std::optional<GpuTilePlan>> GpuTileEvaluator::Align(
    const GpuTileDecision& decision) {
  GpuTilePlan plan = Undecided();
  for (const Rows rows : {Rows::kBest, Rows::kCounted}) {
    TW_ASSIGN_OR_RETURN(const bool fits, Make(decision, rows, plan));
    if (fits) return std::move(plan);
  }
  return std::nullopt;
}

int64_t GpuTileEvaluator::RegistersOf(const GpuTileDecision& decision,
                                      const GpuTilePlan& plan) const {
  int64_t most = 0;
  for (size_t c = 0; c < gpu_.clusters.size(); ++c) {
    const GpuCluster& cluster = gpu_.clusters[c];
    const ClusterTile& tile = plan.clusters[c];
    const GpuMember& root = gpu_.members[cluster.root];
    if (tile.matrix) {
      most = std::max(most, tile.matrix->registers_per_thread);
      continue;
    }
    const Tensor& tensor = graph_.tensor(root.id);
    const DType sum =
        tensor.compute.combiner ? tensor.compute.combiner->acc() : tensor.dtype;
    // Sums, and what one term needs of each operand.
    const auto registers = [](int64_t elements, DType dtype) {
      return CeilDiv(elements * SizeBytes(dtype), 4);
    };
    int64_t own = registers(tile.simt.elements_per_thread(), sum);
    for (const GpuLoad& load : root.loads) {
      int64_t elements = 1;
      for (size_t d = 0; d < tile.simt.elements.size(); ++d)
        if (load.dims >> d & 1) elements *= tile.simt.elements[d];
      // Maps take one vector after the other.
      if (tensor.compute.reduce_axes.empty())
        elements = std::min(elements, 4 * tile.simt.vector);
      own += registers(elements, graph_.tensor(load.tensor).dtype);
    }
    most = std::max(most, own);
  }
  // Without copies that bypass registers, the next step waits there.
  int64_t prefetch = 0;
  if (decision.double_buffer &&
      spec_.unit().async_copy().sizes_bytes().empty()) {
    for (const SharedOperand& operand : plan.shared)
      if (operand.copies > 1)
        prefetch += CeilDiv(operand.bytes / operand.copies, 4 * plan.threads);
  }
  return kBaseRegisters + most + prefetch;
}

}  // namespace tilewright
