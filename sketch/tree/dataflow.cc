#include "sketch/tree/dataflow.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/tree/block_region.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {
namespace {

IsInner LoopsFrom(const Path& path, size_t depth) {
  std::set<int> vars;
  for (size_t i = depth; i + 1 < path.size(); ++i)
    vars.insert(path[i].node().loop->var);
  return [vars = std::move(vars)](int var) { return vars.count(var) != 0; };
}

Region WrittenRegion(const Block& block, const IsInner& is_inner,
                     const RangeOf& ranges) {
  Region region;
  const std::vector<Expr> predicates = InitPredicates(block);
  for (size_t i = 0; i < block.axes.size(); ++i) {
    region.push_back(IteratedRegion(block.bindings[i],
                                    block.axes[i].extent.value(), predicates,
                                    is_inner, ranges));
  }
  return region;
}

int64_t HullExtent(const RegionDim& dim) {
  return (dim.extent - 1) * dim.step + 1;
}

// Whether what exists of `part` (inside 0..extent-1) is in `whole`, for all
// values of the variables in their bases.
bool Contains(const RegionDim& whole, const RegionDim& part, int64_t extent,
              const RangeOf& ranges) {
  std::optional<Range> difference = RangeOfExpr(part.base - whole.base, ranges);
  std::optional<Range> base = RangeOfExpr(whole.base, ranges);
  if (!base) return false;
  bool low = (difference && difference->min >= 0) || base->max <= 0;
  bool high =
      (difference && difference->max + HullExtent(part) <= HullExtent(whole)) ||
      base->min + HullExtent(whole) >= extent;
  return low && high && (whole.step == 1 || whole.extent == 1);
}

// Whether the predicate only cuts off elements that do not exist.
bool IsClip(const Expr& predicate, const Block& block, const RangeOf& ranges) {
  for (size_t i = 0; i < block.axes.size(); ++i) {
    Expr bound = predicate.op() == Op::kLt
                     ? Expr::Int(block.axes[i].extent.value())
                     : Expr::Int(0);
    if (predicate.op() != Op::kLt && predicate.op() != Op::kGe) return false;
    if (predicate.operand(1) == bound &&
        ToLinear(predicate.operand(0) - block.bindings[i], ranges)
            .ToExpr()
            .IsIntConst(0))
      return true;
  }
  return false;
}

// Where the reader runs, the writer has run: the predicates that the loops
// common to both decide, other than clips, are the reader's too.
absl::Status CheckPredicates(const Block& writer, const Block& reader,
                             const IsInner& inside_writer,
                             const RangeOf& ranges) {
  for (const Expr& p : FixedPredicates(writer, inside_writer)) {
    bool shared = std::find(reader.predicates.begin(), reader.predicates.end(),
                            p) != reader.predicates.end();
    if (shared || IsClip(p, writer, ranges) ||
        Simplify(p, ranges).IsIntConst(1))
      continue;
    return absl::InvalidArgumentError(
        absl::StrCat(reader.name, " may run where ", writer.name,
                     ", whose result it reads, does not: ", p.ToString()));
  }
  return absl::OkStatus();
}

// The buffers that one block reads, by how many loops are around it and the
// writer.
struct ReadsAtDepth {
  std::set<int> buffers;
  std::optional<std::map<int, Region>> needed;  // once a check asks for them
};

absl::Status CheckRead(BlockTree& tree, const Block& reader,
                       const Path& reader_path, int buffer,
                       const Path& writer_path, const RangeOf& ranges,
                       ReadsAtDepth& reads) {
  const Buffer& held = tree.buffers[buffer];
  if (writer_path.empty()) {
    if (held.level == MemLevel::kGlobal) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        reader.name, " reads ", held.name, ", which nothing writes"));
  }
  const Block& writer = *writer_path.back().node().block;
  size_t common = CommonDepth(writer_path, reader_path);
  // The result so far is there from the start of that loop on.
  const bool running = reader.running == buffer && writer.combiner;
  bool reduces = false;
  for (size_t i = 0; i < common; ++i)
    reduces |= CarriesReduction(*writer_path[i].node().loop, writer);
  if (running && !reduces)
    return absl::InvalidArgumentError(
        absl::StrCat(reader.name, " reads ", held.name,
                     " as far as it has come outside the loops in which it "
                     "does"));
  if (!running && (common >= writer_path.size() ||
                   writer_path[common].index >= reader_path[common].index)) {
    return absl::InvalidArgumentError(
        absl::StrCat(reader.name, " reads ", held.name, " before ", writer.name,
                     " has computed it"));
  }
  for (size_t i = 0; i < common && !running; ++i) {
    const Loop& loop = *writer_path[i].node().loop;
    if (CarriesReduction(loop, writer)) {
      return absl::InvalidArgumentError(
          absl::StrCat(reader.name, " reads ", held.name, " inside loop ",
                       loop.name, ", which still reduces into it"));
    }
  }
  if (common == 0) return absl::OkStatus();  // all of it is computed by now
  TW_RETURN_IF_ERROR(
      CheckPredicates(writer, reader, LoopsFrom(writer_path, common), ranges));
  Region written =
      WrittenRegion(writer, LoopsFrom(writer_path, common), ranges);
  if (!reads.needed) {
    TW_ASSIGN_OR_RETURN(reads.needed,
                        NeededRegions(tree, reader, reads.buffers,
                                      LoopsFrom(reader_path, common), ranges));
  }
  const auto found = reads.needed->find(buffer);
  if (found == reads.needed->end()) {
    return absl::NotFoundError(
        absl::StrCat("no region of ", held.name, " for ", reader.name));
  }
  const Region& needed = found->second;
  std::vector<int64_t> shape = LogicalShape(tree, buffer);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!written[i].exact) {
      return absl::InvalidArgumentError(absl::StrCat(
          "which part of ", held.name, " ", writer.name, " computes there for ",
          reader.name, " cannot be told: ", written[i].why));
    }
    if (!Contains(written[i], needed[i], shape[i], ranges)) {
      return absl::InvalidArgumentError(absl::StrCat(
          reader.name, " needs more of ", held.name, " than ", writer.name,
          " computes there: ", ToString(Region{needed[i]}), " of ",
          ToString(Region{written[i]}), " in dimension ", i));
    }
  }
  return absl::OkStatus();
}

