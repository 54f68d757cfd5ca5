#include "tilegraph/ir/combiner.h"

#include <limits>

#include "base/check.h"

namespace tilewright {
namespace {

using Kind = Combiner::Kind;

struct KindInfo {
  std::string_view name;
  int arity;
};

// In the order of Kind.
constexpr KindInfo kKinds[] = {{"sum", 1},     {"prod", 1},     {"max", 1},
                               {"min", 1},     {"argmax", 2},   {"argmin", 2},
                               {"welford", 3}, {"maxsumexp", 2}};
constexpr int kKindCount = sizeof(kKinds) / sizeof(kKinds[0]);
static_assert(static_cast<int>(Kind::kMaxSumExp) + 1 == kKindCount,
              "one row per kind");

int SizeBits(DType dtype) { return static_cast<int>(SizeBytes(dtype)) * 8; }
bool IsUnsigned(DType dtype) {
  return dtype == DType::kBool ||
         (dtype >= DType::kUInt8 && dtype <= DType::kUInt64);
}

Expr Number(double value, DType dtype) {
  return IsFloat(dtype) ? Expr::Float(value, dtype)
                        : Expr::Int(static_cast<int64_t>(value), dtype);
}

// Nothing is below; for floats -inf.
Expr Lowest(DType dtype) {
  if (IsFloat(dtype))
    return Expr::Float(-std::numeric_limits<double>::infinity(), dtype);
  if (IsUnsigned(dtype)) return Expr::Int(0, dtype);
  return Expr::Int(
      std::numeric_limits<int64_t>::min() >> (64 - SizeBits(dtype)), dtype);
}

// Nothing is above; for floats +inf.
Expr Highest(DType dtype) {
  if (IsFloat(dtype))
    return Expr::Float(std::numeric_limits<double>::infinity(), dtype);
  if (dtype == DType::kBool) return Expr::Int(1, dtype);
  if (IsUnsigned(dtype)) return Expr::Int(-1, dtype);
  return Expr::Int(
      std::numeric_limits<int64_t>::max() >> (64 - SizeBits(dtype)), dtype);
}

Expr Op2(Op op, const Expr& a, const Expr& b) { return Expr::Make(op, {a, b}); }
Expr Select(const Expr& condition, const Expr& a, const Expr& b) {
  return Expr::Make(Op::kSelect, {condition, a, b});
}

// Takes b where it is better, or as good with a smaller index. NaN is better
// than any number.
std::vector<Expr> CombineArg(Op better, absl::Span<const Expr> a,
                             absl::Span<const Expr> b) {
  const Expr first = Op2(Op::kLt, b[1], a[1]);
  Expr take = Op2(Op::kOr, Op2(better, b[0], a[0]),
                  Op2(Op::kAnd, Op2(Op::kEq, b[0], a[0]), first));
  if (IsFloat(a[0].dtype())) {
    const Expr a_nan = Expr::Make(Op::kIsNan, {a[0]});
    const Expr b_nan = Expr::Make(Op::kIsNan, {b[0]});
    take =
        Select(a_nan, Op2(Op::kAnd, b_nan, first), Op2(Op::kOr, b_nan, take));
  }
  return {Select(take, b[0], a[0]), Select(take, b[1], a[1])};
}

// Chan, Golub, LeVeque: updating formulae for the variance of two samples
// joined.
std::vector<Expr> CombineWelford(absl::Span<const Expr> a,
                                 absl::Span<const Expr> b) {
  const DType dtype = a[0].dtype();
  const Expr zero = Expr::Float(0, dtype);
  const Expr count = Op2(Op::kAdd, a[2], b[2]);
  const Expr delta = Op2(Op::kSub, b[0], a[0]);
  // b's share; an empty pair has none.
  const Expr share =
      Select(Op2(Op::kEq, count, zero), zero, Op2(Op::kDiv, b[2], count));
  const Expr mean = Op2(Op::kAdd, a[0], Op2(Op::kMul, delta, share));
  const Expr between =
      Op2(Op::kMul, Op2(Op::kMul, delta, delta), Op2(Op::kMul, a[2], share));
  return {mean, Op2(Op::kAdd, Op2(Op::kAdd, a[1], b[1]), between), count};
}

// A side whose maximum is the joint one keeps its sum: exp(-inf - -inf) never
// arises.
std::vector<Expr> CombineMaxSumExp(absl::Span<const Expr> a,
                                   absl::Span<const Expr> b) {
  const Expr max = Op2(Op::kMax, a[0], b[0]);
  const auto scaled = [&](absl::Span<const Expr> side) {
    const Expr factor = Expr::Make(Op::kExp, {Op2(Op::kSub, side[0], max)});
    return Select(Op2(Op::kEq, side[0], max), side[1],
                  Op2(Op::kMul, side[1], factor));
  };
  return {max, Op2(Op::kAdd, scaled(a), scaled(b))};
}

}  // namespace

DType Combiner::DefaultAccumulator(DType element) {
  switch (element) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return DType::kFloat32;
    case DType::kInt8:
    case DType::kUInt8:
      return DType::kInt32;
    default:
      return element;
  }
}

