// How long the search over tiles and connections of whole models takes, by the
// model alone: plan_time DIR... [levels]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "backends/spec/host_spec.h"
#include "base/check.h"
#include "compiler/rewrite_model.h"
#include "frontends/onnx/import_model.h"
#include "tilegraph/plan.h"
#include "tilegraph/tiling/graph_connecting.h"
#include "tilegraph/tiling/tile_work.h"

namespace tilewright {
namespace {

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Run(const std::string& dir) {
  const absl::StatusOr<ImportedModel> imported =
      ImportModel(dir + "/model.onnx");
  TW_CHECK(imported.ok()) << imported.status();
  const DeviceSpec spec = *HostSpec();
  const ImportedModel model = RewriteModel(*imported, spec, {}, {});
  const Plan plan = MakePlan(model.graph, {});
  std::vector<TensorId> members;
  std::vector<int> group_of(model.graph.size(), -1);
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    for (const TensorId id : plan.groups[g].members) {
      members.push_back(id);
      group_of[id] = static_cast<int>(g);
    }
  }
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  TileGraph tiles(model.graph, members);
  ConnectOptions options;
  options.tiling.traffic.layouts = plan.layouts;
  const int levels = PlannedLevels(spec, options.tiling);
  const auto all = tiles.edges();
  int open = 0;
  for (const auto& [edge, level] : all) {
    if (group_of[edge.producer] == group_of[edge.consumer])
      tiles.SetConnect(edge, levels);
    else
      ++open;
  }
  // Work of tiles alone.
  double count = 0;
  const double before = Seconds();
  const auto parts = tiles.Parts(0);
  TW_CHECK(parts.ok()) << parts.status();
  for (const Subgraph& part : *parts) {
    TileWorks all_works(tiles, part, {});
    const std::vector<int64_t> shape =
        model.graph.tensor(part.outputs.back()).static_shape();
    for (int i = 1; i <= 50; ++i) {
      TileShape tile;
      for (const int64_t extent : shape)
        tile.spatial.push_back(std::min<int64_t>(extent, i));
      const auto work = all_works.Of(tile);
      if (work.ok()) ++count;
    }
  }
  const double between = Seconds();
  const auto connected = ConnectGraph(tiles, spec, options);
  const double after = Seconds();
  std::printf(
      "%s: %zu groups, %d edges between them, %.2f us per tile, connected in "
      "%.2f s: %s, %zu parts\n",
      dir.c_str(), plan.groups.size(), open, (between - before) / count * 1e6,
      after - between,
      connected.ok() ? "ok" : connected.status().ToString().c_str(),
      connected.ok() ? connected->parts.size() : 0);
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) tilewright::Run(argv[i]);
}
