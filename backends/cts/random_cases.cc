// Random programs: nested loops and ifs around random operations, with loads,
// stores and variables of random dtypes and lanes.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cts/cases.h"
#include "backends/cts/compare.h"
#include "backends/cts/values.h"
#include "backends/kernel_ir/builder.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::cts {
namespace {

using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::RegisterType;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;

constexpr int64_t kElements = 96;  // of every buffer, per task
constexpr int64_t kTasks = 3;

// An index register with the values it can take.
struct Index {
  Reg reg;
  int64_t min, max;
};

class Generator {
 public:
  Generator(std::string name, uint64_t seed, bool fma)
      : random_(seed), fma_(fma), b_(std::move(name), kTasks) {}

  Run Generate() {
    for (int i = 0; i < 4; ++i) {
      const DType dtype = Pick(AllDTypes());
      inputs_.push_back(b_.AddArgument(absl::StrCat("in", i), dtype,
                                       i == 0 ? Role::kConstant : Role::kInput,
                                       kElements));
      args_.push_back(SomeBytes(dtype, kElements, random_));
    }
    for (int i = 0; i < 2; ++i) {
      const DType dtype = Pick(AllDTypes());
      outputs_.push_back(b_.AddArgument(absl::StrCat("out", i), dtype,
                                        Role::kOutput, kTasks * kElements));
      args_.push_back(Pattern(kTasks * kElements * SizeBytes(dtype)));
    }
    scratch_ = b_.AddScratch("scratch", Pick(AllDTypes()), kElements);
    base_ = b_.Mul(b_.task(), b_.Int(kElements));
    FillScratch();
    for (int i = 0; i < 3; ++i) {
      const Reg value = Value();
      variables_.push_back(
          b_.Variable(b_.type(value).dtype, b_.type(value).lanes));
      b_.Assign(variables_.back(), value);
    }
    Statements(3);
    for (Reg variable : variables_) StoreOutput(variable);
    StoreOutput(Value());
    return {std::move(b_).Finish(), std::move(args_)};
  }

 private:
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[random_.Index(from.size())];
  }

  // Only what was written may be read.
  void FillScratch() {
    const DType dtype = RegisterType(b_.buffer(scratch_).dtype);
    const Reg i = b_.BeginFor(0, kElements, 8);
    b_.Store(scratch_, i, 0,
             IsFloat(dtype) ? b_.Float(0.5, dtype, 8) : b_.Int(1, dtype, 8));
    b_.EndFor();
  }

  // A place for `lanes` elements within [0, kElements).
  std::pair<Reg, int64_t> Place(int lanes) {
    if (!indices_.empty() && random_.Bernoulli(0.7)) {
      const Index index = Pick(indices_);
      const int64_t low = -index.min;
      const int64_t high = kElements - lanes - index.max;
      if (low <= high) return {index.reg, random_.UniformInt(low, high)};
    }
    return {kNoReg, random_.UniformInt(0, kElements - lanes)};
  }

  // A register of any type, or of this type.
  Reg Value() {
    std::vector<Reg> known = values_;
    known.insert(known.end(), variables_.begin(), variables_.end());
    if (known.empty() || random_.Bernoulli(0.3)) return Fresh();
    return Pick(known);
  }
  Reg Fresh() {
    const std::vector<int> lane_choices = {1, 1, 2, 3, 8, 16, 17};
    const int lanes = Pick(lane_choices);
    std::vector<int> readable = inputs_;
    readable.push_back(scratch_);
    const int buffer = Pick(readable);
    const auto [offset, constant] = Place(lanes);
    int active = 0;
    if (lanes > 1 && random_.Bernoulli(0.3)) {
      active = static_cast<int>(random_.UniformInt(1, lanes));
    }
    Reg mask = kNoReg, other = kNoReg;
    if (random_.Bernoulli(0.2)) {
      const int mask_lanes = random_.Bernoulli(0.5) ? 1 : lanes;
      mask = As(Value(), DType::kBool, mask_lanes);
      if (random_.Bernoulli(0.5)) {
        other = As(Value(), RegisterType(b_.buffer(buffer).dtype), lanes);
      }
    }
    return b_.Load(buffer, offset, constant, lanes, active, mask, other);
  }
  Reg As(Reg value, DType dtype, int lanes) {
    value = b_.Cast(dtype, value);
    if (b_.type(value).lanes == lanes) return value;
    if (b_.type(value).lanes > 1) {
      value = b_.Lane(value, static_cast<int>(random_.Index(
                                 static_cast<size_t>(b_.type(value).lanes))));
    }
    return b_.Splat(value, lanes);
  }

