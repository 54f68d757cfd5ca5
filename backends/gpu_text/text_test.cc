#include "backends/gpu_text/text.h"

#include <string>
#include <utility>

#include "backends/gpu_text/prelude.h"
#include "backends/kernel_ir/builder.h"
#include "backends/spec/device_spec.pb.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::gpu_text {
namespace {

using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using kernel_ir::ScalarKernel;
using ::testing::HasSubstr;
using ::testing::Not;

std::string TextOf(ScalarBuilder builder) {
  const ScalarKernel kernel = std::move(builder).Finish();
  TW_EXPECT_OK(VerifyScalarKernel(kernel)) << kernel.ToString();
  const absl::StatusOr<std::string> text = KernelText(kernel);
  TW_EXPECT_OK(text.status());
  return text.ok() ? *text : "";
}

// A row of a product of matrices with a bias and ReLU, columns in vectors of
// four; the last rows of columns are masked.
TEST(TextTest, ReadsLikeAKernelThatAPersonWrote) {
  ScalarBuilder b("dense", 24);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 12 * 40);
  const int w = b.AddArgument("w", DType::kFloat16, Role::kConstant, 40 * 8);
  const int bias = b.AddArgument("bias", DType::kFloat32, Role::kConstant, 8);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 12 * 8);
  const int row = b.AddScratch("row", DType::kFloat32, 40);
  const Reg m = b.Emit(Op::kFloorDiv, {b.task(), b.Int(2)});
  const Reg n = b.Mul(b.Emit(Op::kFloorMod, {b.task(), b.Int(2)}), b.Int(4));
  const Reg i = b.BeginFor(0, 40, 1, 1, "i");
  b.Store(row, i, 0, b.Load(x, b.Add(b.Mul(m, b.Int(40)), i), 0));
  b.EndFor();
  const Reg sum = b.Variable(DType::kFloat32, 4, "sum");
  b.Assign(sum, b.Load(bias, n, 0, 4));
  const Reg k = b.BeginFor(0, 40, 1, 4, "k");
  b.AssignFma(sum, b.Splat(b.Load(row, k, 0), 4),
              b.Load(w, b.Add(b.Mul(k, b.Int(8)), n), 0, 4), sum);
  b.EndFor();
  const Reg inside = b.Emit(Op::kLt, {m, b.Int(11)});
  b.Store(y, b.Add(b.Mul(m, b.Int(8)), n), 0,
          b.Max(sum, b.Float(0, DType::kFloat32, 4)), 0, inside);
  EXPECT_EQ(TextOf(std::move(b)),
            R"(// dense: 24 tasks, 192 bytes of scratch
extern "C" __global__ void __launch_bounds__(1)
dense(
    tw_in<float, 480> x,
    tw_in<fp16, 320> w,
    tw_in<float, 8> bias,
    tw_out<float, 96> y) {
  const auto row = tw_scratch<float, 40>(0);
  const i64 task = blockIdx.x;
  const i64 at1 = task / 2;
  const i64 at2 = task % 2 * 4;
  for (i64 i = 0; i < 40; ++i) {
    row[i] = x[at1 * 40 + i];
  }
  Vec<float, 4> sum = tw_load_aligned<4>(bias, at2);
  #pragma unroll 4
  for (i64 k = 0; k < 40; ++k) {
    sum = tw_fma(tw_load_aligned<4>(w, k * 8 + at2), row[k], sum);
  }
  if (at1 < 11) tw_store_aligned(y, at1 * 8 + at2, tw_max(sum, 0.0f));
}
)");
}

// At multiples of their size, or of 16 bytes, whatever lies behind.
TEST(TextTest, VectorsThatProvablyLieAtMultiplesAreOneAccess) {
  ScalarBuilder b("aligned", 8);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 64);
  const int h = b.AddArgument("h", DType::kFloat16, Role::kInput, 64);
  const int d = b.AddArgument("d", DType::kFloat64, Role::kInput, 64);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 256);
  b.AddThreads(32, 32);
  const int own = b.AddPerThread("own", DType::kFloat32, 8);
  const Reg at = b.Mul(b.task(), b.Int(4));
  const Reg odd = b.Mul(b.task(), b.Int(6));
  b.Store(y, at, 4, b.Load(x, at, 8, 4));
  b.Store(y, at, 6, b.Load(x, odd, 2, 4));
  b.Store(y, odd, 2, b.Load(x, odd, 2, 2));
  b.Store(y, at, 0, b.Load(h, at, 0, 4));
  b.Store(y, at, 0, b.Load(h, at, 2, 4));
  b.Store(y, at, 0, b.Cast(DType::kFloat32, b.Load(d, odd, 0, 4)));
  b.Store(own, kNoReg, 0, b.Load(x, at, 0, 4));
  const std::string text = TextOf(std::move(b));
  for (const char* line :
       {"tw_store_aligned(y, at1 + 4, tw_load_aligned<4>(x, at1 + 8));",
        "tw_store(y, at1 + 6, tw_load<4>(x, at2 + 2));",
        "tw_store_aligned(y, at2 + 2, tw_load_aligned<2>(x, at2 + 2));",
        "tw_store_aligned(y, at1, tw_load_aligned<4>(h, at1));",
        "tw_store_aligned(y, at1, tw_load<4>(h, at1 + 2));",
        "tw_cast<float>(tw_load_aligned<4>(d, at2))",
        "tw_store(own, 0, tw_load_aligned<4>(x, at1));"})
    EXPECT_THAT(text, HasSubstr(line));
}

