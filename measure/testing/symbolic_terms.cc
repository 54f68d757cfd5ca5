#include "measure/testing/symbolic_terms.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/types/span.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright::measure {
namespace {

template <typename T>
void AppendBytes(std::string& key, T value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

bool IsCommutative(Op op) {
  switch (op) {
    case Op::kAdd:
    case Op::kMul:
    case Op::kMax:
    case Op::kMin:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kEq:
    case Op::kNe:
      return true;
    default:
      return false;
  }
}

}  // namespace

Term Terms::Number(TermNode node) {
  std::string key;
  AppendBytes(key, node.kind), AppendBytes(key, node.op);
  AppendBytes(key, node.dtype), AppendBytes(key, node.operand_dtype);
  AppendBytes(key, static_cast<int32_t>(node.operands.size()));
  for (const Term operand : node.operands) AppendBytes(key, operand);
  key += node.payload;
  const auto [found, added] =
      numbers_.try_emplace(std::move(key), static_cast<Term>(nodes_.size()));
  if (added) nodes_.push_back(std::move(node));
  return found->second;
}

Term Terms::Const(DType dtype, Scalar value) {
  std::string payload;
  // Every NaN is the same NaN.
  if (!IsFloat(dtype)) {
    AppendBytes(payload, value.i);
  } else if (std::isnan(value.f)) {
    payload = "nan";
  } else {
    AppendBytes(payload, value.f);
  }
  return Number(
      {TermKind::kConst, Op::kConst, dtype, dtype, {}, payload, value});
}

Term Terms::Input(DType dtype, int buffer, int64_t element) {
  std::string payload;
  AppendBytes(payload, buffer), AppendBytes(payload, element);
  return Make(TermKind::kInput, dtype, {}, payload);
}

Term Terms::Undefined(DType dtype) {
  std::string payload;
  AppendBytes(payload, ++undefined_);
  return Make(TermKind::kUndefined, dtype, {}, payload);
}

Term Terms::Make(TermKind kind, DType dtype, const std::vector<Term>& operands,
                 const std::string& payload) {
  return Number({kind, Op::kConst, dtype, dtype, operands, payload, {}});
}

std::optional<Scalar> Terms::Value(Term term) const {
  const TermNode& node = nodes_[term];
  if (node.kind != TermKind::kConst) return std::nullopt;
  return node.value;
}

Term Terms::Apply(Op op, DType dtype, DType operand_dtype,
                  const std::vector<Term>& operands) {
  std::vector<Scalar> values;
  for (const Term operand : operands) {
    const std::optional<Scalar> value = Value(operand);
    if (value) values.push_back(*value);
  }
  if (values.size() == operands.size())
    return Const(dtype,
                 EvaluateOp(op, dtype, operand_dtype, values, /*single=*/true));
  if (op == Op::kSelect) {
    if (const std::optional<Scalar> taken = Value(operands[0]))
      return operands[taken->i != 0 ? 1 : 2];
    if (operands[1] == operands[2]) return operands[1];
  }
  std::vector<Term> ordered = operands;
  if (IsCommutative(op)) std::sort(ordered.begin(), ordered.end());
  return Number(
      {TermKind::kOp, op, dtype, operand_dtype, std::move(ordered), "", {}});
}

Term Terms::Fma(DType dtype, Term a, Term b, Term c) {
  const std::optional<Scalar> x = Value(a), y = Value(b), z = Value(c);
  if (x && y && z) {
    const double value =
        dtype == DType::kFloat64
            ? std::fma(x->f, y->f, z->f)
            : std::fma(static_cast<float>(x->f), static_cast<float>(y->f),
                       static_cast<float>(z->f));
    return Const(dtype, {value, 0});
  }
  return Make(TermKind::kFma, dtype, {std::min(a, b), std::max(a, b), c});
}

}  // namespace tilewright::measure