// Regions of what stands in the same loops are found together.
absl::Status CheckReads(BlockTree& tree, const Block& reader,
                        const Path& reader_path, const RangeOf& ranges) {
  const std::vector<int> loaded = LoadedBuffers(reader);
  std::vector<Path> writers;
  std::map<size_t, ReadsAtDepth> at_depth;
  for (const int buffer : loaded) {
    writers.push_back(FindWriter(tree, buffer));
    at_depth[CommonDepth(writers.back(), reader_path)].buffers.insert(buffer);
  }
  for (size_t i = 0; i < loaded.size(); ++i) {
    TW_RETURN_IF_ERROR(
        CheckRead(tree, reader, reader_path, loaded[i], writers[i], ranges,
                  at_depth[CommonDepth(writers[i], reader_path)]));
  }
  return absl::OkStatus();
}

// The coefficient of the variable in a linear expression; nullopt: it occurs
// in another way.
std::optional<int64_t> SlopeIn(const Expr& expr, int var,
                               const RangeOf& ranges) {
  const LinearForm form = ToLinear(expr, ranges);
  for (const auto& [term, coefficient] : form.terms) {
    const bool plain = term.op() == Op::kVar && term.var_id() == var;
    if (!plain && Mentions(term, var)) return std::nullopt;
  }
  return form.CoefficientOf(var);
}