int Combiner::arity() const { return kKinds[static_cast<int>(kind_)].arity; }

DType Combiner::component_dtype(int i) const {
  TW_CHECK(i >= 0 && i < arity()) << "component " << i << " of " << ToString();
  const bool index =
      (kind_ == Kind::kArgMax || kind_ == Kind::kArgMin) && i == 1;
  return index ? DType::kInt64 : acc_;
}

std::vector<Expr> Combiner::Identity() const {
  const Expr last =
      Expr::Int(std::numeric_limits<int64_t>::max());  // Behind every index.
  switch (kind_) {
    case Kind::kSum:
      return {Number(0, acc_)};
    case Kind::kProd:
      return {Number(1, acc_)};
    case Kind::kMax:
      return {Lowest(acc_)};
    case Kind::kMin:
      return {Highest(acc_)};
    case Kind::kArgMax:
      return {Lowest(acc_), last};
    case Kind::kArgMin:
      return {Highest(acc_), last};
    case Kind::kWelford:
      return {Number(0, acc_), Number(0, acc_), Number(0, acc_)};
    case Kind::kMaxSumExp:
      return {Lowest(acc_), Number(0, acc_)};
  }
  return {};
}

std::vector<Expr> Combiner::Combine(absl::Span<const Expr> a,
                                    absl::Span<const Expr> b) const {
  TW_CHECK_EQ(static_cast<int>(a.size()), arity()) << ToString();
  TW_CHECK_EQ(static_cast<int>(b.size()), arity()) << ToString();
  for (int i = 0; i < arity(); ++i) {
    TW_CHECK(a[i].dtype() == component_dtype(i) &&
             b[i].dtype() == component_dtype(i))
        << "component " << i << " of " << ToString() << ": " << a[i].ToString()
        << ", " << b[i].ToString();
  }
  switch (kind_) {
    case Kind::kSum:
      return {Op2(Op::kAdd, a[0], b[0])};
    case Kind::kProd:
      return {Op2(Op::kMul, a[0], b[0])};
    case Kind::kMax:
      return {Op2(Op::kMax, a[0], b[0])};
    case Kind::kMin:
      return {Op2(Op::kMin, a[0], b[0])};
    case Kind::kArgMax:
      return CombineArg(Op::kGt, a, b);
    case Kind::kArgMin:
      return CombineArg(Op::kLt, a, b);
    case Kind::kWelford:
      return CombineWelford(a, b);
    case Kind::kMaxSumExp:
      return CombineMaxSumExp(a, b);
  }
  return {};
}

bool Combiner::exact_on_integers() const {
  return kind_ != Kind::kWelford && kind_ != Kind::kMaxSumExp;
}

bool Combiner::Supports(Kind kind, DType acc) {
  switch (kind) {
    case Kind::kSum:
    case Kind::kProd:
      return acc != DType::kBool;
    case Kind::kMax:
    case Kind::kMin:
    case Kind::kArgMax:
    case Kind::kArgMin:
      return true;
    case Kind::kWelford:
    case Kind::kMaxSumExp:
      return IsFloat(acc);
  }
  return false;
}

std::string Combiner::ToString() const {
  return std::string(kKinds[static_cast<int>(kind_)].name) + ":" +
         std::string(Name(acc_));
}

std::optional<Combiner> Combiner::Parse(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<DType> acc = ParseDType(text.substr(colon + 1));
  if (!acc.has_value()) return std::nullopt;
  for (int i = 0; i < kKindCount; ++i) {
    const Kind kind = static_cast<Kind>(i);
    if (kKinds[i].name == text.substr(0, colon) && Supports(kind, *acc))
      return Combiner(kind, *acc);
  }
  return std::nullopt;
}

}  // namespace tilewright
