// Kernels on a device with round numbers, worked by hand.
#include "bench/gpu/kernel_bound.h"

#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

// Ten cores at 1 GHz. A clock of one of them: 64 multiply-adds, 4 instructions
// of warps, 128 bytes of shared memory, 64 from the cache, 10 from memory. The
// cache is 100 clocks away.
DeviceSpec Spec() {
  DeviceSpec spec;
  MemoryLevel* memory = spec.add_levels();
  memory->set_kind(MemoryLevel::MEMORY);
  memory->set_aggregate_read_bytes_per_s(100e9);
  memory->set_latency_ns(300);
  MemoryLevel* cache = spec.add_levels();
  cache->set_kind(MemoryLevel::CACHE);
  cache->set_aggregate_read_bytes_per_s(640e9);
  cache->set_read_transaction_bytes(32);
  cache->set_latency_ns(100);
  MemoryLevel* shared = spec.add_levels();
  shared->set_kind(MemoryLevel::SCRATCHPAD);
  shared->set_scope(MemoryLevel::CORE);
  shared->set_read_bytes_per_s(128e9);
  shared->set_banks(32);
  shared->set_bank_width_bytes(4);
  spec.add_levels()->set_kind(MemoryLevel::REGISTER);
  ComputeUnit* unit = spec.mutable_unit();
  unit->set_cores(10);
  unit->set_warp_size(32);
  unit->set_max_threads_per_block(1024);
  unit->set_schedulers_per_core(4);
  PeakRate* peak = unit->add_peaks();
  peak->set_dtype("f32");
  peak->set_unit(PeakRate::VECTOR);
  peak->set_core_ops_per_s(128e9);
  return spec;
}

// Forty blocks, all resident, of 2000 multiply-adds of warps: 1000 clocks.
KernelFacts Product() {
  KernelFacts facts;
  facts.blocks = 40;
  facts.resident = 4;
  facts.work.warp_fmas = 2000;
  facts.fma_share = 0.8;
  facts.useful_operations = 40 * 2000 * 32 * 2;
  facts.useful_memory_bytes = facts.memory_bytes = 40 * 1000;
  facts.useful_near_bytes = facts.near_bytes = 40 * 1000;
  return facts;
}

TEST(KernelBoundTest, AProductThatNothingLimits) {
  const KernelBound bound = BoundOf(Spec(), Product());
  EXPECT_TRUE(bound.product);
  EXPECT_DOUBLE_EQ(bound.ideal_seconds, 4000e-9);
  EXPECT_DOUBLE_EQ(bound.share, 1);
}

TEST(KernelBoundTest, IdleLanes) {
  KernelFacts facts = Product();
  facts.useful_operations *= 0.75;
  const KernelBound bound = BoundOf(Spec(), facts);
  EXPECT_DOUBLE_EQ(bound.share, 0.75);
  EXPECT_EQ(bound.limit, KernelBound::kMultiplyAdds);
}

// 2000 multiply-adds among 10000 instructions take 2500 clocks, not 1000.
TEST(KernelBoundTest, Issue) {
  KernelFacts facts = Product();
  facts.fma_share = 0.2;
  const KernelBound bound = BoundOf(Spec(), facts);
  EXPECT_DOUBLE_EQ(bound.share, 0.4);
  EXPECT_EQ(bound.limit, KernelBound::kIssue);
  EXPECT_EQ(Name(bound.limit), "issue");
}

// 1500 turns, and 400 sectors in 100 more.
TEST(KernelBoundTest, SharedBandwidth) {
  KernelFacts facts = Product();
  facts.work.shared_turns = 1500;
  facts.work.sectors = 400;
  const KernelBound bound = BoundOf(Spec(), facts);
  EXPECT_DOUBLE_EQ(bound.share, 1000.0 / 1600);
  EXPECT_EQ(bound.limit, KernelBound::kShared);
}

// Ten waits of 100 clocks beside 1000 of its own: 2000 a block, four at a time.
// One at a time reaches half; loaded ahead, they hide behind the sums.
TEST(KernelBoundTest, Latency) {
  KernelFacts facts = Product();
  facts.work.waits = 10;
  EXPECT_DOUBLE_EQ(BoundOf(Spec(), facts).share, 1);
  facts.resident = 1;
  const KernelBound bound = BoundOf(Spec(), facts);
  EXPECT_DOUBLE_EQ(bound.share, 0.5);
  EXPECT_EQ(bound.limit, KernelBound::kLatency);
  facts.work.waits = 0;
  facts.work.covered_waits = 10;
  EXPECT_DOUBLE_EQ(BoundOf(Spec(), facts).share, 1);
  facts.work.covered_waits = 20;
  EXPECT_DOUBLE_EQ(BoundOf(Spec(), facts).share, 0.5);
}