  Reg Operation() {
    static const std::vector<Op> float_ops = {
        Op::kNeg, Op::kAbs, Op::kSqrt, Op::kFloor, Op::kCeil,   Op::kRound,
        Op::kAdd, Op::kSub, Op::kMul,  Op::kDiv,   Op::kMax,    Op::kMin,
        Op::kEq,  Op::kLt,  Op::kGe,   Op::kNe,    Op::kSelect, Op::kIsNan};
    static const std::vector<Op> int_ops = {
        Op::kNeg, Op::kAbs,      Op::kAdd,      Op::kSub,   Op::kMul,
        Op::kDiv, Op::kFloorDiv, Op::kFloorMod, Op::kMax,   Op::kMin,
        Op::kAnd, Op::kOr,       Op::kXor,      Op::kNot,   Op::kEq,
        Op::kLt,  Op::kGt,       Op::kLe,       Op::kSelect};
    static const std::vector<Op> bool_ops = {
        Op::kAnd, Op::kOr, Op::kXor, Op::kNot, Op::kEq, Op::kNe, Op::kSelect};
    const Reg a = Value();
    const DType dtype = b_.type(a).dtype;
    const int lanes = b_.type(a).lanes;
    if (fma_ && IsFloat(dtype) && random_.Bernoulli(0.2)) {
      return b_.Fma(a, As(Value(), dtype, lanes), As(Value(), dtype, lanes));
    }
    if (lanes > 1 && random_.Bernoulli(0.1)) {
      return b_.Insert(
          a, static_cast<int>(random_.Index(static_cast<size_t>(lanes))),
          As(Value(), dtype, 1));
    }
    if (lanes > 1 && random_.Bernoulli(0.1)) {
      std::vector<int> chosen(static_cast<size_t>(random_.UniformInt(1, 16)));
      for (int& lane : chosen)
        lane = static_cast<int>(random_.UniformInt(0, 2 * lanes - 1));
      return b_.Shuffle(a, As(Value(), dtype, lanes), std::move(chosen));
    }
    if (dtype == DType::kBool && random_.Bernoulli(0.2)) return b_.Any(a);
    if (SizeBytes(dtype) == 4 && random_.Bernoulli(0.1)) {
      // Which NaN an operation gives is nobody's promise.
      const Reg bits = IsFloat(dtype) ? b_.Select(b_.Emit(Op::kIsNan, {a}),
                                                  b_.Float(0, dtype, lanes), a)
                                      : a;
      return b_.Bitcast(Pick(dtypes_of_four_bytes_), bits);
    }
    if (random_.Bernoulli(0.15)) return b_.Cast(Pick(RegisterDTypes()), a);
    const Op op = Pick(IsFloat(dtype)          ? float_ops
                       : dtype == DType::kBool ? bool_ops
                                               : int_ops);
    if (op == Op::kSelect) {
      return b_.Select(As(Value(), DType::kBool, lanes), a,
                       As(Value(), dtype, lanes));
    }
    if (op < Op::kAdd) return b_.Emit(op, {a});
    return b_.Emit(op, {a, As(Value(), dtype, lanes)});
  }

  void StoreTo(int buffer, Reg offset_base, Reg value) {
    const int lanes = b_.type(value).lanes;
    value = As(value, RegisterType(b_.buffer(buffer).dtype), lanes);
    auto [offset, constant] = Place(lanes);
    if (offset_base != kNoReg) {
      offset = offset == kNoReg ? offset_base : b_.Add(offset_base, offset);
    }
    int active = 0;
    if (lanes > 1 && random_.Bernoulli(0.3)) {
      active = static_cast<int>(random_.UniformInt(1, lanes));
    }
    Reg mask = kNoReg;
    if (random_.Bernoulli(0.3)) {
      mask = As(Value(), DType::kBool, random_.Bernoulli(0.5) ? 1 : lanes);
    }
    b_.Store(buffer, offset, constant, value, active, mask);
  }
  void StoreOutput(Reg value) { StoreTo(Pick(outputs_), base_, value); }

