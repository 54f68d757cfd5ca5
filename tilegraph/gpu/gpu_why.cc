// WhyText of gpu_kernels.h.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tilegraph/gpu/gpu_kernels.h"

namespace tilewright {
namespace {

std::string Microseconds(double seconds) {
  return absl::StrFormat("%.1f us", seconds * 1e6);
}

// "12 % longer".
std::string Compared(double seconds, double with) {
  const double share = seconds / with - 1;
  return absl::StrFormat("%.0f %% %s", 100 * std::abs(share),
                         share < 0 ? "less" : "longer");
}

std::string LimitText(const GpuTilePlan& plan) {
  return ToString(plan, LimitOf(plan));
}

std::string TileText(const GpuTilePlan& plan) {
  return absl::StrCat("[", absl::StrJoin(plan.tile, ", "), "]",
                      plan.step > 0 ? absl::StrCat(" step ", plan.step) : "");
}

// Names the resources that a fused kernel needs and its groups do not.
std::string UseText(const GpuTilePlan& plan,
                    const std::vector<GpuTilePlan>& unfused) {
  double operations = 0;
  for (const GpuTilePlan& one : unfused) operations += one.cost.operations;
  std::string text = absl::StrFormat("%.0f KiB of scratchpad a block",
                                     plan.shared_bytes / 1024.0);
  if (operations > 0 && plan.cost.operations > 1.02 * operations)
    absl::StrAppendFormat(&text, ", %.2f times the operations",
                          plan.cost.operations / operations);
  return text;
}

class Writer {
 public:
  Writer(const TensorGraph& graph, const GpuPlan& plan)
      : graph_(graph), plan_(plan) {}

  void Add(const GpuKernel& kernel) {
    absl::StrAppend(&text_, "group ", Names(kernel.groups), ": ");
    if (kernel.tiles.empty()) {
      absl::StrAppend(&text_, "no plan: ", kernel.why_not, "\n");
      return;
    }
    const GpuTilePlan& best = kernel.tiles.front();
    absl::StrAppend(&text_, Microseconds(kernel.seconds()), " in tiles of ",
                    TileText(best), "\n  limited by ", LimitText(best), "\n");
    AddEdges(best);
    if (kernel.tiles.size() > 1)
      absl::StrAppend(&text_, "  next tile ", TileText(kernel.tiles[1]), ": ",
                      Compared(kernel.tiles[1].cost.seconds, kernel.seconds()),
                      ", limited by ", LimitText(kernel.tiles[1]), "\n");
    if (kernel.groups.size() > 1) {
      absl::StrAppend(
          &text_, "  fused: saves ",
          absl::StrFormat("%.0f %%", 100 * (1 - kernel.seconds() /
                                                    kernel.unfused_seconds())),
          " of ", Microseconds(kernel.unfused_seconds()), ", with ",
          UseText(best, kernel.unfused), "; unfused:\n");
      for (size_t i = 0; i < kernel.unfused.size(); ++i)
        absl::StrAppend(&text_, "    ", Names({kernel.groups[i]}),
                        ": limited by ", LimitText(kernel.unfused[i]), "\n");
    }
    for (const GpuAlternative& other : kernel.alternatives) Add(kernel, other);
  }

  std::string Take() && { return std::move(text_); }

 private:
  // "0+1 (S, P)".
  std::string Names(const std::vector<int>& groups) const {
    return absl::StrCat(
        absl::StrJoin(groups, "+"), " (",
        absl::StrJoin(groups, ", ",
                      [&](std::string* out, int g) {
                        out->append(
                            graph_.tensor(plan_.plan.groups[g].output).name);
                      }),
        ")");
  }

  void AddEdges(const GpuTilePlan& plan) {
    std::vector<LevelOfEdge> edges = LevelsOfEdges(graph_, plan);
    std::stable_sort(edges.begin(), edges.end(),
                     [](const LevelOfEdge& a, const LevelOfEdge& b) {
                       return a.level->name() < b.level->name();
                     });
    for (size_t i = 0; i < edges.size(); ++i) {
      if (i == 0 || edges[i].level != edges[i - 1].level)
        absl::StrAppend(&text_, i == 0 ? "  edges in " : "; in ",
                        edges[i].level->name(), ":");
      absl::StrAppend(&text_, " ", graph_.tensor(edges[i].tensor).name, "->",
                      graph_.tensor(edges[i].reader).name);
    }
    if (!edges.empty()) text_ += "\n";
  }

  // Groups that are fused already are left out: only what there was to decide
  // is listed.
  void Add(const GpuKernel& kernel, const GpuAlternative& other) {
    if (std::includes(kernel.groups.begin(), kernel.groups.end(),
                      other.groups.begin(), other.groups.end()))
      return;
    absl::StrAppend(&text_, "  not fused as ", Names(other.groups), ": ");
    if (!other.tiles) {
      absl::StrAppend(&text_, other.why, "\n");
      return;
    }
    std::vector<GpuTilePlan> unfused;
    for (const GpuKernel& one : plan_.kernels) {
      for (size_t i = 0; i < one.unfused.size(); ++i)
        if (std::binary_search(other.groups.begin(), other.groups.end(),
                               one.groups[i]))
          unfused.push_back(one.unfused[i]);
    }
    absl::StrAppend(&text_, Microseconds(other.tiles->cost.seconds),
                    " instead of ", Microseconds(other.unfused_seconds), ", ",
                    Compared(other.tiles->cost.seconds, other.unfused_seconds),
                    ", with ", UseText(*other.tiles, unfused), "; limited by ",
                    LimitText(*other.tiles), "\n");
  }

  const TensorGraph& graph_;
  const GpuPlan& plan_;
  std::string text_;
};

}  // namespace

std::string WhyText(const TensorGraph& graph, const GpuPlan& plan, int group) {
  Writer writer(graph, plan);
  for (const GpuKernel& kernel : plan.kernels) {
    if (group < 0 ||
        std::binary_search(kernel.groups.begin(), kernel.groups.end(), group))
      writer.Add(kernel);
  }
  return std::move(writer).Take();
}

}  // namespace tilewright
