// The predicted cost of a plan: GpuTileEvaluator::AddCost.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/ceil_div.h"
#include "base/string_view.h"
#include "tilegraph/gpu/gpu_tile_evaluator.h"
#include "tilegraph/gpu/tile_step.h"

namespace tilewright {
namespace {

// Loads of 16 bytes that a thread has on the way where nothing is staged.
constexpr int64_t kBytesInFlightPerThread = 4 * 16;
constexpr double kUnknownRate = 1e12;
// Of the bandwidth of memory by its clock and width: a copy of 256 MiB on an
// H100 (docs/results/gpu_h100.md).
constexpr double kReachedBandwidth = 0.904;
// Of the work of others, that of threads whose multiply-adds meet no conflicts
// of the register file: 0.69 to 0.80 for nine products on an H100
// (docs/results/gpu_models.md).
constexpr double kWorkInSquares = 0.76;
constexpr int64_t kWarpLanes = 32;

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

double VectorRate(const ComputeUnit& unit) {
  const PeakRate* vector = FindPeak(unit, "f32", PeakRate::VECTOR);
  return vector ? Known(vector->core_ops_per_s()) : 1e11;
}

// Elements that a warp loads for the terms of its own: lanes beside each other
// that read the same one load it once.
int64_t WarpElements(const GpuLoad& load, const ThreadTile& tile,
                     const ThreadWork& work) {
  int64_t lanes = kWarpLanes / std::min(kWarpLanes, tile.reduce_threads);
  int64_t elements = work.terms;
  for (size_t d = tile.threads.size(); d-- > 0;) {
    const int64_t along = std::min(lanes, tile.threads[d]);
    lanes /= along;
    if (load.dims >> d & 1)
      elements *= std::min(along * tile.elements[d], work.extents[d]);
  }
  return elements;
}

// How many passes over the banks an access to `tensor` takes.
double ConflictsOf(const GpuTilePlan& plan, TensorId tensor) {
  for (const SharedOperand& operand : plan.shared)
    if (operand.tensor == tensor) return operand.conflicts;
  return 1;
}

}  // namespace

double GpuTileEvaluator::Waiting(const GpuTilePlan& plan, double share) const {
  return WaveQuantisation(plan.blocks(), plan.occupancy.blocks_per_core,
                          spec_.unit().cores(), share);
}

GpuTileEvaluator::MemberWork GpuTileEvaluator::OnMatrixUnits(
    const GpuMember& member, const MatrixForm& form, const GpuTilePlan& plan,
    const std::vector<int64_t>& axes, double turns, BlockTotals& block) const {
  const auto batch =
      static_cast<double>(Covered(axes, member.contraction->batch));
  MemberWork work;
  work.operations = 2 * static_cast<double>(Product(axes)) / form.useful;
  const PeakRate* matrix = FindPeak(
      spec_.unit(), ToStd(form.unit->operand_dtype()), PeakRate::MATRIX);
  work.peak =
      matrix ? Known(matrix->core_ops_per_s()) : VectorRate(spec_.unit());
  const auto groups = static_cast<double>(form.groups_m * form.groups_n);
  work.share =
      matrix && matrix->latency_ns() > 0
          ? ShareOf(groups * 2 *
                        static_cast<double>(form.fragments_m *
                                            form.fragments_n * form.unit->m() *
                                            form.unit->n() * form.unit->k()),
                    work.peak, matrix->latency_ns())
          : 1;
  const auto bytes = static_cast<double>(SizeBytes(member.contraction->dtype));
  for (const Expr* load : {&member.contraction->a, &member.contraction->b}) {
    block.shared.push_back(
        {load->source(), true,
         static_cast<double>(form.operand_elements) * bytes * batch * turns *
             ConflictsOf(plan, load->source()) / 2});
  }
  return work;
}

GpuTileEvaluator::MemberWork GpuTileEvaluator::OnThreads(
    const GpuMember& member, const ClusterTile& tile, const GpuTilePlan& plan,
    const ThreadWork& of, double turns, BlockTotals& block) const {
  // Lanes without elements wait with the others. A member takes the elements of
  // its root.
  const int64_t warp = spec_.unit().warp_size();
  const auto lanes = static_cast<double>(CeilDiv(plan.threads, warp) * warp);
  double elements, terms = static_cast<double>(of.terms);
  if (tile.matrix) {
    elements = std::ceil(static_cast<double>(Product(of.extents)) / lanes);
  } else {
    elements = static_cast<double>(tile.simt.elements_per_thread());
    // What comes behind sums of slices all threads divide.
    if (of.terms == 1) elements /= static_cast<double>(tile.simt.slices);
    terms = static_cast<double>(
        CeilDiv(of.terms, tile.simt.reduce_threads * tile.simt.slices));
  }
  // An operation that is no multiply-add takes a turn all the same.
  const double weight =
      member.contraction ? member.operations : 2 * member.operations;
  const PeakRate* vector = FindPeak(spec_.unit(), "f32", PeakRate::VECTOR);
  MemberWork work;
  work.peak = VectorRate(spec_.unit());
  work.operations = lanes * elements * terms * weight;
  work.share = ShareOf(2 * lanes * elements, work.peak,
                       vector ? vector->latency_ns() : 0);
  for (const GpuLoad& load : member.loads) {
    if (!load.shared) {
      if (plan.generated && of.terms > 1 && !tile.matrix)
        block.direct_bytes[load.tensor] +=
            turns * static_cast<double>(WarpElements(load, tile.simt, of)) *
            static_cast<double>(CeilDiv(plan.threads, warp)) *
            static_cast<double>(SizeBytes(graph_.tensor(load.tensor).dtype));
      continue;
    }
    double own = terms;
    for (size_t d = 0; d < of.extents.size(); ++d) {
      if ((load.dims >> d & 1) == 0) continue;
      own *= tile.matrix ? 1 : static_cast<double>(tile.simt.elements[d]);
    }
    if (tile.matrix && load.dims != 0) own *= elements;
    block.shared.push_back(
        {load.tensor, true,
         lanes * own * turns * ConflictsOf(plan, load.tensor) *
             static_cast<double>(SizeBytes(graph_.tensor(load.tensor).dtype))});
  }
  return work;
}

void GpuTileEvaluator::AddCompute(const TileStep& step, GpuTilePlan& plan,
                                  BlockTotals& block) const {
  const ComputeUnit& unit = spec_.unit();
  const auto cores = static_cast<double>(unit.cores());
  const auto blocks = static_cast<double>(plan.blocks());
  GpuCost& cost = plan.cost;
  const double schedulers_share = std::min(
      1.0, static_cast<double>(CeilDiv(plan.threads, unit.warp_size())) /
               static_cast<double>(
                   std::max<int64_t>(1, unit.schedulers_per_core())));
  for (size_t c = 0; c < gpu_.clusters.size(); ++c) {
    const ClusterTile& tile = plan.clusters[c];
    for (const int m : gpu_.clusters[c].members) {
      const GpuMember& member = plan.members.members[m];
      const TileStep::Member& of = step.members[m];
      block.most_steps = std::max(block.most_steps, of.steps);
      const auto turns = static_cast<double>(of.steps);
      MemberWork own =
          tile.matrix && m == gpu_.clusters[c].root
              ? OnMatrixUnits(member, *tile.matrix, plan, of.axes, turns, block)
              : OnThreads(member, tile, plan, of.threads, turns, block);
      // A warp is on one scheduler of the core.
      own.share = std::min(own.share, schedulers_share);
      own.operations *= turns;
      cost.operations += own.operations * blocks;
      cost.busy_compute_seconds += own.operations * blocks / (own.peak * cores);
      cost.compute_seconds += own.operations * blocks / (own.peak * cores) *
                              Waiting(plan, own.share);
    }
  }
}

// Bytes that pass through the scratchpad: every step of the staged operands,
// what is computed once. Of a generated kernel they are the turns that it asks
// for, and the sectors that it loads from memory and stores there: a core's L1
// and scratchpad are one memory and share a path to the registers (NVIDIA Tesla
// V100 GPU Architecture, "Enhanced L1 Data Cache and Shared Memory"). On a
// device that was measured each line takes a turn, however little of it is
// wanted.
void GpuTileEvaluator::AddScratchpad(const TileStep& step, GpuTilePlan& plan,
                                     BlockTotals& block) const {
  for (const SharedOperand& operand : plan.shared) {
    const auto once = static_cast<double>(operand.bytes / operand.copies);
    double times = 1;
    for (size_t i = 0; i < gpu_.inputs.size(); ++i) {
      if (gpu_.inputs[i].id != operand.tensor) continue;
      block.bytes_in_flight += once;
      times = static_cast<double>(step.inputs[i].steps);
    }
    if (operand.slices > 1) times = 2;  // stored and loaded
    block.shared.push_back({operand.tensor, true, once * times});
  }
  block.bytes_in_flight =
      std::max(block.bytes_in_flight,
               static_cast<double>(plan.threads * kBytesInFlightPerThread));
  for (GpuTraffic& traffic : block.shared)
    traffic.bytes *= static_cast<double>(plan.blocks());
  if (!plan.cost.requested_sectors.empty()) {
    const Banks banks = BanksOf(levels_);
    const auto turn_bytes =
        static_cast<double>(banks.count * banks.width_bytes);
    block.shared.clear();
    for (const auto& [tensor, turns] : plan.cost.requested_turns)
      block.shared.push_back({tensor, true, turns * turn_bytes});
    double sectors = 0;
    for (const auto& [tensor, of] : plan.cost.requested_sectors) sectors += of;
    plan.cost.shared_bytes +=
        Measured()
            ? plan.cost.requested_lines * turn_bytes
            : sectors *
                  static_cast<double>(levels_.near->read_transaction_bytes());
  }
  for (const GpuTraffic& traffic : block.shared) {
    plan.cost.shared_bytes += traffic.bytes;
    plan.cost.traffic.push_back(traffic);
  }
  plan.cost.shared_seconds =
      plan.cost.shared_bytes / Rate(*levels_.scratchpad) * Waiting(plan, 1);
}

// Steps along rows shorter than a transaction take it again.
double GpuTileEvaluator::BytesOfInput(const TileOperand& input,
                                      const GpuTilePlan& plan) const {
  double bytes = input.total_moved_bytes;
  for (const SharedOperand& operand : plan.shared) {
    if (operand.tensor != input.tensor || operand.extents.empty()) continue;
    const auto run = static_cast<double>(
        operand.extents.back() * SizeBytes(graph_.tensor(input.tensor).dtype));
    const auto sector =
        static_cast<double>(levels_.near->read_transaction_bytes());
    if (operand.extents.back() < input.extents.back())
      bytes = std::max(
          bytes, input.total_bytes * std::ceil(run / sector) * sector / run);
  }
  return bytes;
}

// One of the blocks that compute the same tile writes it.
double GpuTileEvaluator::BytesOfOutput(TensorId output,
                                       const TileWork& work) const {
  const TileOperand& tile = TileOf(work, output);
  const Tensor& tensor = graph_.tensor(output);
  const auto whole = static_cast<double>(tensor.num_bytes());
  return tile.total_moved_bytes *
         (tile.total_bytes > whole ? whole / tile.total_bytes : 1);
}

// Between cores and caches: regions of all tiles in whole transactions.
void GpuTileEvaluator::AddTraffic(const TileWork& work, Rows rows,
                                  const BlockTotals& block,
                                  GpuTilePlan& plan) const {
  const ComputeUnit& unit = spec_.unit();
  GpuCost& cost = plan.cost;
  double read = 0, written = 0;  // of all levels
  double read_of_memory = 0, written_to_memory = 0;
  std::vector<BlockOperand> operands;  // that lie in memory
  for (const TileOperand& input : work.inputs) {
    const double bytes = BytesOfInput(input, plan);
    const auto direct = block.direct_bytes.find(input.tensor);
    const double near =
        direct == block.direct_bytes.end()
            ? bytes
            : std::max(bytes,
                       direct->second * static_cast<double>(plan.blocks()));
    read += near;
    cost.traffic.push_back({input.tensor, false, near});
    if (!InMemory(input.tensor)) continue;
    read_of_memory += bytes;
    BlockOperand operand{bytes / static_cast<double>(plan.blocks()), {}};
    operand.varies.assign(input.varies.begin(), input.varies.end());
    operand.varies.resize(plan.grid.size(), false);
    operands.push_back(std::move(operand));
  }
  for (const TensorId output : subgraph_.outputs) {
    const double bytes = BytesOfOutput(output, work);
    written += bytes;
    cost.traffic.push_back({output, false, bytes});
    if (InMemory(output)) written_to_memory += bytes;
  }
  cost.near_bytes = read + written;
  const int64_t wave = plan.occupancy.blocks_per_core * unit.cores();
  if (levels_.shares()) {
    double cache =
        static_cast<double>(levels_.reuse->capacity_bytes()) *
        static_cast<double>(std::max<int64_t>(1, levels_.reuse->instances()));
    // Scratchpads of all cores hold what blocks leave of them.
    if (levels_.reuse->kind() == MemoryLevel::SCRATCHPAD)
      cache -= static_cast<double>(wave * plan.shared_bytes);
    if (rows != Rows::kPlain && features_.panels)
      plan.order = BestBlockOrder(plan.grid, operands, wave, cache);
    read_of_memory =
        std::min(read_of_memory,
                 BytesOfWaves(plan.order, plan.grid, operands, wave, cache));
  }
  cost.memory_bytes = read_of_memory + written_to_memory;
  const auto seconds = [&](double bytes, const MemoryLevel& level) {
    const double rate =
        Rate(level) *
        (&level == levels_.memory && Measured() ? kReachedBandwidth : 1);
    return bytes / rate *
           Waiting(plan, ShareOf(block.bytes_in_flight,
                                 rate / static_cast<double>(unit.cores()),
                                 level.latency_ns()));
  };
  cost.near_seconds = seconds(cost.near_bytes, *levels_.near);
  cost.memory_seconds = seconds(cost.memory_bytes, *levels_.memory);
}

// Whether the device's times were measured, not only its traits read: how parts
// overlap, how fast warps issue, what blocks wait.
bool GpuTileEvaluator::Measured() const {
  return spec_.cost_model().overlap_exponent() >= 1;
}

// Parts that overlap: (a^p + b^p + ...)^(1/p), or what takes longest.
double GpuTileEvaluator::Together(std::initializer_list<double> seconds) const {
  const double longest = std::max(seconds),
               p = spec_.cost_model().overlap_exponent();
  if (!Measured() || longest <= 0) return longest;
  double sum = 0;
  for (const double part : seconds) sum += std::pow(part / longest, p);
  return longest * std::pow(sum, 1 / p);
}

// A step's loads are on their way together, and resident blocks take turns.
double GpuTileEvaluator::WaitSeconds(const GpuTileDecision& decision,
                                     const BlockTotals& block,
                                     const GpuTilePlan& plan) const {
  const int64_t waits =
      plan.cost.waves * (decision.steps_overlap() ? 1 : block.most_steps);
  const int64_t together = plan.blocks_beside(spec_.unit().cores());
  return std::max(1.0,
                  static_cast<double>(waits) / static_cast<double>(together)) *
         levels_.memory->latency_ns() * 1e-9;
}

void GpuTileEvaluator::AddCost(const GpuTileDecision& decision,
                               const TileWork& work, const TileStep& step,
                               Rows rows, GpuTilePlan& plan) const {
  const ComputeUnit& unit = spec_.unit();
  const int64_t resident = plan.occupancy.blocks_per_core;
  GpuCost& cost = plan.cost;
  BlockTotals block;
  AddCompute(step, plan, block);
  AddIssue(plan);
  AddScratchpad(step, plan, block);
  AddTraffic(work, rows, block, plan);

  cost.blocks_at_once = resident * unit.cores();
  cost.waves = Waves(plan.blocks(), resident, unit.cores());
  cost.steps = block.most_steps;
  const int64_t barriers =
      static_cast<int64_t>(gpu_.clusters.size()) +
      block.most_steps *
          (decision.double_buffer || block.most_steps == 1 ? 1 : 2);
  cost.sync_seconds =
      static_cast<double>(cost.waves * barriers) * unit.barrier_ns() * 1e-9;
  if (Measured()) cost.wait_seconds = WaitSeconds(decision, block, plan);
  cost.overlaps =
      resident > 1 || (decision.steps_overlap() && block.most_steps > 1);
  const double outside = std::max(cost.near_seconds, cost.memory_seconds);
  const double inside = Together({cost.compute_seconds, cost.shared_seconds});
  cost.work_seconds =
      cost.overlaps
          ? Together({cost.compute_seconds, cost.shared_seconds, outside})
          : inside + outside;
  if (Measured() && decision.squares) cost.work_seconds *= kWorkInSquares;
  cost.seconds = cost.work_seconds + cost.wait_seconds + cost.sync_seconds +
                 unit.launch_ns() * 1e-9;
}

}  // namespace tilewright