  void Statements(int depth) {
    const size_t values = values_.size();
    const size_t indices = indices_.size();
    const int64_t count = random_.UniformInt(2, 6);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t kind = random_.UniformInt(0, 9);
      if (kind <= 4) {
        values_.push_back(Operation());
      } else if (kind == 5) {
        StoreOutput(Value());
      } else if (kind == 6) {
        StoreTo(scratch_, kNoReg, Value());
      } else if (kind == 7) {
        const Reg variable = Pick(variables_);
        b_.Assign(variable, As(Operation(), b_.type(variable).dtype,
                               b_.type(variable).lanes));
      } else if (depth > 0 && kind == 8) {
        Loop(depth - 1);
      } else if (depth > 0) {
        b_.BeginIf(As(Value(), DType::kBool, 1));
        Statements(depth - 1);
        if (random_.Bernoulli(0.5)) {
          b_.BeginElse();
          Statements(depth - 1);
        }
        b_.EndIf();
      }
    }
    values_.resize(values);
    indices_.resize(indices);
  }

  void Loop(int depth) {
    const int64_t begin = random_.UniformInt(-3, 3);
    const int64_t end = begin + random_.UniformInt(0, 9);
    const int64_t step = random_.UniformInt(1, 3);
    const int unroll = static_cast<int>(random_.UniformInt(1, 4));
    // The end may be known only at run time.
    const DType dtype = random_.Bernoulli(0.5) ? DType::kInt64 : DType::kInt32;
    Reg i;
    if (random_.Bernoulli(0.5)) {
      i = b_.BeginFor(begin, end, step, unroll, "", dtype);
    } else {
      const Reg zero =
          b_.Emit(Op::kFloorMod, {b_.Cast(dtype, b_.task()), b_.Int(1, dtype)});
      i = b_.BeginForRegs(b_.Int(begin, dtype),
                          b_.Add(zero, b_.Int(end, dtype)), step, unroll);
    }
    if (end > begin && dtype == DType::kInt64)
      indices_.push_back({i, begin, end - 1});
    const size_t indices = indices_.size();
    const size_t values = values_.size();
    values_.push_back(i);
    Statements(depth);
    values_.resize(values);
    indices_.resize(indices);
    b_.EndFor();
    if (end > begin && dtype == DType::kInt64) indices_.pop_back();
  }

  const std::vector<DType> dtypes_of_four_bytes_ = {
      DType::kInt32, DType::kUInt32, DType::kFloat32};
  Random random_;
  const bool fma_;
  ScalarBuilder b_;
  std::vector<std::string> args_;
  std::vector<int> inputs_, outputs_;
  int scratch_ = 0;
  Reg base_ = kNoReg;
  std::vector<Reg> values_;  // in scope
  std::vector<Reg> variables_;
  std::vector<Index> indices_;  // in scope
};

void ExpectRandom(const Backend& backend, uint64_t first_seed, int count) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, backend.codegen());
  const bool fma = codegen->spec().unit().fma();
  std::vector<Run> runs;
  for (int i = 0; i < count; ++i) {
    const uint64_t seed = first_seed + static_cast<uint64_t>(i);
    runs.push_back(
        Generator(absl::StrCat("random_", seed), seed, fma).Generate());
  }
  ExpectSameAsInterpreter(backend, runs, 1);
}

}  // namespace

std::vector<Case> RandomCases() {
  std::vector<Case> cases;
  for (int batch = 0; batch < 8; ++batch) {
    cases.push_back({absl::StrCat("RandomPrograms", batch),
                     [batch](const Backend& backend) {
                       ExpectRandom(backend,
                                    1000 * static_cast<uint64_t>(batch), 25);
                     }});
  }
  return cases;
}

}  // namespace tilewright::cts
