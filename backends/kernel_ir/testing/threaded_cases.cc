#include "backends/kernel_ir/testing/threaded_cases.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/builder.h"

namespace tilewright::kernel_ir {
namespace {

constexpr int kRows = 3;  // of what is reduced

std::string Bytes(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(float));
}

// Small whole numbers: every sum of their products is exact.
std::vector<float> Numbers(int count, int seed) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i)
    values[i] = static_cast<float>((i * 7 + i / 5 * 3 + seed) % 17 - 8);
  return values;
}

ThreadedCase Case(ScalarBuilder b, const std::vector<std::vector<float>>& in,
                  const std::vector<float>& out) {
  ThreadedCase made{std::move(b).Finish(), {}, {}};
  for (const auto& values : in) made.args.push_back(Bytes(values));
  made.expected = made.args;
  made.args.push_back(Bytes(std::vector<float>(out.size(), -1)));
  made.expected.push_back(Bytes(out));
  return made;
}

Reg Div(ScalarBuilder& b, Reg a, int64_t by) {
  return b.Emit(Op::kFloorDiv, {a, b.Int(by)});
}
Reg Mod(ScalarBuilder& b, Reg a, int64_t by) {
  return b.Emit(Op::kFloorMod, {a, b.Int(by)});
}
Reg Less(ScalarBuilder& b, Reg a, int64_t than) {
  return b.Emit(Op::kLt, {a, b.Int(than)});
}
// a * factor + c.
Reg At(ScalarBuilder& b, Reg a, int64_t factor, Reg c) {
  return b.Add(b.Mul(a, b.Int(factor)), c);
}

std::vector<float> RowSums(const std::vector<float>& x) {
  std::vector<float> sums(kRows, 0);
  for (size_t i = 0; i < x.size(); ++i) sums[i / (x.size() / kRows)] += x[i];
  return sums;
}

// A thread's share of its block's row, as a variable.
Reg SumOfShare(ScalarBuilder& b, int x, Reg thread, int threads, int columns) {
  const Reg sum = b.Variable(DType::kFloat32, 1, "sum");
  b.Assign(sum, b.Float(0));
  const Reg i = b.BeginForRegs(thread, b.Int(columns), threads, 1, "i");
  b.AssignOp(sum, Op::kAdd,
             {sum, b.Load(x, At(b, b.task(), columns, i), 0)});
  b.EndFor();
  return sum;
}

}  // namespace

ThreadedCase ReduceInScratch(int threads, int columns) {
  ScalarBuilder b(absl::StrCat("reduce_scratch_", threads), kRows);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput,
                              kRows * columns);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, kRows);
  const int partial = b.AddScratch("partial", DType::kFloat32, threads);
  const Reg thread = b.AddThreads(threads, 32);
  b.Store(partial, thread, 0, SumOfShare(b, x, thread, threads, columns));
  b.Barrier();
  for (int half = threads / 2; half > 0; half /= 2) {
    b.BeginIf(Less(b, thread, half));
    b.Store(partial, thread, 0,
            b.Add(b.Load(partial, thread, 0), b.Load(partial, thread, half)));
    b.EndIf();
    if (half > 1) b.Barrier();
  }
  b.BeginIf(Less(b, thread, 1));
  b.Store(y, b.task(), 0, b.Load(partial, kNoReg, 0));
  b.EndIf();
  const std::vector<float> in = Numbers(kRows * columns, 1);
  return Case(std::move(b), {in}, RowSums(in));
}

ThreadedCase ReduceByExchanges(int threads, int columns) {
  ScalarBuilder b(absl::StrCat("reduce_exchange_", threads), kRows);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput,
                              kRows * columns);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, kRows);
  const int warps = threads / 32;
  const int partial = b.AddScratch("partial", DType::kFloat32, warps);
  const Reg thread = b.AddThreads(threads, 32);
  const Reg lane = Mod(b, thread, 32);
  Reg sum = SumOfShare(b, x, thread, threads, columns);
  for (int mask = 16; mask > 0; mask /= 2)
    sum = b.Add(sum, b.ExchangeXor(sum, mask));
  b.BeginIf(Less(b, lane, 1));
  b.Store(partial, Div(b, thread, 32), 0, sum);
  b.EndIf();
  b.Barrier();
  sum = b.Load(partial, lane, 0, 1, 0, Less(b, lane, warps));
  for (int mask = warps / 2; mask > 0; mask /= 2)
    sum = b.Add(sum, b.ExchangeXor(sum, mask));
  b.BeginIf(Less(b, thread, 1));
  b.Store(y, b.task(), 0, sum);
  b.EndIf();
  const std::vector<float> in = Numbers(kRows * columns, 2);
  return Case(std::move(b), {in}, RowSums(in));
}

