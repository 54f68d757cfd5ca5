// Convolutions whose border taps are left out: the kernels take the steps that
// multiply no known zero, and no others, without a condition in their tiles.
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/tile/lower.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/expr/index_eval.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

struct Conv {
  int64_t channels, size, kernel, stride, dilation, before, after;

  int64_t span() const { return (kernel - 1) * dilation + 1; }
  int64_t outputs() const {
    return (size + before + after - span()) / stride + 1;
  }
  // Steps along one dimension that read the image itself.
  int64_t InsideAlong(bool skips) const {
    int64_t inside = 0;
    for (int64_t o = 0; o < outputs(); ++o) {
      for (int64_t k = 0; k < kernel; ++k) {
        const int64_t at = o * stride + k * dilation;
        inside += !skips || (at >= before && at < before + size) ? 1 : 0;
      }
    }
    return inside;
  }
  sketch::Workload Workload() const {
    sketch::Workload workload =
        sketch::HaloConvRelu(channels, channels, size, size, kernel, stride,
                             dilation, before, after);
    for (const char* name : {"X", "Y"}) {
      const TensorId id = *workload.graph.Find(name);
      workload.layouts[id] =
          Layout::BlockedLast(workload.graph.tensor(id).static_shape(), 1, 16);
    }
    return workload;
  }
};

// Counts of one run of a kernel.
struct Steps {
  int64_t updates = 0;
  int64_t conditions = 0;  // in operations that update

  void Count(const std::vector<Stmt>& stmts, std::map<int, int64_t>& values) {
    for (const Stmt& stmt : stmts) {
      if (const For* loop = std::get_if<For>(&stmt.node)) {
        for (int64_t i = 0; i < loop->extent; ++i) {
          values[loop->var] = i;
          Count(loop->body, values);
        }
      } else if (const If* branch = std::get_if<If>(&stmt.node)) {
        const bool holds = EvalIndex(branch->condition, [&](int var) {
                             return values.at(var);
                           }) != 0;
        Count(holds ? branch->then_body : branch->else_body, values);
      } else {
        Count(std::get<TileOp>(stmt.node));
      }
    }
  }
  // Operations without a condition take all of their box.
  void Count(const TileOp& op) {
    if (op.phase != TileOp::Phase::kUpdate || op.body[0].op() != Op::kMul)
      return;
    if (op.predicate) ++conditions;
    int64_t elements = 1;
    for (const TileAxis& axis : op.box) elements *= axis.extent;
    updates += elements;
  }
};

void ExpectSteps(const Conv& conv, const std::string& edges) {
  const sketch::Workload workload = conv.Workload();
  PreferredPolicy rule;
  TablePolicy policy({{"edges", edges}}, rule);
  Decider decider(policy);
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  TW_ASSERT_OK_AND_ASSIGN(
      const sketch::Schedule schedule,
      Generate(sketch::Generators(workload).front(), workload, spec, decider));
  ASSERT_TRUE(policy.Unused().empty());
  TW_ASSERT_OK_AND_ASSIGN(const sketch::BlockTree tree,
                          sketch::Replay(workload, schedule));
  TW_ASSERT_OK_AND_ASSIGN(const kernel_ir::Kernel kernel, Lower(tree, "conv"));
  Steps steps;
  std::map<int, int64_t> values;
  steps.Count(kernel.body, values);
  const bool rows = edges.find("rows") != std::string::npos,
             columns = edges.find("columns") != std::string::npos;
  EXPECT_EQ(steps.conditions, 0) << kernel.ToString();
  EXPECT_EQ(steps.updates, conv.channels * conv.channels *
                               conv.InsideAlong(rows) *
                               conv.InsideAlong(columns))
      << kernel.ToString();
}

TEST(EdgesTest, TakesTheStepsInsideAndNoOthers) {
  const Conv convs[] = {{32, 7, 3, 1, 1, 1, 1},  {32, 14, 3, 2, 1, 1, 1},
                        {32, 28, 3, 2, 1, 1, 0}, {16, 9, 5, 1, 1, 2, 2},
                        {16, 12, 3, 1, 2, 2, 2}, {16, 8, 3, 3, 1, 0, 1},
                        {16, 30, 3, 1, 1, 1, 1}, {16, 10, 1, 2, 1, 1, 1}};
  for (const Conv& conv : convs) {
    for (const char* edges : {"all", "rows", "columns", "rows+columns"}) {
      SCOPED_TRACE(absl::StrCat(conv.kernel, "x", conv.kernel, " @", conv.size,
                                " /", conv.stride, ", ", edges));
      ExpectSteps(conv, edges);
    }
  }
}

}  // namespace
}  // namespace tilewright::lowering
