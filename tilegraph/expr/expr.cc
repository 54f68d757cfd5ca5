#include "tilegraph/expr/expr.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "absl/container/inlined_vector.h"
#include "base/check.h"
#include "tilegraph/expr/expr_node.h"

namespace tilewright {
namespace {

size_t Mix(size_t seed, uint64_t value) {
  uint64_t x = seed ^ (value + 0x9e3779b97f4a7c15ull +
                       (static_cast<uint64_t>(seed) << 6) + (seed >> 2));
  x *= 0xff51afd7ed558ccdull;
  return static_cast<size_t>(x ^ (x >> 32));
}

uint64_t BitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

}  // namespace

Expr Expr::FromNode(Node node) {
  size_t hash =
      Mix(static_cast<size_t>(node.op) * 64 + static_cast<size_t>(node.dtype),
          static_cast<uint64_t>(node.i));
  hash = Mix(hash, BitsOf(node.f));
  for (const Expr& operand : node.operands) hash = Mix(hash, operand.hash());
  node.hash = hash;
  return Expr(std::make_shared<const Node>(std::move(node)));
}

Expr Expr::Int(int64_t value, DType dtype) {
  TW_CHECK(!IsFloat(dtype)) << "an integer constant of dtype " << Name(dtype);
  const auto make = [](int64_t i, DType of) {
    Node node{Op::kConst, of};
    node.i = RoundTo(of, Scalar{0, i}).i;
    return FromNode(std::move(node));
  };
  // Index arithmetic makes these over and over; each thread has its own, for
  // counts of references that all threads change would slow them down.
  constexpr int64_t kShared = 65;
  static thread_local const std::vector<Expr> shared = [&] {
    std::vector<Expr> constants;
    for (int64_t i = 0; i < kShared; ++i)
      constants.push_back(make(i, DType::kInt64));
    return constants;
  }();
  if (dtype == DType::kInt64 && value >= 0 && value < kShared)
    return shared[static_cast<size_t>(value)];
  return make(value, dtype);
}

Expr Expr::Float(double value, DType dtype) {
  TW_CHECK(IsFloat(dtype)) << "a float constant of dtype " << Name(dtype);
  Node node{Op::kConst, dtype};
  node.f = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN()
                             : RoundTo(dtype, Scalar{value, 0}).f;
  return FromNode(std::move(node));
}

Expr Expr::Var(int id, std::string name) {
  Node node{Op::kVar, DType::kInt64};
  node.i = id;
  node.name = std::move(name);
  return FromNode(std::move(node));
}

Expr Expr::Load(int source, DType dtype, std::vector<Expr> indices) {
  for (const Expr& index : indices)
    TW_CHECK(index.dtype() == DType::kInt64)
        << "index " << index.ToString() << " is no i64";
  Node node{Op::kLoad, dtype};
  node.i = source;
  node.operands = std::move(indices);
  return FromNode(std::move(node));
}

Expr Expr::Make(Op op, std::vector<Expr> operands) {
  absl::InlinedVector<DType, 3> dtypes;
  for (const Expr& operand : operands) {
    TW_CHECK(static_cast<bool>(operand))
        << "empty operand of " << tilewright::Name(op);
    dtypes.push_back(operand.dtype());
  }
  const std::optional<DType> dtype = ResultDType(op, dtypes);
  if (!dtype.has_value()) {
    std::string got;
    for (const Expr& operand : operands)
      got += " " + std::string(tilewright::Name(operand.dtype()));
    TW_CHECK(dtype.has_value()) << "operation " << tilewright::Name(op)
                                << " does not take operands of dtypes:" << got;
  }
  Node node{op, *dtype};
  node.operands = std::move(operands);
  return FromNode(std::move(node));
}

Expr Expr::Cast(DType to, Expr operand) {
  TW_CHECK(static_cast<bool>(operand)) << "empty operand of cast";
  Node node{Op::kCast, to};
  node.operands.push_back(std::move(operand));
  return FromNode(std::move(node));
}

Op Expr::op() const { return node_->op; }
DType Expr::dtype() const { return node_->dtype; }
absl::Span<const Expr> Expr::operands() const { return node_->operands; }
size_t Expr::hash() const { return node_->hash; }

int64_t Expr::int_value() const {
  TW_CHECK(op() == Op::kConst && !IsFloat(dtype()))
      << ToString() << " is no integer constant";
  return node_->i;
}

double Expr::float_value() const {
  TW_CHECK(op() == Op::kConst && IsFloat(dtype()))
      << ToString() << " is no float constant";
  return node_->f;
}

int Expr::var_id() const {
  TW_CHECK(op() == Op::kVar) << ToString() << " is no variable";
  return static_cast<int>(node_->i);
}

const std::string& Expr::var_name() const {
  TW_CHECK(op() == Op::kVar) << ToString() << " is no variable";
  return node_->name;
}

int Expr::source() const {
  TW_CHECK(op() == Op::kLoad) << ToString() << " is no load";
  return static_cast<int>(node_->i);
}

bool operator==(const Expr& a, const Expr& b) {
  if (a.node_ == b.node_) return true;
  if (a.node_ == nullptr || b.node_ == nullptr) return false;
  const Expr::Node& x = *a.node_;
  const Expr::Node& y = *b.node_;
  return x.hash == y.hash && x.op == y.op && x.dtype == y.dtype && x.i == y.i &&
         BitsOf(x.f) == BitsOf(y.f) && x.operands == y.operands;
}

// --- i64 index arithmetic

namespace {

bool BothConst(const Expr& a, const Expr& b) {
  return a.op() == Op::kConst && b.op() == Op::kConst;
}

void CheckIndices(const Expr& a, const Expr& b) {
  TW_CHECK(a.dtype() == DType::kInt64 && b.dtype() == DType::kInt64)
      << "index arithmetic on " << a.ToString() << " and " << b.ToString();
}

}  // namespace

Expr operator+(const Expr& a, const Expr& b) {
  CheckIndices(a, b);
  if (BothConst(a, b)) {
    return Expr::Int(
        static_cast<int64_t>(static_cast<uint64_t>(a.int_value()) +
                             static_cast<uint64_t>(b.int_value())));
  }
  if (a.IsIntConst(0)) return b;
  if (b.IsIntConst(0)) return a;
  return Expr::Make(Op::kAdd, {a, b});
}

Expr operator-(const Expr& a, const Expr& b) {
  CheckIndices(a, b);
  if (BothConst(a, b)) {
    return Expr::Int(
        static_cast<int64_t>(static_cast<uint64_t>(a.int_value()) -
                             static_cast<uint64_t>(b.int_value())));
  }
  if (b.IsIntConst(0)) return a;
  return Expr::Make(Op::kSub, {a, b});
}

Expr operator*(const Expr& a, const Expr& b) {
  CheckIndices(a, b);
  if (BothConst(a, b)) {
    return Expr::Int(
        static_cast<int64_t>(static_cast<uint64_t>(a.int_value()) *
                             static_cast<uint64_t>(b.int_value())));
  }
  if (a.IsIntConst(0) || b.IsIntConst(1)) return a;
  if (b.IsIntConst(0) || a.IsIntConst(1)) return b;
  return Expr::Make(Op::kMul, {a, b});
}

Expr FloorDiv(const Expr& a, const Expr& b) {
  CheckIndices(a, b);
  if (b.IsIntConst(1)) return a;
  if (BothConst(a, b)) {
    const int64_t x = a.int_value(), y = b.int_value();
    if (y == 0) return Expr::Int(0);
    if (y == -1)
      return Expr::Int(static_cast<int64_t>(0 - static_cast<uint64_t>(x)));
    return Expr::Int(x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0));
  }
  return Expr::Make(Op::kFloorDiv, {a, b});
}

