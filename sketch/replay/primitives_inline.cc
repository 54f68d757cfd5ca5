// compute_inline, reverse_compute_inline: one body goes into another.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"
#include "sketch/tree/coverage.h"
#include "sketch/tree/elementwise.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kMaxBodyNodes = 1 << 14;

// Nodes of the body written out, or kMaxBodyNodes + 1 if there are more.
int64_t CountNodes(const Expr& expr) {
  int64_t count = 1;
  for (const Expr& operand : expr.operands()) {
    count += CountNodes(operand);
    if (count > kMaxBodyNodes) return kMaxBodyNodes + 1;
  }
  return count;
}

// How often `body` loads `buffer`, written out.
int64_t CountLoads(const Expr& body, int buffer) {
  int64_t count = 0;
  Visit(body, [&](const Expr& e) {
    count += e.op() == Op::kLoad && e.source() == buffer;
  });
  return count;
}

Expr AsDType(const Expr& value, DType dtype) {
  return value.dtype() == dtype ? value : Expr::Cast(dtype, value);
}

}  // namespace

absl::StatusOr<Results> ApplyComputeInline(Replayer& replayer,
                                           const Arguments& args) {
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(args.operands[0]));
  const Block& producer = *path.back().node().block;
  BlockTree& tree = replayer.tree();
  if (producer.combiner)
    return absl::InvalidArgumentError(
        absl::StrCat(producer.name, " is a reduction"));
  const int buffer = producer.dst[0];
  if (tree.buffers[buffer].level == MemLevel::kGlobal) {
    return absl::InvalidArgumentError(
        absl::StrCat(producer.name, " leaves the group and must be stored"));
  }
  const Expr value = AsDType(producer.body[0], tree.buffers[buffer].dtype);
  const int64_t value_nodes = CountNodes(value);
  int readers = 0;
  absl::Status status;
  ForEachBlock(tree.roots, [&](Block& block) {
    for (Expr& body : block.body) {
      int64_t loads = CountLoads(body, buffer);
      if (loads == 0 || !status.ok()) continue;
      ++readers;
      if (CountNodes(body) + loads * value_nodes > kMaxBodyNodes) {
        status = absl::InvalidArgumentError(absl::StrCat(
            "the body of ", block.name, " would become too large"));
        continue;
      }
      body = Rewrite(body, [&](const Expr& e) {
        if (e.op() != Op::kLoad || e.source() != buffer) return Expr();
        return Substitute(value, [&](int axis) { return e.operand(axis); });
      });
      if (CountNodes(body) > kMaxBodyNodes) {
        status = absl::InvalidArgumentError(absl::StrCat(
            "the body of ", block.name, " would become too large"));
      }
    }
  });
  TW_RETURN_IF_ERROR(status);
  if (readers == 0)
    return absl::InvalidArgumentError(
        absl::StrCat("nothing reads ", producer.name));
  Remove(tree, std::move(path));
  return Results{};
}

absl::StatusOr<Results> ApplyReverseComputeInline(Replayer& replayer,
                                                  const Arguments& args) {
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(args.operands[0]));
  BlockTree& tree = replayer.tree();
  const Block& consumer = *path.back().node().block;
  if (consumer.combiner)
    return absl::InvalidArgumentError(
        absl::StrCat(consumer.name, " is a reduction"));

  // The last block that feeds it: everything else it reads is there by then.
  Path producer_path;
  for (const Block* block : AllBlocks(tree)) {
    if (block == &consumer) break;
    for (int loaded : LoadedBuffers(consumer)) {
      if (WritesTo(*block, loaded))
        producer_path = FindBlock(tree, block->name);
    }
  }
  if (producer_path.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("nothing in the group feeds ", consumer.name));
  Block& producer = *producer_path.back().node().block;
  if (producer.combiner) {
    return absl::UnimplementedError(absl::StrCat(
        producer.name,
        " is a reduction; cache_write it and inline into the copy"));
  }
  const int buffer = producer.dst[0];
  if (tree.buffers[buffer].level == MemLevel::kGlobal) {
    return absl::InvalidArgumentError(
        absl::StrCat(producer.name, " leaves the group and must be stored"));
  }
  for (const Block* block : AllBlocks(tree)) {
    for (int loaded : LoadedBuffers(*block)) {
      if (loaded == buffer && block != &consumer) {
        return absl::InvalidArgumentError(
            absl::StrCat(block->name, " reads ", producer.name, " too"));
      }
    }
  }
  if (!IsElementwiseIn(consumer, producer, buffer))
    return absl::InvalidArgumentError(
        absl::StrCat(consumer.name, " is not elementwise in ", producer.name));

  const Expr value = AsDType(producer.body[0], tree.buffers[buffer].dtype);
  if (CountNodes(consumer.body[0]) +
          CountLoads(consumer.body[0], buffer) * CountNodes(value) >
      kMaxBodyNodes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the body of ", producer.name, " would become too large"));
  }
  producer.body[0] = Rewrite(consumer.body[0], [&](const Expr& e) {
    return e.op() == Op::kLoad && e.source() == buffer ? value : Expr();
  });
  producer.dst = consumer.dst;
  Buffer& target = tree.buffers[consumer.dst[0]];
  if (target.level == MemLevel::kGlobal) {
    std::vector<const Loop*> loops;
    for (Loop* loop : LoopsAround(producer_path)) loops.push_back(loop);
    if (CoversOnce(producer, 0, producer.axes.size(), loops,
                   LoopRanges(tree)) != Coverage::kYes) {
      return absl::InvalidArgumentError(absl::StrCat(
          producer.name, " does not compute every element exactly once"));
    }
  } else {
    target.origin = tree.buffers[buffer].origin;
    target.layout = tree.buffers[buffer].layout;
    target.level = tree.buffers[buffer].level;
  }
  Remove(tree, std::move(path));
  return Results{};
}

}  // namespace tilewright::sketch