ThreadedCase TransposeTiles(int rows, int columns) {
  constexpr int kTile = 8;
  const int across = (columns + kTile - 1) / kTile;
  const int down = (rows + kTile - 1) / kTile;
  ScalarBuilder b(absl::StrCat("transpose_", rows, "x", columns),
                  down * across);
  const int x =
      b.AddArgument("x", DType::kFloat32, Role::kInput, rows * columns);
  const int y =
      b.AddArgument("y", DType::kFloat32, Role::kOutput, rows * columns);
  // A column more than it needs: no bank twice.
  const int tile = b.AddScratch("tile", DType::kFloat32, kTile * (kTile + 1));
  const Reg thread = b.AddThreads(kTile * kTile, 32);
  const Reg slow = Div(b, thread, kTile), fast = Mod(b, thread, kTile);
  const Reg row0 = b.Mul(Div(b, b.task(), across), b.Int(kTile));
  const Reg column0 = b.Mul(Mod(b, b.task(), across), b.Int(kTile));
  const Reg row = b.Add(row0, slow), column = b.Add(column0, fast);
  const Reg inside = b.And(Less(b, row, rows), Less(b, column, columns));
  b.Store(tile, At(b, slow, kTile + 1, fast), 0,
          b.Load(x, At(b, row, columns, column), 0, 1, 0, inside));
  b.Barrier();
  const Reg to_row = b.Add(column0, slow), to_column = b.Add(row0, fast);
  b.Store(y, At(b, to_row, rows, to_column), 0,
          b.Load(tile, At(b, fast, kTile + 1, slow), 0), 0,
          b.And(Less(b, to_row, columns), Less(b, to_column, rows)));
  const std::vector<float> in = Numbers(rows * columns, 3);
  std::vector<float> out(in.size());
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) out[c * rows + r] = in[r * columns + c];
  }
  return Case(std::move(b), {in}, out);
}

ThreadedCase MultiplyTiles(int m, int n, int k) {
  constexpr int kTile = 16, kSide = 8;  // threads: kSide x kSide, 2 x 2 each
  const int across = (n + kTile - 1) / kTile;
  ScalarBuilder b(absl::StrCat("multiply_", m, "x", n, "x", k),
                  (m + kTile - 1) / kTile * across);
  const int a = b.AddArgument("a", DType::kFloat32, Role::kInput, m * k);
  const int w = b.AddArgument("w", DType::kFloat32, Role::kInput, k * n);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, m * n);
  const int a_tile = b.AddScratch("a_tile", DType::kFloat32, kTile * kTile);
  const int w_tile = b.AddScratch("w_tile", DType::kFloat32, kTile * kTile);
  const Reg thread = b.AddThreads(kSide * kSide, 32);
  const int sums = b.AddPerThread("sums", DType::kFloat32, 4);
  const Reg row0 = b.Mul(Div(b, b.task(), across), b.Int(kTile));
  const Reg column0 = b.Mul(Mod(b, b.task(), across), b.Int(kTile));
  const Reg top = b.Mul(Div(b, thread, kSide), b.Int(2));
  const Reg left = b.Mul(Mod(b, thread, kSide), b.Int(2));
  b.Store(sums, kNoReg, 0, b.Float(0, DType::kFloat32, 4));
  const Reg k0 = b.BeginFor(0, k, kTile, 1, "k0");
  // Together, in order of addresses.
  const Reg i = b.BeginForRegs(thread, b.Int(kTile * kTile), kSide * kSide, 1,
                               "i");
  const Reg r = Div(b, i, kTile), c = Mod(b, i, kTile);
  const Reg a_row = b.Add(row0, r), a_column = b.Add(k0, c);
  b.Store(a_tile, i, 0,
          b.Load(a, At(b, a_row, k, a_column), 0, 1, 0,
                 b.And(Less(b, a_row, m), Less(b, a_column, k))));
  const Reg w_row = b.Add(k0, r), w_column = b.Add(column0, c);
  b.Store(w_tile, i, 0,
          b.Load(w, At(b, w_row, n, w_column), 0, 1, 0,
                 b.And(Less(b, w_row, k), Less(b, w_column, n))));
  b.EndFor();
  b.Barrier();
  const Reg kk = b.BeginFor(0, kTile, 1, 4, "kk");
  for (int s = 0; s < 4; ++s) {
    const Reg factor = b.Load(a_tile, At(b, top, kTile, kk), s / 2 * kTile);
    const Reg other = b.Load(w_tile, At(b, kk, kTile, left), s % 2);
    b.Store(sums, kNoReg, s, b.Fma(factor, other, b.Load(sums, kNoReg, s)));
  }
  b.EndFor();
  b.Barrier();
  b.EndFor();
  for (int s = 0; s < 4; ++s) {
    const Reg row = b.Add(row0, b.Add(top, b.Int(s / 2)));
    const Reg column = b.Add(column0, b.Add(left, b.Int(s % 2)));
    b.Store(y, At(b, row, n, column), 0, b.Load(sums, kNoReg, s), 0,
            b.And(Less(b, row, m), Less(b, column, n)));
  }
  const std::vector<float> x = Numbers(m * k, 4), v = Numbers(k * n, 5);
  std::vector<float> out(m * n, 0);
  for (int at = 0; at < m * n * k; ++at) {
    const int row = at / (n * k), column = at / k % n, step = at % k;
    out[row * n + column] += x[row * k + step] * v[step * n + column];
  }
  return Case(std::move(b), {x, v}, out);
}

