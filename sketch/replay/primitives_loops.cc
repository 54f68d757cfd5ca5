// split, fuse, reorder: the loops of one nest.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"

namespace tilewright::sketch {
namespace {

// Far above any useful schedule; bounds what a garbage trace can cost.
constexpr size_t kMaxParts = 16;
constexpr int64_t kMaxExtent = int64_t{1} << 48;

}  // namespace

absl::StatusOr<Results> ApplySplit(Replayer& replayer, const Arguments& args) {
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindLoopOf(args.operands[0]));
  const Factors& factors = args.factors[0];
  Node& node = path.back().node();
  Loop& old = *node.loop;
  if (old.kind == LoopKind::kTask)
    return absl::InvalidArgumentError(
        "task loops are made by group_tile and cannot be split");
  TW_RETURN_IF_ERROR(CheckFactors(factors, old.extent));
  if (factors.size() > kMaxParts)
    return absl::InvalidArgumentError(
        absl::StrCat("more than ", kMaxParts, " parts"));

  std::vector<Loop> parts;
  Results results;
  Expr value;
  int64_t product = 1;
  for (size_t i = 0; i < factors.size(); ++i) {
    Loop part;
    part.var = replayer.NewVar();
    part.name = absl::StrCat(old.name, ".", i);
    part.extent = factors[i];
    part.kind = old.kind;
    Expr var = Expr::Var(part.var, part.name);
    value = i == 0 ? var : value * Expr::Int(part.extent) + var;
    if (__builtin_mul_overflow(product, part.extent, &product) ||
        product > kMaxExtent) {
      return absl::InvalidArgumentError("the factors' product is too large");
    }
    results.push_back(HandleValue::OfLoop(part.var));
    parts.push_back(std::move(part));
  }
  const int old_var = old.var;
  if (product > old.extent) {
    Expr in_range = Expr::Make(Op::kLt, {value, Expr::Int(old.extent)});
    ForEachBlock(old.body,
                 [&](Block& block) { block.predicates.push_back(in_range); });
  }
  parts.back().body = std::move(old.body);
  while (parts.size() > 1) {
    NodePtr inner = MakeLoopNode(std::move(parts.back()));
    parts.pop_back();
    parts.back().body.push_back(std::move(inner));
  }
  node.loop = std::move(parts[0]);
  SubstituteLoopVars(replayer.tree(),
                     [&](int var) { return var == old_var ? value : Expr(); });
  return results;
}

absl::StatusOr<Results> ApplyFuse(Replayer& replayer, const Arguments& args) {
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindLoopOf(args.operands[0]));
  Node& outermost = path.back().node();
  std::vector<Loop*> loops = {&*outermost.loop};
  for (size_t i = 1; i < args.operands.size(); ++i) {
    TW_ASSIGN_OR_RETURN(Path next, replayer.FindLoopOf(args.operands[i]));
    Loop& outer = *loops.back();
    Loop& inner = *next.back().node().loop;
    if (outer.body.size() != 1 || !outer.body[0]->loop ||
        &*outer.body[0]->loop != &inner) {
      return absl::InvalidArgumentError(absl::StrCat(
          "loop ", inner.name, " is not the only thing inside ", outer.name));
    }
    if (inner.kind != outer.kind)
      return absl::InvalidArgumentError(
          absl::StrCat(outer.name, " and ", inner.name, " differ in kind"));
    loops.push_back(&inner);
  }
  Loop fused;
  fused.var = replayer.NewVar();
  fused.extent = 1;
  fused.kind = loops[0]->kind;
  for (const Loop* loop : loops) {
    absl::StrAppend(&fused.name, fused.name.empty() ? "" : "_", loop->name);
    if (__builtin_mul_overflow(fused.extent, loop->extent, &fused.extent) ||
        fused.extent > kMaxExtent) {
      return absl::InvalidArgumentError("the fused loop is too long");
    }
  }
  // A loop that is partly a reduction would leave no place for the init.
  std::string mixed;
  ForEachBlock(loops.back()->body, [&](Block& block) {
    size_t reducing = 0;
    for (const Loop* loop : loops) reducing += CarriesReduction(*loop, block);
    if (reducing != 0 && reducing != loops.size()) mixed = block.name;
  });
  if (!mixed.empty())
    return absl::InvalidArgumentError(absl::StrCat(
        "some of the loops carry a reduction of ", mixed, ", others do not"));
  std::map<int, Expr> value_of;
  Expr var = Expr::Var(fused.var, fused.name);
  int64_t inner_extent = 1;
  for (size_t i = loops.size(); i-- > 0;) {
    Expr digit = FloorDiv(var, Expr::Int(inner_extent));
    value_of[loops[i]->var] =
        i == 0 ? digit : FloorMod(digit, Expr::Int(loops[i]->extent));
    inner_extent *= loops[i]->extent;
  }
  fused.body = std::move(loops.back()->body);
  Results results = {HandleValue::OfLoop(fused.var)};
  // The old loops live inside the one that is replaced: take it out before it
  // goes.
  std::optional<Loop> old = std::move(outermost.loop);
  outermost.loop = std::move(fused);
  SubstituteLoopVars(replayer.tree(), [&](int v) {
    auto it = value_of.find(v);
    return it == value_of.end() ? Expr() : it->second;
  });
  return results;
}