// Beside longer work of their own, that is what is named.
TEST(KernelBoundTest, LatencyBesideOtherLimits) {
  KernelFacts facts = Product();
  facts.resident = 1;
  facts.work.waits = 10;
  facts.work.shared_turns = 3000;
  const KernelBound bound = BoundOf(Spec(), facts);
  EXPECT_DOUBLE_EQ(bound.share, 0.25);
  EXPECT_EQ(bound.limit, KernelBound::kShared);
}

// 41 blocks are five on one of ten cores.
TEST(KernelBoundTest, Grid) {
  KernelFacts facts = Product();
  facts.useful_operations *= 41.0 / 40;
  facts.blocks = 41;
  const KernelBound bound = BoundOf(Spec(), facts);
  EXPECT_DOUBLE_EQ(bound.share, 41.0 / 50);
  EXPECT_EQ(bound.limit, KernelBound::kGrid);
  // With half of the lanes idle, those are what counts.
  facts.useful_operations /= 2;
  EXPECT_DOUBLE_EQ(BoundOf(Spec(), facts).share, 41.0 / 100);
  EXPECT_EQ(BoundOf(Spec(), facts).limit, KernelBound::kMultiplyAdds);
}

// A copy of 1 MB on half of the cores: memory serves them as well as all, each
// gets it from the cache.
TEST(KernelBoundTest, ACopy) {
  KernelFacts facts;
  facts.blocks = 5;
  facts.useful_memory_bytes = facts.useful_near_bytes = 1e6;
  facts.memory_bytes = facts.near_bytes = 1.25e6;
  const KernelBound bound = BoundOf(Spec(), facts);
  EXPECT_FALSE(bound.product);
  EXPECT_DOUBLE_EQ(bound.ideal_seconds, 10e-6);
  EXPECT_DOUBLE_EQ(bound.share, 0.8);
  EXPECT_EQ(bound.limit, KernelBound::kMemory);
  EXPECT_DOUBLE_EQ(bound.shares[KernelBound::kGrid], 0.5);
}

// What passes between kernels is not loaded from memory.
TEST(KernelBoundTest, ACopyInTheCache) {
  KernelFacts facts;
  facts.blocks = 10;
  facts.useful_near_bytes = facts.near_bytes = 64000;
  facts.work.waits = 1;
  const KernelBound bound = BoundOf(Spec(), facts);
  EXPECT_DOUBLE_EQ(bound.ideal_seconds, 100e-9);
  EXPECT_DOUBLE_EQ(bound.share, 0.5);
  EXPECT_EQ(bound.limit, KernelBound::kLatency);
}

// What the header says of two architectures follows from their specs.
TEST(KernelBoundTest, LanesOfRealCores) {
  for (const auto& [name, lanes] : {std::pair{"a100", 64}, {"h100", 128}}) {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(name));
    KernelFacts facts = Product();
    facts.blocks = spec.unit().cores();
    facts.resident = 1;
    facts.fma_share = 1;
    facts.useful_operations = static_cast<double>(facts.blocks) * 2000 * 32 * 2;
    facts.useful_memory_bytes = facts.memory_bytes = 0;
    facts.useful_near_bytes = facts.near_bytes = 0;
    const KernelBound bound = BoundOf(spec, facts);
    EXPECT_NEAR(bound.shares[KernelBound::kMultiplyAdds], 1, 0.01) << name;
    // As many turns as its multiply-adds take clocks, and a half more.
    facts.work.shared_turns = 1.5 * 2000 * 32 / lanes;
    EXPECT_NEAR(BoundOf(spec, facts).share, 1 / 1.5, 0.01) << name;
    // Four schedulers feed 128 lanes with one instruction a clock each.
    facts.work.shared_turns = 0;
    facts.fma_share = 0.5;
    EXPECT_NEAR(BoundOf(spec, facts).share, lanes == 64 ? 1 : 0.5, 0.01);
  }
}

}  // namespace
}  // namespace tilewright
