#include <string>
#include <utility>
#include <vector>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/tree_edit.h"

namespace tilewright::sketch {
namespace {

using absl::StatusCode;

// Y's tasks of 3 rows; T is computed in each.
BlockTree Tiled(const Workload& workload) {
  ScheduleWriter w;
  Handle t = w.Block("T"), y = w.Block("Y");
  std::vector<Handle> tasks = w.GroupTile({y}, {Factors{3, 3}, Factors{1, 5}});
  w.ComputeAt(t, tasks[1]);
  return *Replay(workload, std::move(w).Finish());
}
Block& BlockOf(BlockTree& tree, const std::string& name) {
  return *FindBlock(tree, name).back().node().block;
}

class BlockTreeInterpreterTest : public ::testing::Test {
 protected:
  void ExpectCaught(const std::string& message) {
    EXPECT_THAT(CheckTree(tree_, workload_, 1),
                StatusIs(StatusCode::kInternal, message))
        << tree_.ToString();
  }
  Workload workload_ = GemmRelu(7, 5, 4);
  BlockTree tree_ = Tiled(workload_);
};

TEST_F(BlockTreeInterpreterTest, AcceptsWhatIsRight) {
  EXPECT_THAT(CheckTree(tree_, workload_, 1), IsOk());
}

TEST_F(BlockTreeInterpreterTest, CatchesALostTail) {
  BlockOf(tree_, "Y").predicates.clear();
  ExpectCaught("Y: axis m = 7 leaves its extent");
}

TEST_F(BlockTreeInterpreterTest, CatchesAnElementLeftOut) {
  LoopsAround(FindBlock(tree_, "Y")).back()->extent = 4;
  ExpectCaught("Y element 4 is never written");
}

TEST_F(BlockTreeInterpreterTest, CatchesAWrongOrder) {
  std::vector<NodePtr>& body = LoopsAround(FindBlock(tree_, "T"))[1]->body;
  std::swap(body[0], body[1]);
  ExpectCaught("T[0, 0] is read before it is written");
}

TEST_F(BlockTreeInterpreterTest, CatchesABufferHeldTooSmallOrElsewhere) {
  Buffer& t = tree_.buffers[BlockOf(tree_, "T").dst[0]];
  Layout layout = t.layout;
  t.layout = Layout::RowMajor(std::vector<int64_t>{2, 5});
  ExpectCaught("T[2, 0] is not held");
  t.layout = layout;
  t.origin[0] = t.origin[0] + Expr::Int(1);
  ExpectCaught("T[0, 0] is not held");
}

TEST_F(BlockTreeInterpreterTest, CatchesTwoWritesOfOneElement) {
  Block& y = BlockOf(tree_, "Y");
  y.bindings[1] = Expr::Int(0);
  ExpectCaught("Y computes [0, 0] twice");
}

TEST_F(BlockTreeInterpreterTest, CatchesALostReductionStep) {
  LoopsAround(FindBlock(tree_, "T")).back()->extent = 3;
  ExpectCaught("Y element");
}

}  // namespace
}  // namespace tilewright::sketch
