#include "backends/lowering/threads/place_barriers.h"

#include <set>
#include <utility>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::Buffer;
using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::Role;
using kernel_ir::Stmt;
using kernel_ir::TileOp;

constexpr int kIn = 0, kShared = 1, kOut = 2;

// Kernels of nests of eight threads, each of one copy.
class BarriersTest : public ::testing::Test {
 protected:
  BarriersTest() {
    const auto add = [&](const char* name, Level level, Role role) {
      Buffer buffer;
      buffer.id = static_cast<int>(kernel_.buffers.size());
      buffer.name = name;
      buffer.dtype = DType::kFloat32;
      buffer.level = level;
      buffer.role = role;
      buffer.layout = Layout::RowMajor({8});
      kernel_.buffers.push_back(buffer);
    };
    add("in", Level::kGlobal, Role::kInput);
    add("shared", Level::kScratch, Role::kLocal);
    add("out", Level::kGlobal, Role::kOutput);
    kernel_.threads = 8;
  }

  Stmt Copy(int from, Expr at, int to, Expr index) {
    TileOp op;
    op.phase = TileOp::Phase::kMap;
    op.dst = {to};
    op.index = {std::move(index)};
    op.body = {Expr::Load(from, DType::kFloat32, {std::move(at)})};
    return Stmt{std::move(op)};
  }
  // Thread t copies element t, or 7 - t of `from`.
  Stmt Nest(int from, int to, bool reversed = false) {
    For loop;
    loop.var = kernel_.num_vars++;
    loop.name = "t";
    loop.extent = 8;
    loop.kind = For::Kind::kThread;
    const Expr t = Expr::Var(loop.var, "t");
    loop.body.push_back(Copy(from, reversed ? Expr::Int(7) - t : t, to, t));
    return Stmt{std::move(loop)};
  }
  Stmt Loop(std::vector<Stmt> body) {
    For loop;
    loop.var = kernel_.num_vars++;
    loop.name = "k";
    loop.extent = 3;
    loop.body = std::move(body);
    return Stmt{std::move(loop)};
  }
  // The numbers of the statements of `body` with a barrier before them.
  std::vector<int> Before(const std::vector<Stmt>& body) const {
    const auto barriers = PlaceBarriers(kernel_, {kShared, kOut});
    std::vector<int> numbers;
    for (size_t i = 0; i < body.size(); ++i) {
      if (barriers.count(&body[i]) > 0) numbers.push_back(static_cast<int>(i));
    }
    return numbers;
  }

  Kernel kernel_;
};

TEST_F(BarriersTest, BetweenWritesAndReadsOfOthers) {
  kernel_.body.push_back(Nest(kIn, kShared));
  kernel_.body.push_back(Nest(kShared, kOut, /*reversed=*/true));
  EXPECT_EQ(Before(kernel_.body), (std::vector<int>{1}));
}

TEST_F(BarriersTest, NoneWhereEachThreadReadsItsOwn) {
  kernel_.body.push_back(Nest(kIn, kShared));
  kernel_.body.push_back(Nest(kShared, kOut));
  EXPECT_EQ(Before(kernel_.body), (std::vector<int>{}));
}

TEST_F(BarriersTest, BeforeTheNextIterationOverwritesWhatIsRead) {
  std::vector<Stmt> body;
  body.push_back(Nest(kIn, kShared));
  body.push_back(Nest(kShared, kOut, /*reversed=*/true));
  kernel_.body.push_back(Loop(std::move(body)));
  EXPECT_EQ(Before(std::get<For>(kernel_.body[0].node).body),
            (std::vector<int>{0, 1}));
}

TEST_F(BarriersTest, OneServesAllThatCameBefore) {
  kernel_.body.push_back(Nest(kIn, kShared));
  kernel_.body.push_back(Nest(kIn, kOut));
  kernel_.body.push_back(Nest(kShared, kOut, /*reversed=*/true));
  kernel_.body.push_back(Nest(kShared, kOut, /*reversed=*/true));
  EXPECT_EQ(Before(kernel_.body), (std::vector<int>{2}));
}

TEST_F(BarriersTest, TheFirstThreadAloneNeedsNoneAmongItsOwn) {
  kernel_.body.push_back(Copy(kIn, Expr::Int(0), kShared, Expr::Int(0)));
  kernel_.body.push_back(Copy(kShared, Expr::Int(0), kOut, Expr::Int(0)));
  kernel_.body.push_back(Nest(kShared, kOut));
  EXPECT_EQ(Before(kernel_.body), (std::vector<int>{2}));
}

TEST_F(BarriersTest, WhatEitherBranchDidCounts) {
  If branch;
  branch.condition = Expr::Make(Op::kLt, {Expr::Int(0), Expr::Int(1)});
  branch.then_body.push_back(Nest(kIn, kOut));
  branch.else_body.push_back(Nest(kIn, kShared));
  kernel_.body.push_back(Stmt{std::move(branch)});
  kernel_.body.push_back(Nest(kShared, kOut, /*reversed=*/true));
  EXPECT_EQ(Before(kernel_.body), (std::vector<int>{1}));
}

}  // namespace
}  // namespace tilewright::lowering
