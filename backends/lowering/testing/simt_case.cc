#include "backends/lowering/testing/simt_case.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "sketch/derivation/gpu_sketch_rules.h"
#include "sketch/derivation/sketch_generator.h"
#include "sketch/rules/generator.h"
#include "sketch/simt/simt_schedule.h"
#include "sketch/testing/ansor_workloads.h"
#include "sketch/testing/move_workloads.h"
#include "sketch/testing/row_workloads.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/testing/window_workloads.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::lowering {
namespace {

using sketch::BlockTile;
using sketch::Workload;

Workload DrawFamily(const std::string& family, uint64_t seed) {
  if (family == "moves") return sketch::DrawMove(seed);
  if (family == "rows") return sketch::DrawRows(seed);
  if (family == "windows") return sketch::DrawWindow(seed);
  TW_CHECK_EQ(family, "any");
  return sketch::DrawWorkload(seed);
}

BlockTile DrawTile(const Workload& workload, Random& random) {
  BlockTile tile;
  int64_t left = 64;
  for (const Dim& dim :
       workload.graph.tensor(workload.graph.outputs()[0]).shape) {
    tile.tile.push_back(
        random.UniformInt(1, std::min<int64_t>(32, dim.value())));
    int64_t threads = 1;
    while (threads * 2 <= left && random.Bernoulli(0.6)) threads *= 2;
    left /= threads;
    tile.threads.push_back(threads);
  }
  tile.vector = int64_t{1} << random.Index(3);
  if (random.Bernoulli(0.3)) tile.rows = int64_t{1} << random.Index(3);
  if (left >= 4 && random.Bernoulli(0.3))
    tile.lanes = int64_t{1} << random.UniformInt(1, 2);
  tile.step = random.UniformInt(0, 9);
  if (tile.lanes == 1 && left >= 4 && random.Bernoulli(0.5)) {
    tile.slices = random.UniformInt(2, 4);
    tile.step = tile.slices * random.UniformInt(0, 4);
  }
  tile.stages = random.UniformInt(1, 4);
  tile.async = tile.stages > 2 || random.Bernoulli(0.5);
  tile.swizzle = int64_t{1} << random.Index(4);
  return tile;
}

// The block tile as planned, all else of each compute at random.
class RandomBesideTile : public DecisionPolicy {
 public:
  explicit RandomBesideTile(uint64_t seed) : random_(seed) {}
  DecisionValue Answer(const std::string& name, const Space& space,
                       Prefer preferred) override {
    for (const char* prefix : {"block.copy.", "block.order.", "block.pad.",
                               "block.sums.", "block.unroll."})
      if (name.rfind(prefix, 0) == 0)
        return random_.Answer(name, space, preferred);
    return preferred_.Answer(name, space, preferred);
  }

 private:
  RandomPolicy random_;
  PreferredPolicy preferred_;
};

// `workload` with that schedule, and arguments.
absl::StatusOr<RandomCase> CaseOf(Workload workload,
                                  absl::StatusOr<sketch::Schedule> schedule,
                                  uint64_t seed) {
  RandomCase made;
  made.seed = seed;
  made.workload = std::move(workload);
  TW_ASSIGN_OR_RETURN(made.schedule, std::move(schedule));
  TW_RETURN_IF_ERROR(PrepareCase(made, /*exact=*/false));
  return made;
}

}  // namespace

const DeviceSpec& SimtSpec() {
  static const DeviceSpec& spec = *new DeviceSpec(*LoadSpec("v100"));
  return spec;
}

BlockTile TileOf(std::vector<int64_t> extents, std::vector<int64_t> threads,
                 int64_t vector, int64_t step) {
  BlockTile tile;
  tile.tile = std::move(extents);
  tile.threads = std::move(threads);
  tile.vector = vector;
  tile.step = step;
  return tile;
}

absl::StatusOr<RandomCase> SimtCase(Workload workload,
                                    std::optional<BlockTile> tile,
                                    uint64_t seed, const Answers& answers) {
  auto schedule = sketch::GenerateWith(sketch::SimtGenerator(std::move(tile)),
                                       workload, SimtSpec(), answers);
  return CaseOf(std::move(workload), std::move(schedule), seed);
}

absl::StatusOr<RandomCase> DrawSimtCase(const std::string& family,
                                        uint64_t seed) {
  Workload workload = DrawFamily(family, seed);
  const TensorGraph& graph = workload.graph;
  std::optional<BlockTile> tile;
  if (graph.outputs().size() == 1 &&
      !graph.tensor(graph.outputs()[0]).shape.empty()) {
    Random random(seed);
    tile = DrawTile(workload, random);
  }
  RandomBesideTile policy(seed);
  Decider decider(policy);
  auto schedule = sketch::Generate(sketch::SimtGenerator(std::move(tile)),
                                   workload, SimtSpec(), decider);
  return CaseOf(std::move(workload), std::move(schedule), seed);
}

absl::StatusOr<RandomCase> DrawGpuSketchCase(uint64_t seed) {
  Workload workload = seed % 2 == 0
                          ? sketch::DrawAnsor(seed)
                          : DrawFamily(kSimtFamilies[seed / 2 % 4], seed);
  RandomPolicy random(seed);
  Decider decider(random);
  auto schedule =
      sketch::Generate(sketch::SketchGenerator(sketch::TvmGpuRules()), workload,
                       SimtSpec(), decider);
  return CaseOf(std::move(workload), std::move(schedule), seed);
}

}  // namespace tilewright::lowering