// Once it fails along the loop, it fails for good.
bool OnlyEnds(const Expr& predicate, int var, const RangeOf& ranges) {
  if (predicate.op() != Op::kLt && predicate.op() != Op::kGe) return false;
  const std::optional<int64_t> slope =
      SlopeIn(predicate.operand(0) - predicate.operand(1), var, ranges);
  return slope && (predicate.op() == Op::kLt ? *slope >= 0 : *slope <= 0);
}

// Each iteration's region begins where `rolling` says that the one before
// ended, and its buffers hold a whole region.
absl::Status CheckRollingRegion(const BlockTree& tree, const Block& block,
                                const IsInner& inside, const RangeOf& ranges) {
  const Rolling& rolling = *block.rolling;
  const auto fault = [&](const std::string& what) {
    return absl::InvalidArgumentError(
        absl::StrCat(block.name, " cannot roll: ", what));
  };
  const Region region = WrittenRegion(block, inside, ranges);
  for (size_t i = 0; i < region.size(); ++i) {
    const std::optional<int64_t> slope =
        SlopeIn(region[i].base, rolling.loop_var, ranges);
    if (!region[i].exact || !slope ||
        (*slope != 0 && static_cast<int>(i) != rolling.dim))
      return fault(absl::StrCat("how axis ", block.axes[i].name,
                                " moves with the loop"));
    if (static_cast<int>(i) != rolling.dim) continue;
    const Expr kept = Simplify(rolling.from - region[i].base, ranges);
    if (*slope < 1 || region[i].step != 1 || kept.op() != Op::kConst ||
        kept.int_value() + *slope > region[i].extent)
      return fault("an iteration needs more than the one before has computed");
    for (const int dst : block.dst) {
      const Buffer& buffer = tree.buffers[dst];
      if (buffer.level != MemLevel::kScratch ||
          buffer.layout.Places(rolling.dim) < region[i].extent)
        return fault(absl::StrCat(buffer.name, " does not keep its region"));
    }
  }
  for (const int dst : block.dst) {
    for (const Expr& origin : tree.buffers[dst].origin) {
      bool moves = Mentions(origin, rolling.loop_var);
      Visit(origin, [&](const Expr& e) {
        moves |= e.op() == Op::kVar && inside(e.var_id());
      });
      if (moves) return fault("its buffer moves inside the loop");
    }
  }
  for (const Expr& p : block.predicates) {
    if (Mentions(p, rolling.loop_var) && !IsClip(p, block, ranges) &&
        !OnlyEnds(p, rolling.loop_var, ranges))
      return fault(absl::StrCat("it runs only where ", p.ToString()));
  }
  return absl::OkStatus();
}

// Blocks in the loops of a rolling block are computed as often as it is; blocks
// that read it, in every iteration.
absl::Status CheckRolling(BlockTree& tree, const Block& block,
                          const RangeOf& ranges) {
  if (!block.rolling) return absl::OkStatus();
  const Path path = FindBlock(tree, block.name);
  size_t depth = 0;
  while (depth + 1 < path.size() &&
         path[depth].node().loop->var != block.rolling->loop_var)
    ++depth;
  if (++depth >= path.size() ||
      path[depth - 1].node().loop->kind != LoopKind::kSerial)
    return absl::InvalidArgumentError(absl::StrCat(
        block.name, " rolls along a loop that is no longer around it"));
  TW_RETURN_IF_ERROR(
      CheckRollingRegion(tree, block, LoopsFrom(path, depth), ranges));
  const auto shared = [&](const Block& other) {
    return CommonDepth(path, FindBlock(tree, other.name));
  };
  const std::vector<const Block*> all = AllBlocks(tree);
  for (const Block* other : all) {
    if (other == &block) continue;
    const bool within = shared(*other) > depth;
    for (const int read : LoadedBuffers(*other)) {
      if (WritesTo(block, read) && shared(*other) != depth)
        return absl::InvalidArgumentError(
            absl::StrCat(other->name, " does not read ", block.name,
                         " in each of the iterations that it rolls along"));
    }
    if (within && other->rolling)
      return absl::InvalidArgumentError(
          absl::StrCat(other->name, " rolls inside ", block.name,
                       ", which leaves out steps"));
    for (const int dst : other->dst) {
      if (within && tree.buffers[dst].level == MemLevel::kGlobal)
        return absl::InvalidArgumentError(
            absl::StrCat(other->name, " leaves the group and stands inside ",
                         block.name, ", which leaves out steps"));
      for (const Block* reader : all) {
        const std::vector<int> reads = LoadedBuffers(*reader);
        if (within && reader != &block && shared(*reader) <= depth &&
            std::find(reads.begin(), reads.end(), dst) != reads.end())
          return absl::InvalidArgumentError(
              absl::StrCat(reader->name, " needs all of ", other->name,
                           ", which stands inside ", block.name));
      }
    }
  }
  return absl::OkStatus();
}

