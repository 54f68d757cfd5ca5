#include "backends/gpu_text/kernel_printer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/kernel_ir/operands.h"

namespace tilewright::gpu_text {

using namespace kernel_ir;  // NOLINT: its instructions are what is printed

namespace {

constexpr size_t kLineWidth = 80;
// Longer expressions get a name.
constexpr size_t kNearbyLength = 40;

// Breaks a line behind commas and operators.
std::string Wrapped(std::string line, size_t indent) {
  std::string wrapped;
  while (line.size() > kLineWidth) {
    size_t at = line.rfind(' ', kLineWidth);
    while (at != std::string::npos && at > indent + 8 &&
           std::string(",+-*/&|?:=^").find(line[at - 1]) == std::string::npos)
      at = line.rfind(' ', at - 1);
    if (at == std::string::npos || at <= indent + 8) break;
    wrapped += line.substr(0, at) + "\n";
    line = std::string(indent + 4, ' ') + line.substr(at + 1);
  }
  return wrapped + line + "\n";
}

}  // namespace

void KernelPrinter::Line(const std::string& text) {
  const size_t indent = static_cast<size_t>(2 * depth_);
  out_ += Wrapped(std::string(indent, ' ') + text, indent);
}

void KernelPrinter::Body(const gpu_text::Body& body) {
  for (const Inst& inst : body) {
    depends_ = {};
    Declare(inst);
    std::visit([&](const auto& n) { One(n); }, inst.node);
  }
}

// Variables that are mentioned first in `inst`: with it, if it is an assignment
// and reads nothing of them, else before it.
void KernelPrinter::Declare(const Inst& inst) {
  for (Reg reg : uses_.DeclaredAt(&inst)) {
    const RegType& type = k_.regs[reg];
    named_[reg] =
        type.name.empty() ? names_.Number("v") : names_.Take(type.name);
    if (Sets(inst) == reg) {
      to_declare_.insert(reg);
    } else {
      Line(absl::StrCat(TypeName(type.dtype, type.lanes), " ", named_[reg],
                        ";"));
    }
  }
}

void KernelPrinter::NameValue(Reg reg, const Piece& piece,
                              const std::string& stem) {
  named_[reg] = names_.Number(stem);
  Line(absl::StrCat("const ", TypeName(dtype(reg), lanes(reg)), " ",
                    named_[reg], " = ", piece.text, ";"));
}

void KernelPrinter::Define(Reg dst, Piece piece, const std::string& stem) {
  if (k_.regs[dst].is_variable) {
    Flush([&](const Depends& d) { return d.variables.count(dst) > 0; });
    const std::string type =
        to_declare_.erase(dst) > 0
            ? absl::StrCat(TypeName(dtype(dst), lanes(dst)), " ")
            : "";
    Line(absl::StrCat(type, named_[dst], " = ", piece.text, ";"));
    return;
  }
  if (uses_.reads(dst) == 0) return;
  // C++ computes narrow integers in int: only an assignment makes them narrow.
  const bool narrow = lanes(dst) == 1 && IsInteger(dtype(dst)) &&
                      SizeBytes(dtype(dst)) < 4 &&
                      piece.level != Level::kPrimary;
  if (!narrow && uses_.ReadOnceNearby(dst) &&
      piece.text.size() <= kNearbyLength) {
    pending_[dst] = {std::move(piece), stem, std::move(depends_)};
    order_.push_back(dst);
    return;
  }
  NameValue(dst, piece, stem);
}

void KernelPrinter::Flush(const std::function<bool(const Depends&)>& spoiled) {
  std::vector<Reg> kept;
  for (Reg reg : order_) {
    const auto at = pending_.find(reg);
    if (at == pending_.end()) continue;
    if (!spoiled(at->second.depends)) {
      kept.push_back(reg);
      continue;
    }
    Settle(reg);
  }
  order_ = std::move(kept);
}

void KernelPrinter::Settle(Reg reg) {
  const auto at = pending_.find(reg);
  if (at == pending_.end()) return;
  const Pending pending = std::move(at->second);
  pending_.erase(at);
  NameValue(reg, pending.piece, pending.stem);
}

const ConstInst* KernelPrinter::ConstantOf(Reg reg) const {
  const auto at = constants_.find(reg);
  return at == constants_.end() ? nullptr : at->second;
}

bool KernelPrinter::IsBroadcast(Reg reg) const {
  return lanes(reg) > 1 &&
         (constants_.count(reg) > 0 || splats_.count(reg) > 0);
}

Piece KernelPrinter::Use(Reg reg, bool typed) {
  if (IsBroadcast(reg)) {
    Piece scalar =
        ConstantOf(reg) != nullptr
            ? Literal(dtype(reg), ConstantOf(reg)->f, ConstantOf(reg)->i, true)
            : Use(splats_.at(reg));
    return Call(absl::StrCat("tw_splat<", lanes(reg), ">"), {scalar});
  }
  if (const ConstInst* constant = ConstantOf(reg))
    return Literal(dtype(reg), constant->f, constant->i, typed);
  if (k_.regs[reg].is_variable) depends_.variables.insert(reg);
  if (const auto at = pending_.find(reg); at != pending_.end()) {
    Piece piece = std::move(at->second.piece);
    const Depends& d = at->second.depends;
    depends_.memory = depends_.memory || d.memory;
    depends_.variables.insert(d.variables.begin(), d.variables.end());
    pending_.erase(at);
    return piece;
  }
  return {named_.at(reg)};
}

Piece KernelPrinter::UseLoosely(Reg reg) {
  if (!IsBroadcast(reg)) return Use(reg, false);
  if (const ConstInst* constant = ConstantOf(reg))
    return Literal(dtype(reg), constant->f, constant->i, false);
  return Use(splats_.at(reg));
}

void KernelPrinter::One(const ConstInst& n) {
  if (!k_.regs[n.dst].is_variable) {
    constants_[n.dst] = &n;
    return;
  }
  Piece literal = Literal(dtype(n.dst), n.f, n.i, lanes(n.dst) > 1);
  if (lanes(n.dst) > 1)
    literal = Call(absl::StrCat("tw_splat<", lanes(n.dst), ">"), {literal});
  Define(n.dst, literal, "");
}

void KernelPrinter::One(const CopyInst& n) {
  Define(n.dst, Use(n.source, !k_.regs[n.dst].is_variable), "t");
}

void KernelPrinter::One(const SplatInst& n) {
  const bool plain =
      !k_.regs[n.dst].is_variable && !k_.regs[n.source].is_variable;
  if (lanes(n.dst) == 1) return Define(n.dst, Use(n.source), "t");
  if (plain && ConstantOf(n.source) != nullptr) {
    constants_[n.dst] = ConstantOf(n.source);
    return;
  }
  if (plain) {
    // Several readers name the scalar.
    if (!uses_.ReadOnceNearby(n.dst)) Settle(n.source);
    splats_[n.dst] = n.source;
    return;
  }
  Define(n.dst,
         Call(absl::StrCat("tw_splat<", lanes(n.dst), ">"), {Use(n.source)}),
         "t");
}

void KernelPrinter::One(const FmaInst& n) {
  if (lanes(n.dst) == 1)
    return Define(n.dst, Call("tw_fma", {Use(n.a), Use(n.b), Use(n.c)}), "t");
  // The first operand says how many lanes there are.
  const bool exchange = IsBroadcast(n.a) && !IsBroadcast(n.b);
  const Piece a = Use(exchange ? n.b : n.a);
  const Piece b = UseLoosely(exchange ? n.a : n.b);
  Define(n.dst, Call("tw_fma", {a, b, UseLoosely(n.c)}), "t");
}

void KernelPrinter::One(const ScaleInst& n) {
  const Piece a = Use(n.a);
  Define(n.dst, Call("tw_scale", {a, UseLoosely(n.n)}), "t");
}

void KernelPrinter::One(const LookupInst& n) {
  const Piece source = Use(n.source);
  const std::string table = names_.Number("table");
  std::vector<std::string> values;
  for (const float value : n.values)
    values.push_back(Literal(DType::kFloat32, value, 0, true).text);
  Line(absl::StrCat("const float ", table, "[", kLookupValues, "] = {",
                    absl::StrJoin(values, ", "), "};"));
  Define(n.dst, Call("tw_lookup", {source, {table}}), "t");
}

void KernelPrinter::One(const PermuteInst& n) {
  Define(n.dst, Call("tw_permute", {Use(n.source), Use(n.table)}), "t");
}

void KernelPrinter::One(const DotInst& n) {
  Define(n.dst, Call("tw_dot", {Use(n.acc), Use(n.a), Use(n.b)}), "t");
}

void KernelPrinter::One(const LaneInst& n) {
  if (lanes(n.source) == 1) return Define(n.dst, Use(n.source), "t");
  const Piece source = Use(n.source);
  Define(n.dst,
         {absl::StrCat(source.Within(Level::kPrimary), "[", n.lane, "]")}, "t");
}

void KernelPrinter::One(const InsertInst& n) {
  if (lanes(n.dst) == 1) return Define(n.dst, Use(n.value), "t");
  Define(n.dst,
         Call("tw_insert",
              {Use(n.source), {absl::StrCat(n.lane)}, Use(n.value, false)}),
         "t");
}

void KernelPrinter::One(const ShuffleInst& n) {
  const Piece a = Use(n.a);
  const Piece b = Use(n.b);
  Define(n.dst,
         Call(absl::StrCat("tw_shuffle<", absl::StrJoin(n.lanes, ", "), ">"),
              {a, b}),
         "t");
}

void KernelPrinter::One(const BitcastInst& n) {
  const Piece source = Use(n.source);
  Define(n.dst,
         dtype(n.dst) == dtype(n.source)
             ? source
             : Call(absl::StrCat("tw_bits<", TypeName(dtype(n.dst)), ">"),
                    {source}),
         "t");
}

void KernelPrinter::One(const AnyInst& n) {
  const Piece source = Use(n.source);
  Define(n.dst, lanes(n.source) == 1 ? source : Call("tw_any", {source}), "t");
}

void KernelPrinter::One(const OpInst& n) {
  const DType operand = dtype(n.operands.back());
  const bool infix = !VectorOperator(n.op).text.empty();
  if (!infix && n.op != Op::kCast && n.op != Op::kSelect &&
      FunctionName(n.op).empty()) {
    status_.Update(absl::UnimplementedError(
        absl::StrCat("no text for ", std::string(Name(n.op)), " of ",
                     std::string(Name(operand)), ": expand it before Emit")));
    // Readers find something.
    named_[n.dst] = "";
    return;
  }
  const Piece value = lanes(n.dst) == 1 ? ScalarOp(n) : VectorOp(n);
  const bool index =
      (dtype(n.dst) == DType::kInt64 || dtype(n.dst) == DType::kInt32) &&
      ranges_.of(n.dst).bounded();
  Define(n.dst, value, index ? "at" : "t");
}

Piece KernelPrinter::ScalarOp(const OpInst& n) {
  const DType operand = dtype(n.operands.back());
  const auto constant = [&](size_t i) {
    return ConstantOf(n.operands[i]) != nullptr;
  };
  if (n.op == Op::kCast)
    return CastTo(dtype(n.dst), operand, Use(n.operands[0]));
  if (n.op == Op::kSelect) {
    const Piece condition = Use(n.operands[0]);
    // One of them gives both their type.
    const Piece a = Use(n.operands[1], constant(2));
    return Conditional(condition, a, Use(n.operands[2], false));
  }
  if (n.operands.size() == 1) {
    const Piece a = Use(n.operands[0]);
    if (n.op == Op::kNeg && IsFloat(operand))
      return {"-" + a.Within(Level::kPrimary), Level::kUnary};
    if (n.op == Op::kNot && operand == DType::kBool)
      return {"!" + a.Within(Level::kUnary), Level::kUnary};
    return Call(FunctionName(n.op), {a});
  }
  // Signed integers wrap, and round down, only where they provably need not.
  Operator infix = ScalarOperator(n.op, operand);
  const bool is_signed = operand == DType::kInt64 || operand == DType::kInt32;
  const bool divides =
      n.op == Op::kDiv || n.op == Op::kFloorDiv || n.op == Op::kFloorMod;
  if (divides && !IsFloat(operand)) {
    infix = {};
    if (is_signed && ranges_.of(n.operands[0]).lo >= 0 &&
        ranges_.of(n.operands[1]).lo > 0)
      infix = {n.op == Op::kFloorMod ? "%" : "/", Level::kProduct};
  } else if (is_signed &&
             (n.op == Op::kAdd || n.op == Op::kSub || n.op == Op::kMul)) {
    if (!ValueRanges::Fits(ranges_.Exact(n), operand)) infix = {};
  }
  if (infix.text.empty()) {
    const Piece a = Use(n.operands[0]);
    return Call(FunctionName(n.op), {a, Use(n.operands[1], false)});
  }
  const Piece a = Use(n.operands[0], constant(1));
  return Infix(infix.text, infix.level, a, Use(n.operands[1], false));
}

Piece KernelPrinter::VectorOp(const OpInst& n) {
  if (n.op == Op::kCast) {
    const Piece a = Use(n.operands[0]);
    if (dtype(n.dst) == dtype(n.operands[0])) return a;
    return Call(absl::StrCat("tw_cast<", TypeName(dtype(n.dst)), ">"), {a});
  }
  // One of the last two operands must be seen to be a vector.
  const size_t size = n.operands.size();
  const bool both = size > 1 && IsBroadcast(n.operands[size - 2]) &&
                    IsBroadcast(n.operands[size - 1]);
  if (n.op == Op::kSelect) {
    const Piece condition = Use(n.operands[0]);
    const Piece a = both ? Use(n.operands[1]) : UseLoosely(n.operands[1]);
    return Call("tw_select", {condition, a, UseLoosely(n.operands[2])});
  }
  if (size == 1) {
    const Piece a = Use(n.operands[0]);
    if (n.op == Op::kNeg)
      return {"-" + a.Within(Level::kPrimary), Level::kUnary};
    return Call(FunctionName(n.op), {a});
  }
  const Piece a = both ? Use(n.operands[0]) : UseLoosely(n.operands[0]);
  const Piece b = UseLoosely(n.operands[1]);
  const Operator infix = VectorOperator(n.op);
  return infix.text.empty() ? Call(FunctionName(n.op), {a, b})
                            : Infix(infix.text, infix.level, a, b);
}

}  // namespace tilewright::gpu_text