absl::StatusOr<Results> ApplyReorder(Replayer& replayer,
                                     const Arguments& args) {
  std::set<int> wanted;
  std::vector<int> order;
  Path deepest;
  for (Handle handle : args.operands) {
    TW_ASSIGN_OR_RETURN(Path path, replayer.FindLoopOf(handle));
    int var = path.back().node().loop->var;
    if (!wanted.insert(var).second)
      return absl::InvalidArgumentError(
          absl::StrCat("%", handle, " is named twice"));
    order.push_back(var);
    if (path.size() > deepest.size()) deepest = path;
  }
  // The loops from the outermost wanted one to the deepest: a perfect nest.
  std::vector<Loop*> chain;
  size_t found = 0;
  for (const Position& position : deepest) {
    Loop& loop = *position.node().loop;
    bool is_wanted = wanted.count(loop.var) != 0;
    found += is_wanted;
    if (!is_wanted && chain.empty()) continue;
    if (!chain.empty() && chain.back()->body.size() != 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "more than one thing stands inside loop ", chain.back()->name));
    }
    chain.push_back(&loop);
  }
  if (found != wanted.size())
    return absl::InvalidArgumentError("the loops are not of one nest");

  struct Head {
    int var;
    std::string name;
    int64_t extent;
    LoopKind kind;
    LoopHints hints;
  };
  std::map<int, Head> heads;
  for (Loop* loop : chain)
    heads[loop->var] =
        Head{loop->var, loop->name, loop->extent, loop->kind, loop->hints};
  std::vector<Head> reordered;
  size_t next = 0;
  for (Loop* loop : chain)
    reordered.push_back(
        heads[wanted.count(loop->var) != 0 ? order[next++] : loop->var]);
  auto rank = [](LoopKind kind) {
    return kind == LoopKind::kTask ? 0 : kind == LoopKind::kTile ? 2 : 1;
  };
  for (size_t i = 1; i < reordered.size(); ++i) {
    if (rank(reordered[i - 1].kind) > rank(reordered[i].kind)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "loop ", reordered[i - 1].name, " cannot stand outside ",
          reordered[i].name, ": tasks are outermost, tiles innermost"));
    }
  }
  for (size_t i = 0; i < chain.size(); ++i) {
    chain[i]->var = reordered[i].var;
    chain[i]->name = reordered[i].name;
    chain[i]->extent = reordered[i].extent;
    chain[i]->kind = reordered[i].kind;
    chain[i]->hints = reordered[i].hints;
  }
  return Results{};
}

}  // namespace tilewright::sketch
