#include "sketch/tree/block_tree_verifier.h"

#include <string>
#include <utility>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/tree/initial_tree.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::sketch {
namespace {

using absl::StatusCode;

// T[m: 4, n: 4] = sum over k: 4, then Y.
BlockTree Tree() { return *InitialTree(GemmRelu(4, 4, 4)); }
Block& BlockOf(BlockTree& tree, const std::string& name) {
  return *FindBlock(tree, name).back().node().block;
}
Loop& LoopAt(BlockTree& tree, const std::string& block, size_t depth) {
  return *LoopsAround(FindBlock(tree, block))[depth];
}

void ExpectFault(const BlockTree& tree, const std::string& message) {
  EXPECT_THAT(VerifyBlockTree(tree), StatusIs(StatusCode::kInternal, message))
      << tree.ToString();
}

TEST(BlockTreeVerifierTest, InitialTreeIsValidAndCloneIsEqual) {
  BlockTree tree = Tree();
  EXPECT_THAT(VerifyBlockTree(tree), IsOk());
  EXPECT_EQ(tree.Clone().ToString(), tree.ToString());
}

TEST(BlockTreeVerifierTest, AxisLeftUncoveredOrCoveredTwice) {
  BlockTree tree = Tree();
  LoopAt(tree, "Y", 0).extent = 3;
  ExpectFault(tree, "Y: does not compute every element exactly once");
  tree = Tree();
  LoopAt(tree, "Y", 0).extent = 5;
  ExpectFault(tree, "Y: does not compute every element exactly once");
  tree = Tree();
  LoopAt(tree, "T", 2).extent = 3;
  ExpectFault(tree, "T: its reduce loops do not take every step exactly once");
  tree = Tree();
  Block& y = BlockOf(tree, "Y");
  y.bindings[0] = y.bindings[1];
  ExpectFault(tree, "Y: does not compute every element exactly once");
  tree = Tree();
  LoopAt(tree, "T", 0).extent = 5;
  ExpectFault(tree, "T: axis m can leave its extent");
}

TEST(BlockTreeVerifierTest, MissingPredicateOfATail) {
  BlockTree tree = Tree();
  Path path = FindBlock(tree, "Y");
  Loop& m = *LoopsAround(path)[0];
  m.extent = 2;
  Loop inner;
  inner.var = tree.num_vars++;
  inner.name = "mi";
  inner.extent = 3;
  inner.body = std::move(m.body);
  m.body.clear();
  const int outer_var = m.var;
  Expr value =
      Expr::Var(outer_var, "m") * Expr::Int(3) + Expr::Var(inner.var, "mi");
  m.body.push_back(MakeLoopNode(std::move(inner)));
  BlockOf(tree, "Y").bindings[0] = value;
  ExpectFault(tree, "Y: does not compute every element exactly once");
  BlockOf(tree, "Y").predicates = {Expr::Make(Op::kLt, {value, Expr::Int(4)})};
  EXPECT_THAT(VerifyBlockTree(tree), IsOk());
}

TEST(BlockTreeVerifierTest, ReadBeforeWriteAndInsideTheReduction) {
  BlockTree tree = Tree();
  std::swap(tree.roots[0], tree.roots[1]);
  ExpectFault(tree, "Y reads T before T has computed it");
  tree = Tree();
  NodePtr y = Remove(tree, FindBlock(tree, "Y"));
  std::vector<Loop*> loops = LoopsAround(FindBlock(tree, "T"));
  for (size_t i = 0; i < 2; ++i)
    y->block->bindings[i] = Expr::Var(loops[i]->var, loops[i]->name);
  loops[1]->body.push_back(std::move(y));
  EXPECT_THAT(VerifyBlockTree(tree), IsOk()) << tree.ToString();
  y = Remove(tree, FindBlock(tree, "Y"));
  LoopAt(tree, "T", 2).body.push_back(std::move(y));
  EXPECT_THAT(VerifyBlockTree(tree), StatusIs(StatusCode::kInternal))
      << tree.ToString();
}

TEST(BlockTreeVerifierTest, LocalBufferTooSmall) {
  BlockTree tree = Tree();
  Buffer& t = tree.buffers[BlockOf(tree, "T").dst[0]];
  t.layout = Layout::RowMajor(std::vector<int64_t>{4, 3});
  ExpectFault(tree,
              "T writes beyond the part of T that is held, in dimension 1");
}

TEST(BlockTreeVerifierTest, KindsOfLoopsMisplaced) {
  BlockTree tree = Tree();
  LoopAt(tree, "Y", 0).kind = LoopKind::kTask;
  ExpectFault(tree, "task loops are not the outermost, perfect nest");
  tree = Tree();
  LoopAt(tree, "Y", 0).kind = LoopKind::kTile;
  ExpectFault(tree, "stands inside a tile");
  tree = Tree();
  LoopAt(tree, "T", 2).kind = LoopKind::kTile;
  ExpectFault(tree, "tile loop k carries a reduction");
}

TEST(BlockTreeVerifierTest, BrokenNamesAndIds) {
  BlockTree tree = Tree();
  BlockOf(tree, "Y").name = "T";
  ExpectFault(tree, "T: its name is not its own");
  tree = Tree();
  LoopAt(tree, "Y", 1).var = LoopAt(tree, "T", 0).var;
  ExpectFault(tree, "its variable is not its own");
  tree = Tree();
  BlockOf(tree, "Y").dst = {17};
  ExpectFault(tree, "Y: writes no buffer of its rank");
  tree = Tree();
  BlockOf(tree, "Y").body = {Expr::Load(17, DType::kFloat32, {})};
  ExpectFault(tree, "Y: buffer 17 does not exist");
  tree = Tree();
  BlockOf(tree, "Y").bindings[0] = Expr::Var(LoopAt(tree, "T", 0).var, "m");
  ExpectFault(tree, "outside its loop");
}

}  // namespace
}  // namespace tilewright::sketch