ThreadedCase RotateLanes(int threads, int warp) {
  ScalarBuilder b(absl::StrCat("rotate_", threads, "_", warp), 2);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 2 * threads);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 2 * threads);
  const Reg thread = b.AddThreads(threads, warp);
  const Reg at = At(b, b.task(), threads, thread);
  b.Store(y, at, 0,
          b.ExchangeLane(b.Load(x, at, 0), b.Add(thread, b.Int(1))));
  const std::vector<float> in = Numbers(2 * threads, 6);
  std::vector<float> out(in.size());
  for (int i = 0; i < 2 * threads; ++i)
    out[i] = in[i / warp * warp + (i + 1) % warp];
  return Case(std::move(b), {in}, out);
}

ThreadedCase ReadBack(int threads) {
  ScalarBuilder b("read_back", 2);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 2 * threads);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 2 * threads);
  const Reg thread = b.AddThreads(threads, 32);
  const Reg at = At(b, b.task(), threads, thread);
  const Reg across = At(b, b.task(), threads,
                        b.Sub(b.Int(threads - 1), thread));
  b.Store(y, at, 0, b.Load(x, at, 0));
  b.Barrier();
  const Reg other = b.Load(y, across, 0);
  b.Barrier();
  b.Store(y, at, 0, b.Add(other, other));
  const std::vector<float> in = Numbers(2 * threads, 7);
  std::vector<float> out(in.size());
  for (int i = 0; i < 2 * threads; ++i)
    out[i] = 2 * in[i / threads * threads + threads - 1 - i % threads];
  return Case(std::move(b), {in}, out);
}

ThreadedCase SumCopiedRows(int threads, int rows, int buffers, int piece) {
  constexpr int kBlocks = 2, kZeroRows = 2;
  ScalarBuilder b(absl::StrCat("copied_", threads, "_", buffers, "_", piece),
                  kBlocks);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput,
                              kBlocks * rows * threads);
  const int y =
      b.AddArgument("y", DType::kFloat32, Role::kOutput, kBlocks * threads);
  const int row = b.AddScratch("row", DType::kFloat32, buffers * threads);
  const Reg thread = b.AddThreads(threads, 8);
  const Reg first = b.Mul(b.task(), b.Int(rows * threads));
  const auto copy = [&](Reg number) {
    b.BeginIf(Less(b, thread, threads / piece));
    const Reg element = b.Mul(thread, b.Int(piece));
    AsyncCopyInst inst;
    inst.to = row;
    inst.to_offset = At(b, Mod(b, number, buffers), threads, element);
    inst.from = x;
    inst.from_offset = b.Add(first, At(b, number, threads, element));
    inst.lanes = piece;
    inst.mask = Less(b, number, rows);
    b.AsyncCopy(inst);
    b.EndIf();
  };
  for (int ahead = 0; ahead + 1 < buffers; ++ahead) {
    copy(b.Int(ahead));
    b.Commit();
  }
  const Reg sum = b.Variable(DType::kFloat32, 1, "sum");
  b.Assign(sum, b.Float(0));
  const Reg r = b.BeginFor(0, rows + kZeroRows, 1, 1, "r");
  b.Wait(buffers - 2);
  b.Barrier();
  copy(b.Add(r, b.Int(buffers - 1)));
  b.Commit();
  const Reg other = b.Sub(b.Int(threads - 1), thread);
  b.AssignOp(sum, Op::kAdd,
             {sum, b.Load(row, At(b, Mod(b, r, buffers), threads, other), 0)});
  b.EndFor();
  b.Store(y, At(b, b.task(), threads, thread), 0, sum);
  const std::vector<float> in = Numbers(kBlocks * rows * threads, 8);
  std::vector<float> out(kBlocks * threads, 0);
  for (size_t i = 0; i < in.size(); ++i) {
    const size_t block = i / (rows * threads), column = i % threads;
    out[block * threads + threads - 1 - column] += in[i];
  }
  return Case(std::move(b), {in}, out);
}

std::vector<ThreadedCase> AllThreadedCases() {
  std::vector<ThreadedCase> all;
  all.push_back(ReduceInScratch(64, 100));
  all.push_back(ReduceByExchanges(64, 145));
  all.push_back(ReduceByExchanges(128, 300));
  all.push_back(TransposeTiles(16, 8));
  all.push_back(TransposeTiles(13, 21));
  all.push_back(MultiplyTiles(16, 16, 32));
  all.push_back(MultiplyTiles(19, 33, 21));
  all.push_back(RotateLanes(64, 32));
  all.push_back(RotateLanes(24, 8));
  all.push_back(ReadBack(40));
  all.push_back(SumCopiedRows(24, 5, 2, 1));
  all.push_back(SumCopiedRows(32, 7, 3, 4));
  all.push_back(SumCopiedRows(40, 4, 4, 2));
  return all;
}

}  // namespace tilewright::kernel_ir