// Some lanes are none; a mask of one for all lanes leaves it one access.
TEST(TextTest, MaskedVectorsAreOneAccessIfAllLanesAgree) {
  ScalarBuilder b("masked", 8);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 32);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 32);
  const Reg at = b.Mul(b.task(), b.Int(4));
  const Reg inside = b.Emit(Op::kLt, {b.task(), b.Int(7)});
  b.Store(y, at, 0, b.Load(x, at, 0, 4, 0, inside), 0, b.Splat(inside, 4));
  b.Store(y, at, 0, b.Load(x, at, 0, 4, 3), 3);
  const std::string text = TextOf(std::move(b));
  EXPECT_THAT(text, HasSubstr("tw_load_aligned<4>(x, at1, t1, 0)"));
  EXPECT_THAT(text, HasSubstr("if (t1) tw_store_aligned(y, at1, "));
  EXPECT_THAT(text, HasSubstr("tw_store(y, at1, tw_load<4>(x, at1, 3), 3);"));
}

TEST(TextTest, SignedArithmeticThatMayOverflowWraps) {
  ScalarBuilder b("wrap", 4);
  const int in = b.AddArgument("in", DType::kInt32, Role::kInput, 4);
  const int narrow = b.AddArgument("narrow", DType::kUInt8, Role::kInput, 4);
  const int out = b.AddArgument("out", DType::kInt32, Role::kOutput, 12);
  const Reg value = b.Load(in, b.task(), 0);
  b.Store(out, b.task(), 0, b.Mul(value, b.Int(3, DType::kInt32)));
  const Reg byte = b.Cast(DType::kInt32, b.Load(narrow, b.task(), 0));
  b.Store(out, b.task(), 4, b.Mul(byte, b.Int(3, DType::kInt32)));
  b.Store(out, b.task(), 8,
          b.Emit(Op::kFloorDiv, {value, b.Int(3, DType::kInt32)}));
  const std::string text = TextOf(std::move(b));
  EXPECT_THAT(text, HasSubstr("out[task] = tw_mul(in_1, 3);"));
  EXPECT_THAT(text, HasSubstr("out[task + 4] = (i32)narrow[task] * 3;"));
  EXPECT_THAT(text, HasSubstr("out[task + 8] = tw_floordiv(in_1, 3);"));
}

