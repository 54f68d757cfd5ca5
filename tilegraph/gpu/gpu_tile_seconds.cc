// The predicted cost of a plan: GpuTileEvaluator::AddCost and RegistersOf.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/ceil_div.h"
#include "base/string_view.h"
#include "tilegraph/gpu/extents.h"
#include "tilegraph/gpu/gpu_tile_evaluator.h"

namespace tilewright {
namespace {

// Registers for addresses, loop counters and the like.
constexpr int64_t kBaseRegisters = 24;
// Loads of 16 bytes that a thread has on the way where nothing is staged.
constexpr int64_t kBytesInFlightPerThread = 4 * 16;
constexpr double kUnknownRate = 1e12;

double Known(double rate) { return rate > 0 ? rate : kUnknownRate; }

double Rate(const MemoryLevel& level) {
  return Known(level.aggregate_read_bytes_per_s());
}

const PeakRate* FindPeak(const ComputeUnit& unit, std::string_view dtype,
                         PeakRate::Unit kind) {
  for (const PeakRate& peak : unit.peaks())
    if (peak.dtype() == dtype && peak.unit() == kind) return &peak;
  return nullptr;
}

// The work a core has in flight over what it needs for its full rate.
double ShareOf(double in_flight, double per_s, double latency_ns) {
  const double needed = per_s * latency_ns * 1e-9;
  return needed <= 0 ? 1 : std::min(1.0, std::max(1e-4, in_flight / needed));
}

}  // namespace

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

void GpuTileEvaluator::AddCost(const GpuTileDecision& decision,
                               const TileWork& work, bool align,
                               GpuTilePlan& plan) const {
  const ComputeUnit& unit = spec_.unit();
  const auto cores = static_cast<double>(unit.cores());
  const auto blocks = static_cast<double>(plan.blocks());
  const int64_t resident = plan.occupancy.blocks_per_core;
  GpuCost& cost = plan.cost;
  const auto waiting = [&](double share) {
    return WaveQuantisation(plan.blocks(), resident, unit.cores(), share);
  };
  const auto conflicts = [&](TensorId tensor) {
    for (const SharedOperand& operand : plan.shared)
      if (operand.tensor == tensor) return operand.conflicts;
    return 1.0;
  };
  int64_t most_steps = 1;
  double of_block = 0;  // bytes through the banks
  const PeakRate* vector = FindPeak(unit, "f32", PeakRate::VECTOR);
  const double vector_rate = vector ? Known(vector->core_ops_per_s()) : 1e11;
  const double vector_ns = vector ? vector->latency_ns() : 0;
  const double schedulers_share =
      std::min(1.0, static_cast<double>(plan.threads / unit.warp_size()) /
                        static_cast<double>(
                            std::max<int64_t>(1, unit.schedulers_per_core())));
  for (size_t c = 0; c < gpu_.clusters.size(); ++c) {
    const ClusterTile& tile = plan.clusters[c];
    for (const int m : gpu_.clusters[c].members) {
      const GpuMember& member = gpu_.members[m];
      int64_t steps;
      const std::vector<int64_t> axes = AxesOf(m, work, decision.step, steps);
      most_steps = std::max(most_steps, steps);
      const ThreadWork of = ThreadWorkOf(m, axes);
      const auto turns = static_cast<double>(steps);
      double operations, peak = vector_rate, share;
      if (tile.matrix && m == gpu_.clusters[c].root) {
        const MatrixForm& form = *tile.matrix;
        const auto batch =
            static_cast<double>(Covered(axes, member.contraction->batch));
        operations = 2 * static_cast<double>(Product(axes)) / form.useful;
        const PeakRate* matrix =
            FindPeak(unit, ToStd(form.unit->operand_dtype()), PeakRate::MATRIX);
        if (matrix) peak = Known(matrix->core_ops_per_s());
        const auto groups = static_cast<double>(form.groups_m * form.groups_n);
        share = matrix && matrix->latency_ns() > 0
                    ? ShareOf(groups * 2 *
                                  static_cast<double>(
                                      form.fragments_m * form.fragments_n *
                                      form.unit->m() * form.unit->n() *
                                      form.unit->k()),
                              peak, matrix->latency_ns())
                    : 1;
        const auto bytes =
            static_cast<double>(SizeBytes(member.contraction->dtype));
        of_block += static_cast<double>(form.operand_elements) * bytes * batch *
                    turns *
                    (conflicts(member.contraction->a.source()) +
                     conflicts(member.contraction->b.source())) /
                    2;
      } else {
        // Lanes without elements wait with the others. A member takes the
        // elements of its root.
        const auto lanes = static_cast<double>(plan.threads);
        double elements, terms = static_cast<double>(of.terms);
        if (tile.matrix) {
          elements =
              std::ceil(static_cast<double>(Product(of.extents)) / lanes);
        } else {
          elements = static_cast<double>(tile.simt.elements_per_thread());
          terms =
              static_cast<double>(CeilDiv(of.terms, tile.simt.reduce_threads));
        }
        // An operation that is no multiply-add takes a turn all the same.
        const double weight =
            member.contraction ? member.operations : 2 * member.operations;
        operations = lanes * elements * terms * weight;
        share = ShareOf(2 * lanes * elements, peak, vector_ns);
        for (const GpuLoad& load : member.loads) {
          if (!load.shared) continue;
          double own = terms;
          for (size_t d = 0; d < of.extents.size(); ++d) {
            if ((load.dims >> d & 1) == 0) continue;
            own *= tile.matrix ? 1 : static_cast<double>(tile.simt.elements[d]);
          }
          if (tile.matrix && load.dims != 0) own *= elements;
          of_block +=
              lanes * own * turns * conflicts(load.tensor) *
              static_cast<double>(SizeBytes(graph_.tensor(load.tensor).dtype));
        }
      }
      // A warp is on one scheduler of the core.
      share = std::min(share, schedulers_share);
      operations *= turns;
      cost.operations += operations * blocks;
      cost.busy_compute_seconds += operations * blocks / (peak * cores);
      cost.compute_seconds +=
          operations * blocks / (peak * cores) * waiting(share);
    }
  }
  // Bytes written to the scratchpad: every step of the staged operands.
  double in_flight = 0;
  for (const SharedOperand& operand : plan.shared) {
    const auto once = static_cast<double>(operand.bytes / operand.copies);
    double times = 1;
    for (size_t i = 0; i < gpu_.inputs.size(); ++i) {
      if (gpu_.inputs[i].id != operand.tensor) continue;
      in_flight += once;
      if (gpu_.inputs[i].stepped_by < 0) continue;
      int64_t steps;
      AxesOf(gpu_.inputs[i].stepped_by, work, decision.step, steps);
      times = static_cast<double>(steps);
    }
    of_block += once * times;
  }
  in_flight = std::max(
      in_flight, static_cast<double>(plan.threads * kBytesInFlightPerThread));
  cost.shared_bytes = of_block * blocks;
  cost.shared_seconds =
      cost.shared_bytes / Rate(*levels_.scratchpad) * waiting(1);

  // Between cores and caches: regions of all tiles in whole transactions;
  // steps along rows shorter than one take it again.
  double read = 0, written = 0;  // of all levels
  double read_of_memory = 0, written_to_memory = 0;
  std::vector<BlockOperand> operands;  // that lie in memory
  for (size_t i = 0; i < work.inputs.size(); ++i) {
    const TileOperand& input = work.inputs[i];
    double bytes = input.total_moved_bytes;
    for (const SharedOperand& operand : plan.shared) {
      if (operand.tensor != input.tensor || operand.extents.empty()) continue;
      const auto run =
          static_cast<double>(operand.extents.back() *
                              SizeBytes(graph_.tensor(input.tensor).dtype));
      const auto sector =
          static_cast<double>(levels_.near->read_transaction_bytes());
      if (operand.extents.back() < input.extents.back())
        bytes = std::max(
            bytes, input.total_bytes * std::ceil(run / sector) * sector / run);
    }
    read += bytes;
    if (!InMemory(input.tensor)) continue;
    read_of_memory += bytes;
    BlockOperand operand{bytes / blocks, input.varies};
    operand.varies.resize(plan.grid.size(), false);
    operands.push_back(std::move(operand));
  }
  for (const TensorId output : subgraph_.outputs) {
    // One of the blocks that compute the same tile writes it.
    const TileOperand& tile = TileOf(work, output);
    const Tensor& tensor = graph_.tensor(output);
    const auto whole =
        static_cast<double>(tensor.num_elements() * SizeBytes(tensor.dtype));
    const double bytes =
        tile.total_moved_bytes *
        (tile.total_bytes > whole ? whole / tile.total_bytes : 1);
    written += bytes;
    if (InMemory(output)) written_to_memory += bytes;
  }
  cost.near_bytes = read + written;
  const int64_t wave = resident * unit.cores();
  if (levels_.shares()) {
    double cache =
        static_cast<double>(levels_.reuse->capacity_bytes()) *
        static_cast<double>(std::max<int64_t>(1, levels_.reuse->instances()));
    // Scratchpads of all cores hold what blocks leave of them.
    if (levels_.reuse->kind() == MemoryLevel::SCRATCHPAD)
      cache -= static_cast<double>(wave * plan.shared_bytes);
    if (align) plan.order = BestBlockOrder(plan.grid, operands, wave, cache);
    read_of_memory =
        std::min(read_of_memory,
                 BytesOfWaves(plan.order, plan.grid, operands, wave, cache));
  }
  cost.memory_bytes = read_of_memory + written_to_memory;
  const auto seconds = [&](double bytes, const MemoryLevel& level) {
    return bytes / Rate(level) *
           waiting(ShareOf(in_flight, Rate(level) / cores, level.latency_ns()));
  };
  cost.near_seconds = seconds(cost.near_bytes, *levels_.near);
  cost.memory_seconds = seconds(cost.memory_bytes, *levels_.memory);

  cost.blocks_at_once = wave;
  cost.waves = Waves(plan.blocks(), resident, unit.cores());
  const int64_t barriers =
      static_cast<int64_t>(gpu_.clusters.size()) +
      most_steps * (decision.double_buffer || most_steps == 1 ? 1 : 2);
  cost.sync_seconds =
      static_cast<double>(cost.waves * barriers) * unit.barrier_ns() * 1e-9;
  const double inside = std::max(cost.compute_seconds, cost.shared_seconds);
  const double outside = std::max(cost.near_seconds, cost.memory_seconds);
  cost.overlaps = resident > 1 || (decision.double_buffer && most_steps > 1);
  cost.seconds =
      (cost.overlaps ? std::max(inside, outside) : inside + outside) +
      cost.sync_seconds + unit.launch_ns() * 1e-9;
}

}  // namespace tilewright