// Checks that a block writes into the part of the tensor that is held.
absl::Status CheckWrite(BlockTree& tree, const Block& block, int buffer,
                        const RangeOf& ranges) {
  const Buffer& held = tree.buffers[buffer];
  std::vector<int64_t> shape = LogicalShape(tree, buffer);
  const std::vector<Expr> predicates = InitPredicates(block);
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t extent = held.layout.shape()[i];
    if (held.origin[i].IsIntConst(0) && extent == shape[i]) continue;
    auto is_inner = [&](int var) { return !Mentions(held.origin[i], var); };
    RegionDim written = IteratedRegion(block.bindings[i], shape[i], predicates,
                                       is_inner, ranges);
    RegionDim part;
    part.base = held.origin[i];
    part.extent = extent;
    if (!Contains(part, written, shape[i], ranges)) {
      return absl::InvalidArgumentError(
          absl::StrCat(block.name, " writes beyond the part of ", held.name,
                       " that is held, in dimension ", i));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDataflow(const BlockTree& const_tree) {
  BlockTree tree = const_tree.Clone();  // paths are for trees that may change
  RangeOf ranges = LoopRanges(tree);
  for (const Block* block : AllBlocks(tree)) {
    const Path path = FindBlock(tree, block->name);
    TW_RETURN_IF_ERROR(CheckReads(tree, *block, path, ranges));
    for (int buffer : block->dst)
      TW_RETURN_IF_ERROR(CheckWrite(tree, *block, buffer, ranges));
    TW_RETURN_IF_ERROR(CheckRolling(tree, *block, ranges));
  }
  // A part that is held moves with the loops of its origin: whoever uses it
  // stands inside them.
  for (const Block* block : AllBlocks(tree)) {
    std::vector<int> used = LoadedBuffers(*block);
    used.insert(used.end(), block->dst.begin(), block->dst.end());
    Path path = FindBlock(tree, block->name);
    auto is_outer = LoopsFrom(path, 0);
    for (int buffer : used) {
      for (const Expr& origin : tree.buffers[buffer].origin) {
        bool inside = true;
        Visit(origin, [&](const Expr& e) {
          inside = inside && (e.op() != Op::kVar || is_outer(e.var_id()));
        });
        if (!inside) {
          return absl::InvalidArgumentError(
              absl::StrCat(block->name, " uses ", tree.buffers[buffer].name,
                           " outside the loops whose part of it is held"));
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTasks(const BlockTree& const_tree) {
  BlockTree tree = const_tree.Clone();
  size_t depth = 0;
  ForEachLoop(tree.roots,
              [&](Loop& loop) { depth += loop.kind == LoopKind::kTask; });
  for (const Block* block : AllBlocks(tree)) {
    size_t around = 0;
    for (Loop* loop : LoopsAround(FindBlock(tree, block->name)))
      around += loop->kind == LoopKind::kTask;
    if (around != depth) {
      return absl::InvalidArgumentError(absl::StrCat(
          block->name,
          " stands outside the task loops; compute_at it there or inline it"));
    }
  }
  return absl::OkStatus();
}

}  // namespace tilewright::sketch
