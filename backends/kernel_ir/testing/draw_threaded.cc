#include "backends/kernel_ir/testing/draw_threaded.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/builder.h"
#include "base/random.h"

namespace tilewright::kernel_ir {
namespace {

constexpr int kTasks = 2;
constexpr int kRounds = 4;  // elements of a shared buffer, by threads

class Generator {
 public:
  explicit Generator(uint64_t seed)
      : random_(seed),
        warp_(8 << random_.Index(3)),
        threads_(warp_ * static_cast<int>(1 + random_.Index(4))),
        b_(absl::StrCat("threads", seed), kTasks) {}

  DrawnThreaded Draw() {
    const int64_t all = kTasks * kRounds * threads_;
    input_ = b_.AddArgument("x", DType::kInt32, Role::kInput, all);
    output_ = b_.AddArgument("y", DType::kInt32, Role::kOutput, all);
    const DType dtypes[] = {DType::kInt32, DType::kFloat32, DType::kFloat16,
                            DType::kInt64, DType::kUInt8};
    for (int i = 0; i < 3; ++i) {
      shared_.push_back({b_.AddScratch(absl::StrCat("s", i),
                                       dtypes[random_.Index(5)],
                                       kRounds * threads_)});
    }
    thread_ = b_.AddThreads(threads_, warp_);
    own_ = b_.AddPerThread("own", DType::kInt32, kRounds);
    base_ = b_.Mul(b_.task(), b_.Int(kRounds * threads_));
    mixed_ = b_.Variable(DType::kInt32, 1, "mixed");
    b_.Assign(mixed_, b_.Load(input_, b_.Add(base_, thread_), 0));
    for (int i = 0; i < kRounds; ++i) b_.Store(own_, kNoReg, i, mixed_);
    const int statements = static_cast<int>(3 + random_.Index(5));
    for (int i = 0; i < statements; ++i) Statement();
    for (int i = 0; i < kRounds; ++i) {
      Mix(b_.Load(own_, kNoReg, i));
      b_.Store(output_, b_.Add(base_, Rotated(i)), i * threads_, mixed_);
    }
    return {std::move(b_).Finish(), Arguments(all)};
  }

 private:
  struct Shared {
    int buffer;
    bool filled = false;
    int fills = 0;
    // Since the last barrier.
    bool read = false, written = false;
  };

  std::vector<std::string> Arguments(int64_t elements) {
    std::string bytes, empty(elements * 4, '\x11');
    for (int64_t i = 0; i < elements * 4; ++i)
      bytes.push_back(static_cast<char>(random_.Index(256)));
    return {bytes, empty};
  }

  void Statement() {
    switch (random_.Index(6)) {
      case 0:
        return Loop();
      case 1:
        return Branch();
      case 2:
        return Own();
      case 3:
        return Exchange();
      default:
        Fill(AnyShared());
        return ReadFrom(AnyShared());
    }
  }
  Shared& AnyShared() { return shared_[random_.Index(shared_.size())]; }

  // mixed = mixed * 31 + value: no change of a value is lost.
  void Mix(Reg value) {
    const Reg times = b_.Mul(mixed_, b_.Int(31, DType::kInt32));
    b_.Assign(mixed_, b_.Add(times, b_.Cast(DType::kInt32, value)));
  }
  // A value of the dtype that says much of `mixed` and is exact.
  Reg Small(DType dtype) {
    return b_.Cast(RegisterType(dtype),
                   b_.Emit(Op::kFloorMod,
                           {mixed_, b_.Int(dtype == DType::kBool ? 2 : 251,
                                           DType::kInt32)}));
  }

  // A number below `threads`, another for every thread: its own and 4 * any +
  // `residue`.
  Reg Rotated(int64_t residue) {
    const auto by =
        static_cast<int64_t>(random_.Index(threads_ / 4)) * 4 + residue;
    return b_.Emit(Op::kFloorMod,
                   {b_.Add(thread_, b_.Int(by)), b_.Int(threads_)});
  }
  Reg Reversed() { return b_.Sub(b_.Int(threads_ - 1), thread_); }