// A value that is read once is written where it is read, unless that would read
// something else.
TEST(TextTest, LoadsAndVariablesAreReadBeforeTheyChange) {
  ScalarBuilder b("order");
  const int in = b.AddArgument("in", DType::kFloat32, Role::kInput, 8);
  const int out = b.AddArgument("out", DType::kFloat32, Role::kOutput, 8);
  b.Store(out, kNoReg, 0, b.Load(in, kNoReg, 0));
  const Reg before = b.Load(out, kNoReg, 0);
  b.Store(out, kNoReg, 0, b.Load(in, kNoReg, 1));
  b.Store(out, kNoReg, 1, before);
  const Reg v = b.Variable(DType::kFloat32, 1, "v");
  b.Assign(v, b.Load(in, kNoReg, 2));
  const Reg twice = b.Add(v, v);
  b.Assign(v, b.Load(in, kNoReg, 3));
  b.Store(out, kNoReg, 2, b.Mul(twice, v));
  EXPECT_THAT(TextOf(std::move(b)), HasSubstr(R"(  out[0] = in[0];
  const float out_1 = out[0];
  out[0] = in[1];
  out[1] = out_1;
  float v = in[2];
  const float t1 = v + v;
  v = in[3];
  out[2] = t1 * v;
)"));
}

// A variable of an inner body stands there; one that outlives it stands before.
TEST(TextTest, VariablesAreDeclaredWhereTheyLive) {
  ScalarBuilder b("scopes");
  const int out = b.AddArgument("out", DType::kInt64, Role::kOutput, 8);
  const Reg outer = b.Variable(DType::kInt64, 1, "outer");
  const Reg i = b.BeginFor(0, 8, 1, 1, "i");
  const Reg inner = b.Variable(DType::kInt64, 1, "inner");
  b.BeginIf(b.Emit(Op::kLt, {i, b.Int(4)}));
  b.Assign(inner, i);
  b.Assign(outer, b.Int(1));
  b.BeginElse();
  b.Assign(inner, b.Int(7));
  b.Assign(outer, b.Int(2));
  b.EndIf();
  b.Store(out, i, 0, b.Emit(Op::kXor, {inner, outer}));
  b.EndFor();
  b.Assign(outer, b.Int(3));
  EXPECT_THAT(TextOf(std::move(b)), HasSubstr(R"(  i64 outer;
  for (i64 i = 0; i < 8; ++i) {
    i64 inner;
    if (i < 4) {
      inner = i;
      outer = 1;
    } else {
      inner = 7;
      outer = 2;
    }
    out[i] = inner ^ outer;
  }
  outer = 3;
)"));
}

TEST(TextTest, NamesThatCxxOrThePreludeKnowGetANumber) {
  ScalarBuilder b("names");
  const int in = b.AddArgument("float", DType::kFloat32, Role::kInput, 8);
  const int out = b.AddArgument("a.b", DType::kFloat32, Role::kOutput, 8);
  b.Store(out, kNoReg, 0, b.Load(in, kNoReg, 0));
  EXPECT_THAT(TextOf(std::move(b)), HasSubstr("a_b[0] = float_1[0];"));
}

TEST(TextTest, FunctionsMustBeExpandedBefore) {
  ScalarBuilder b("e");
  const int out = b.AddArgument("out", DType::kFloat32, Role::kOutput, 1);
  b.Store(out, kNoReg, 0, b.Emit(Op::kExp, {b.Float(1)}));
  EXPECT_THAT(KernelText(std::move(b).Finish()),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("exp")));
}

DeviceSpec Gpu(int64_t shared_bytes) {
  DeviceSpec gpu;
  gpu.mutable_unit()->set_scratchpad_bytes_per_block(shared_bytes);
  gpu.mutable_unit()->set_max_threads_per_block(1024);
  gpu.mutable_unit()->set_warp_size(32);
  return gpu;
}

TEST(TextTest, KernelsOfAModuleHaveNamesOfTheirOwn) {
  ScalarBuilder a("a"), again("a"), strange("a-b");
  const ScalarKernel first = std::move(a).Finish();
  EXPECT_THAT(KernelTexts({first, std::move(again).Finish()}, Gpu(0)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'a'")));
  EXPECT_THAT(KernelTexts({std::move(strange).Finish()}, Gpu(0)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a-b")));
}

TEST(TextTest, ScratchFitsTheSharedMemoryOfABlock) {
  ScalarBuilder b("big");
  b.AddScratch("row", DType::kFloat32, 16);
  const ScalarKernel kernel = std::move(b).Finish();
  TW_EXPECT_OK(KernelTexts({kernel}, Gpu(64)).status());
  EXPECT_THAT(KernelTexts({kernel}, Gpu(63)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("big wants 64 bytes")));
}

// Rows of 64 reversed through shared memory; of warps the greatest.
TEST(TextTest, ThreadsShareScratchAndWaitForEachOther) {
  ScalarBuilder b("reverse", 6);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 6 * 64);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 6 * 64);
  const int row = b.AddScratch("row", DType::kFloat32, 64);
  const Reg thread = b.AddThreads(64, 32);
  const int kept = b.AddPerThread("kept", DType::kFloat32, 2);
  const Reg at = b.Add(b.Mul(b.task(), b.Int(64)), thread);
  b.Store(row, thread, 0, b.Load(x, at, 0));
  b.Barrier();
  const Reg other = b.Load(row, b.Sub(b.Int(63), thread), 0);
  b.Barrier();
  b.Store(row, thread, 0, other);
  b.Store(kept, kNoReg, 1, other);
  const Reg next = b.ExchangeLane(other, b.Add(thread, b.Int(1)));
  b.Store(y, at, 0, b.Max(b.Load(kept, kNoReg, 1), b.ExchangeXor(next, 16)));
  EXPECT_EQ(TextOf(std::move(b)),
            R"(// reverse: 6 tasks of 64 threads, 256 bytes of scratch
extern "C" __global__ void __launch_bounds__(64)
reverse(
    tw_in<float, 384> x,
    tw_out<float, 384> y) {
  const auto row = tw_scratch<float, 64>(0);
  tw_own<float, 2> kept;
  const i64 task = blockIdx.x;
  const i64 thread = threadIdx.x;
  const i64 at1 = task * 64 + thread;
  row[thread] = x[at1];
  tw_barrier();
  const float row_1 = row[63 - thread];
  tw_barrier();
  row[thread] = row_1;
  kept[1] = row_1;
  const float t1 = tw_shfl<32>(row_1, thread + 1);
  const float t2 = tw_shfl_xor(t1, 16);
  y[at1] = tw_max(kept[1], t2);
}
)");
}

TEST(TextTest, ACoreLeavesRoomForBlocks) {
  ScalarBuilder a("a"), b("b");
  a.AddThreads(64, 32);
  b.AddThreads(96, 32);
  EXPECT_THAT(KernelText(std::move(a).Finish()),
              IsOkAndHolds(HasSubstr("__launch_bounds__(64)\na(")));
  EXPECT_THAT(KernelText(std::move(b).Finish(), 3),
              IsOkAndHolds(HasSubstr("__launch_bounds__(96, 3)\nb(")));
}

// Pieces are as large as both places are proven to be multiples of; a wait
// stands before what is loaded behind it.
TEST(TextTest, AsynchronousCopiesComeInPieces) {
  ScalarBuilder b("copies", 6);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 256);
  const int h = b.AddArgument("h", DType::kFloat16, Role::kInput, 256);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 256);
  const int s = b.AddScratch("s", DType::kFloat32, 256);
  const int halves = b.AddScratch("halves", DType::kFloat16, 256);
  const Reg thread = b.AddThreads(32, 32);
  const Reg by4 = b.Mul(thread, b.Int(4)), by2 = b.Mul(thread, b.Int(2));
  const auto copy = [&](int to, Reg to_offset, int from, Reg from_offset,
                        int64_t constant, Reg mask = kNoReg) {
    kernel_ir::AsyncCopyInst inst;
    inst.to = to;
    inst.to_offset = to_offset;
    inst.from = from;
    inst.from_offset = from_offset;
    inst.from_constant = constant;
    inst.lanes = 4;
    inst.mask = mask;
    b.AsyncCopy(inst);
  };
  const Reg before = b.Load(s, thread, 0);
  copy(s, by4, x, by4, 8);
  copy(s, by2, x, by4, 0);
  copy(s, by4, x, by4, 1);
  copy(halves, by4, h, by4, 2);
  copy(halves, by4, h, by4, 1, b.Emit(Op::kLt, {b.task(), b.Int(5)}));
  b.Commit();
  b.Wait(2);
  b.Barrier();
  b.Store(y, thread, 0, before);
  EXPECT_THAT(TextOf(std::move(b)), HasSubstr(R"(  const float s_1 = s[thread];
  tw_copy_async<4, 16>(s, at1, x, at1 + 8);
  tw_copy_async<4, 8>(s, thread * 2, x, at1);
  tw_copy_async<4, 4>(s, at1, x, at1 + 1);
  tw_copy_async<4, 4>(halves, at1, h, at1 + 2);
  tw_copy_async<4, 2>(halves, at1, h, at1 + 1, task < 5);
  tw_commit_copies();
  tw_wait_copies<2>();
  tw_barrier();
  y[thread] = s_1;
)"));
}

TEST(TextTest, BlocksFitTheGpu) {
  ScalarBuilder many("many"), wide("wide");
  many.AddThreads(2048, 32);
  wide.AddThreads(64, 64);
  EXPECT_THAT(KernelTexts({std::move(many).Finish()}, Gpu(0)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("many wants 2048 threads")));
  EXPECT_THAT(
      KernelTexts({std::move(wide).Finish()}, Gpu(0)),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("warps of 64")));
}

TEST(PreludeTest, DialectsShareAllButWhatHardwareDoes) {
  const std::string cuda = Prelude(Dialect::kCuda),
                    hip = Prelude(Dialect::kHip);
  EXPECT_THAT(cuda, HasSubstr("__fmaf_rn"));
  EXPECT_THAT(hip, Not(HasSubstr("__fmaf_rn")));
  const size_t shared = cuda.find("// The rest is the same");
  ASSERT_NE(shared, std::string::npos);
  EXPECT_EQ(cuda.substr(shared), hip.substr(hip.find("// The rest is the")));
}

}  // namespace
}  // namespace tilewright::gpu_text
