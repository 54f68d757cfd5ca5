// group_tile: the outer tile loops of a group, the only parallel ones.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"

namespace tilewright::sketch {
namespace {

// Ok if the block has a nest of its own at the root.
absl::Status CheckOwnNest(const Path& path) {
  for (size_t i = 1; i < path.size(); ++i) {
    if (path[i].siblings->size() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(path.back().node().block->name,
                       " shares its loops with other blocks; group_tile comes "
                       "before compute_at"));
    }
  }
  return absl::OkStatus();
}

// The loops of one output inside the shared task loops, and the block with its
// new bindings.
NodePtr InnerNest(Replayer& replayer, Block block,
                  const std::vector<Loop>& tasks,
                  const std::vector<Factors>& tiles) {
  std::vector<Loop> loops;
  block.predicates.clear();
  for (size_t i = 0; i < block.bindings.size(); ++i) {
    bool reduce = i >= block.axes.size();
    const Axis& axis =
        reduce ? block.reduce_axes[i - block.axes.size()] : block.axes[i];
    Loop loop;
    loop.var = replayer.NewVar();
    loop.name = axis.name;
    loop.extent = reduce ? axis.extent.value() : tiles[i][1];
    Expr value = Expr::Var(loop.var, loop.name);
    if (!reduce) {
      value = Expr::Var(tasks[i].var, tasks[i].name) * Expr::Int(loop.extent) +
              value;
      if (tasks[i].extent * loop.extent > axis.extent.value()) {
        block.predicates.push_back(
            Expr::Make(Op::kLt, {value, Expr::Int(axis.extent.value())}));
      }
    }
    block.bindings[i] = value;
    loops.push_back(std::move(loop));
  }
  return NestLoops(std::move(loops), MakeBlockNode(std::move(block)));
}

// The loops over tasks, one an axis.
absl::StatusOr<std::vector<Loop>> MakeTasks(
    Replayer& replayer, const std::vector<Axis>& axes,
    const std::vector<Factors>& factors_of) {
  if (factors_of.size() != axes.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "splits ", factors_of.size(), " of ", axes.size(), " axes"));
  }
  std::vector<Loop> tasks;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    const Factors& factors = factors_of[i];
    if (factors.size() != 2) {
      return absl::InvalidArgumentError(absl::StrCat(
          "axis ", axis.name, " has ", factors.size(),
          " factors, not two: its tasks, and the elements of a task"));
    }
    const absl::Status covers = CheckFactors(factors, axis.extent.value());
    if (!covers.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis.name, ": ", covers.message()));
    }
    Loop task;
    task.var = replayer.NewVar();
    task.name = axis.name + ".task";
    task.extent = factors[0];
    task.kind = LoopKind::kTask;
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace

absl::StatusOr<Results> ApplyGroupTile(Replayer& replayer,
                                       const Arguments& args) {
  BlockTree& tree = replayer.tree();
  bool has_tasks = false;
  ForEachLoop(tree.roots,
              [&](Loop& loop) { has_tasks |= loop.kind == LoopKind::kTask; });
  if (has_tasks)
    return absl::InvalidArgumentError("the group is tiled already");

  std::vector<size_t> roots;
  const std::vector<Axis>* axes = nullptr;
  for (Handle handle : args.operands) {
    TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(handle));
    TW_RETURN_IF_ERROR(CheckOwnNest(path));
    const Block& block = *path.back().node().block;
    if (std::find(roots.begin(), roots.end(), path[0].index) != roots.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(block.name, " is named twice"));
    }
    roots.push_back(path[0].index);
    if (axes == nullptr) axes = &block.axes;
    bool same = axes->size() == block.axes.size();
    for (size_t i = 0; same && i < axes->size(); ++i)
      same = (*axes)[i].extent == block.axes[i].extent;
    if (!same)
      return absl::InvalidArgumentError(absl::StrCat(
          block.name,
          " has another shape than the first output; they share no tiles"));
  }
  TW_ASSIGN_OR_RETURN(std::vector<Loop> tasks,
                      MakeTasks(replayer, *axes, args.factors));
  Results results;
  for (const Loop& task : tasks)
    results.push_back(HandleValue::OfLoop(task.var));
  if (tasks.empty()) return results;

  // In execution order, at the place of the last output: everything that feeds
  // them stands before it.
  std::sort(roots.begin(), roots.end());
  std::vector<NodePtr> nests;
  for (size_t root : roots) {
    Path path;
    Node* node = tree.roots[root].get();
    while (node->loop) node = node->loop->body[0].get();
    nests.push_back(
        InnerNest(replayer, std::move(*node->block), tasks, args.factors));
  }
  for (auto it = roots.rbegin(); it != roots.rend(); ++it)
    tree.roots.erase(tree.roots.begin() + static_cast<std::ptrdiff_t>(*it));
  tasks.back().body = std::move(nests);
  Loop innermost = std::move(tasks.back());
  tasks.pop_back();
  NodePtr nest =
      NestLoops(std::move(tasks), MakeLoopNode(std::move(innermost)));
  size_t place = roots.back() + 1 - roots.size();
  tree.roots.insert(tree.roots.begin() + static_cast<std::ptrdiff_t>(place),
                    std::move(nest));
  return results;
}

}  // namespace tilewright::sketch