  void Barrier() {
    b_.Barrier();
    for (Shared& s : shared_) s.read = s.written = false;
  }

  void Fill(Shared& s) {
    if (s.read || s.written) Barrier();
    // No read, and no fill before, has a thread at the same place.
    const Reg at = Rotated(1 + s.fills++ % 2);
    for (int i = 0; i < kRounds; ++i) {
      b_.Store(s.buffer, at, i * threads_, Small(b_.buffer(s.buffer).dtype));
      b_.AssignOp(mixed_, Op::kAdd, {mixed_, b_.Int(i + 1, DType::kInt32)});
    }
    s.written = s.filled = true;
  }
  Reg Read(Shared& s) {
    if (s.written) Barrier();
    s.read = true;
    const auto by = static_cast<int64_t>(random_.Index(kRounds));
    const Reg at = random_.Bernoulli(0.3) ? Reversed()
                                          : Rotated(3);
    return b_.Load(s.buffer, at, by * threads_);
  }
  void ReadFrom(Shared& s) {
    if (!s.filled) Fill(s);
    Mix(Read(s));
  }

  // Its buffer is filled and read in every turn.
  void Loop() {
    Shared& s = AnyShared();
    if (s.read || s.written) Barrier();
    const Reg i =
        b_.BeginFor(0, static_cast<int64_t>(2 + random_.Index(3)), 1, 1, "i");
    Fill(s);
    Mix(i);
    Mix(Read(s));
    if (random_.Bernoulli(0.5)) Exchange();
    Barrier();
    b_.EndFor();
  }

  // Threads part, and meet again before they wait for each other.
  void Branch() {
    Shared& s = AnyShared();
    if (!s.filled) Fill(s);
    if (s.written) Barrier();
    const auto limit = static_cast<int64_t>(1 + random_.Index(threads_));
    b_.BeginIf(b_.Emit(Op::kLt, {thread_, b_.Int(limit)}));
    Mix(Read(s));
    b_.BeginElse();
    Mix(thread_);
    b_.EndIf();
    const Reg i = b_.BeginForRegs(
        b_.Int(0), b_.Emit(Op::kFloorMod, {thread_, b_.Int(3)}), 1, 1, "j");
    Mix(i);
    b_.EndFor();
  }

  void Own() {
    const Reg i = b_.BeginFor(0, kRounds, 1, 1, "i");
    Mix(b_.Load(own_, i, 0));
    b_.Store(own_, i, 0, mixed_);
    b_.EndFor();
  }

  void Exchange() {
    const DType dtypes[] = {DType::kInt32,   DType::kFloat32, DType::kInt64,
                            DType::kFloat64, DType::kBool,    DType::kInt16};
    Reg value = Small(dtypes[random_.Index(6)]);
    const bool vector = random_.Bernoulli(0.3);
    if (vector) {
      value = b_.Insert(b_.Splat(value, 2), 1,
                        b_.Cast(b_.type(value).dtype, thread_));
    }
    if (random_.Bernoulli(0.5)) {
      value = b_.ExchangeXor(
          value, static_cast<int>(1 + random_.Index(warp_ - 1)));
    } else {
      const auto by = static_cast<int64_t>(1 + random_.Index(warp_ - 1));
      value = b_.ExchangeLane(value, b_.Add(thread_, b_.Int(by)));
    }
    if (vector) {
      Mix(b_.Lane(value, 1));
      value = b_.Lane(value, 0);
    }
    Mix(value);
  }

  Random random_;
  const int warp_, threads_;
  ScalarBuilder b_;
  int input_ = 0, output_ = 0, own_ = 0;
  std::vector<Shared> shared_;
  Reg thread_ = kNoReg, base_ = kNoReg, mixed_ = kNoReg;
};

}  // namespace

DrawnThreaded DrawThreaded(uint64_t seed) { return Generator(seed).Draw(); }

}  // namespace tilewright::kernel_ir
