#include "sketch/tree/block_tree.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tilewright::sketch {
namespace {

NodePtr CloneNode(const Node& node) {
  auto copy = std::make_unique<Node>();
  copy->block = node.block;
  if (node.loop) {
    Loop loop;
    loop.var = node.loop->var;
    loop.name = node.loop->name;
    loop.extent = node.loop->extent;
    loop.kind = node.loop->kind;
    loop.hints = node.loop->hints;
    for (const NodePtr& child : node.loop->body)
      loop.body.push_back(CloneNode(*child));
    copy->loop = std::move(loop);
  }
  return copy;
}

const char* KindName(LoopKind kind) {
  switch (kind) {
    case LoopKind::kSerial:
      return "for";
    case LoopKind::kTask:
      return "task";
    case LoopKind::kUnroll:
      return "unroll";
    case LoopKind::kTile:
      return "tile";
    case LoopKind::kThread:
      return "thread";
    case LoopKind::kWarp:
      return "warp";
    case LoopKind::kLane:
      return "lane";
    case LoopKind::kVthread:
      return "vthread";
  }
  return "?";
}

std::string HintsText(const LoopHints& hints) {
  return absl::StrCat(
      hints.unroll > 0 ? absl::StrCat(" unroll ", hints.unroll) : "",
      hints.prefetch >= 0 ? absl::StrCat(" prefetch ", hints.prefetch) : "",
      hints.stages > 1 ? absl::StrCat(" stages ", hints.stages) : "",
      hints.buffers > 1 ? absl::StrCat(" buffers ", hints.buffers) : "");
}

const char* LevelName(MemLevel level) {
  switch (level) {
    case MemLevel::kGlobal:
      return "global";
    case MemLevel::kScratch:
      return "scratch";
    case MemLevel::kRegisters:
      return "registers";
  }
  return "?";
}

std::string Exprs(const std::vector<Expr>& exprs) {
  return absl::StrJoin(exprs, ", ", [](std::string* out, const Expr& e) {
    out->append(e.ToString());
  });
}

void AppendBlock(const Block& block, const std::string& indent,
                 std::string& out) {
  absl::StrAppend(&out, indent, block.name);
  for (int buffer : block.dst) absl::StrAppend(&out, " %", buffer);
  absl::StrAppend(&out, "[", Exprs(block.dst_index), "]");
  absl::StrAppend(&out, " = ",
                  block.combiner ? block.combiner->ToString() + " " : "",
                  Exprs(block.body));
  if (block.guard) absl::StrAppend(&out, " where ", block.guard.ToString());
  if (block.nonzero)
    absl::StrAppend(&out, " nonzero where ", block.nonzero.ToString());
  if (block.rescaling)
    absl::StrAppend(&out, " rescaled ", block.rescaling.ToString());
  if (!block.intrinsic.empty())
    absl::StrAppend(&out, " intrinsic ", block.intrinsic);
  absl::StrAppend(&out, "\n", indent, "  at ");
  for (size_t i = 0; i < block.bindings.size(); ++i) {
    bool reduce = i >= block.axes.size();
    const Axis& axis =
        reduce ? block.reduce_axes[i - block.axes.size()] : block.axes[i];
    absl::StrAppend(&out, i == 0 ? "" : ", ", reduce ? "reduce " : "",
                    axis.name, ":", axis.extent.ToString(), " = ",
                    block.bindings[i].ToString());
  }
  if (!block.predicates.empty())
    absl::StrAppend(&out, " if ", Exprs(block.predicates));
  if (block.running >= 0)
    absl::StrAppend(&out, " as far as %", block.running, " has come");
  if (block.rolling)
    absl::StrAppend(&out, " rolling ", block.RollingCondition().ToString());
  out += "\n";
}

void AppendNodes(const std::vector<NodePtr>& nodes, const std::string& indent,
                 std::string& out) {
  for (const NodePtr& node : nodes) {
    if (node->loop) {
      const Loop& loop = *node->loop;
      absl::StrAppend(&out, indent, KindName(loop.kind), " ", loop.name, "#",
                      loop.var, " in 0..", loop.extent, HintsText(loop.hints),
                      "\n");
      AppendNodes(loop.body, indent + "  ", out);
    }
    if (node->block) AppendBlock(*node->block, indent, out);
  }
}

}  // namespace

Expr Block::RollingCondition() const {
  if (!rolling) return Expr();
  return Expr::Make(
      Op::kOr, {Expr::Make(Op::kLt, {Expr::Var(rolling->loop_var, "rolling"),
                                     Expr::Int(1)}),
                Expr::Make(Op::kGe, {bindings[rolling->dim], rolling->from})});
}

BlockTree BlockTree::Clone() const {
  BlockTree copy;
  copy.buffers = buffers;
  for (const NodePtr& root : roots) copy.roots.push_back(CloneNode(*root));
  copy.num_vars = num_vars;
  return copy;
}

std::string BlockTree::ToString() const {
  std::string out;
  for (const Buffer& buffer : buffers) {
    absl::StrAppend(&out, "%", buffer.id, " ", buffer.name, ": ",
                    std::string(Name(buffer.dtype)), " ",
                    LevelName(buffer.level), " ", buffer.layout.ToString());
    if (buffer.level != MemLevel::kGlobal)
      absl::StrAppend(&out, " from [", Exprs(buffer.origin), "]");
    if (!buffer.swizzle.none())
      absl::StrAppend(&out, " swizzle ", buffer.swizzle.ToString());
    out += "\n";
  }
  AppendNodes(roots, "", out);
  return out;
}

}  // namespace tilewright::sketch