Expr FloorMod(const Expr& a, const Expr& b) {
  CheckIndices(a, b);
  if (b.IsIntConst(1)) return Expr::Int(0);
  if (BothConst(a, b)) {
    const int64_t x = a.int_value(), y = b.int_value();
    if (y == 0 || y == -1) return Expr::Int(0);
    return Expr::Int(x % y + ((x % y != 0 && (x < 0) != (y < 0)) ? y : 0));
  }
  return Expr::Make(Op::kFloorMod, {a, b});
}

// --- Walking and rebuilding

void Visit(const Expr& expr, const std::function<void(const Expr&)>& fn) {
  for (const Expr& operand : expr.operands()) Visit(operand, fn);
  fn(expr);
}

Expr WithOperands(const Expr& expr, std::vector<Expr> operands) {
  TW_CHECK_EQ(operands.size(), expr.operands().size())
      << "operands of " << expr.ToString();
  switch (expr.op()) {
    case Op::kConst:
    case Op::kVar:
      return expr;
    case Op::kLoad:
      return Expr::Load(expr.source(), expr.dtype(), std::move(operands));
    case Op::kCast:
      return Expr::Cast(expr.dtype(), std::move(operands[0]));
    default:
      return Expr::Make(expr.op(), std::move(operands));
  }
}

class Rewriter {
 public:
  explicit Rewriter(const std::function<Expr(const Expr&)>& fn) : fn_(fn) {}

  Expr Run(const Expr& expr) {
    // A node reached again through another user is rewritten once: bodies that
    // share subtrees stay small.
    const bool shared = expr.node_.use_count() > 1 && !expr.operands().empty();
    if (shared) {
      if (const auto found = done_.find(expr.node_.get()); found != done_.end())
        return found->second;
    }
    const absl::Span<const Expr> before = expr.operands();
    std::vector<Expr> operands;  // from the first one on that changes, all
    bool changed = false;
    for (size_t i = 0; i < before.size(); ++i) {
      Expr operand = Run(before[i]);
      if (!changed) {
        if (operand.node_ == before[i].node_) continue;
        changed = true;
        operands.reserve(before.size());
        operands.assign(before.begin(), before.begin() + i);
      }
      operands.push_back(std::move(operand));
    }
    Expr result = changed ? WithOperands(expr, std::move(operands)) : expr;
    if (Expr replaced = fn_(result)) result = std::move(replaced);
    if (shared) done_.emplace(expr.node_.get(), result);
    return result;
  }

 private:
  const std::function<Expr(const Expr&)>& fn_;
  std::unordered_map<const Expr::Node*, Expr>
      done_;  // Looked up only, never iterated.
};

Expr Rewrite(const Expr& expr, const std::function<Expr(const Expr&)>& fn) {
  return Rewriter(fn).Run(expr);
}

Expr Substitute(const Expr& expr,
                const std::function<Expr(int var_id)>& binding) {
  return Rewrite(expr, [&](const Expr& node) {
    return node.op() == Op::kVar ? binding(node.var_id()) : Expr();
  });
}

}  // namespace tilewright
