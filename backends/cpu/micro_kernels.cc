#include "backends/cpu/micro_kernels.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/builder.h"
#include "base/check.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::cpu {
namespace {

using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;

}  // namespace

std::string GemmPanel::name() const {
  return absl::StrCat("gemm_", rows, "x", vectors);
}

kernel_ir::ScalarKernel MakeGemmPanel(const GemmPanel& panel) {
  TW_CHECK_EQ(panel.m % panel.rows, 0);
  ScalarBuilder b(panel.name());
  const int64_t n = panel.n();
  const int a_buffer =
      b.AddArgument("A", DType::kFloat32, Role::kInput, panel.m * panel.k);
  const int b_buffer =
      b.AddArgument("B", DType::kFloat32, Role::kConstant, panel.k * n);
  const int c_buffer =
      b.AddArgument("C", DType::kFloat32, Role::kOutput, panel.m * n);
  const Reg row = b.BeginFor(0, panel.m, panel.rows, 1, "m");
  std::vector<Reg> acc;
  for (int i = 0; i < panel.rows * panel.vectors; ++i) {
    acc.push_back(b.Variable(DType::kFloat32, panel.lanes, "acc"));
    b.Assign(acc.back(), b.Float(0, DType::kFloat32, panel.lanes));
  }
  const Reg a_row = b.Mul(row, b.Int(panel.k));
  const Reg k = b.BeginFor(0, panel.k, 1, panel.unroll, "k");
  const Reg b_offset = b.Mul(k, b.Int(n));
  const Reg a_offset = b.Add(a_row, k);
  std::vector<Reg> b_row;
  for (int j = 0; j < panel.vectors; ++j) {
    b_row.push_back(b.Load(b_buffer, b_offset, j * panel.lanes, panel.lanes));
  }
  for (int i = 0; i < panel.rows; ++i) {
    const Reg a = b.Splat(b.Load(a_buffer, a_offset, i * panel.k), panel.lanes);
    for (int j = 0; j < panel.vectors; ++j) {
      const Reg c = acc[i * panel.vectors + j];
      if (panel.fma) {
        b.AssignFma(c, a, b_row[j], c);
      } else {
        b.AssignOp(c, Op::kAdd, {c, b.Mul(a, b_row[j])});
      }
    }
  }
  b.EndFor();
  const Reg c_row = b.Mul(row, b.Int(n));
  for (int i = 0; i < panel.rows; ++i) {
    for (int j = 0; j < panel.vectors; ++j) {
      b.Store(c_buffer, c_row, i * n + j * panel.lanes,
              acc[i * panel.vectors + j]);
    }
  }
  b.EndFor();
  return std::move(b).Finish();
}

kernel_ir::ScalarKernel MakePeakLoop(const PeakLoop& loop) {
  ScalarBuilder b("peak");
  const int input =
      b.AddArgument("in", DType::kFloat32, Role::kInput, 3 * loop.lanes);
  const int output =
      b.AddArgument("out", DType::kFloat32, Role::kOutput, loop.lanes);
  const Reg x = b.Load(input, kNoReg, 0, loop.lanes);
  const Reg y = b.Load(input, kNoReg, loop.lanes, loop.lanes);
  const Reg start = b.Load(input, kNoReg, 2 * loop.lanes, loop.lanes);
  std::vector<Reg> acc;
  for (int i = 0; i < loop.accumulators; ++i) {
    acc.push_back(b.Variable(DType::kFloat32, loop.lanes, "acc"));
    b.Assign(acc.back(), b.Add(start, b.Float(i, DType::kFloat32, loop.lanes)));
  }
  b.BeginFor(0, loop.iterations, 1, 1, "i");
  for (Reg a : acc) b.AssignFma(a, x, y, a);
  b.EndFor();
  const Reg sum = b.Variable(DType::kFloat32, loop.lanes, "sum");
  b.Assign(sum, acc[0]);
  for (int i = 1; i < loop.accumulators; ++i) {
    b.AssignOp(sum, Op::kAdd, {sum, acc[i]});
  }
  b.Store(output, kNoReg, 0, sum);
  return std::move(b).Finish();
}

kernel_ir::ScalarKernel MakeReadLoop(const ReadLoop& loop) {
  constexpr int kChains = 8;
  TW_CHECK_EQ(loop.elements % (kChains * loop.lanes), 0);
  ScalarBuilder b("read");
  const int input =
      b.AddArgument("in", DType::kFloat32, Role::kInput, loop.elements);
  const int output =
      b.AddArgument("out", DType::kFloat32, Role::kOutput, loop.lanes);
  std::vector<Reg> sums;
  for (int i = 0; i < kChains; ++i) {
    sums.push_back(b.Variable(DType::kFloat32, loop.lanes, "sum"));
    b.Assign(sums.back(), b.Float(0, DType::kFloat32, loop.lanes));
  }
  b.BeginFor(0, loop.passes);
  const Reg i = b.BeginFor(0, loop.elements, kChains * loop.lanes);
  for (int c = 0; c < kChains; ++c) {
    b.AssignOp(sums[c], Op::kAdd,
               {sums[c], b.Load(input, i, c * loop.lanes, loop.lanes)});
  }
  b.EndFor();
  b.EndFor();
  for (int c = 1; c < kChains; ++c) {
    b.AssignOp(sums[0], Op::kAdd, {sums[0], sums[c]});
  }
  b.Store(output, kNoReg, 0, sums[0]);
  return std::move(b).Finish();
}

kernel_ir::ScalarKernel MakeEmptyTasks(int64_t tasks) {
  ScalarBuilder b("empty", tasks);
  const int output =
      b.AddArgument("out", DType::kFloat32, Role::kOutput, tasks);
  b.Store(output, b.task(), 0, b.Float(1));
  return std::move(b).Finish();
}

}  // namespace tilewright::cpu
