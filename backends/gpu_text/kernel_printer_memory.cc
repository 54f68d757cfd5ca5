// Loads, stores, barriers and control flow.
#include <algorithm>
#include <cstdint>
#include <variant>

#include "absl/strings/str_cat.h"
#include "backends/gpu_text/kernel_printer.h"
#include "backends/kernel_ir/access_pieces.h"

namespace tilewright::gpu_text {

using namespace kernel_ir;  // NOLINT: its instructions are what is printed

Piece KernelPrinter::Index(Reg offset, int64_t constant_offset) {
  if (offset == kNoReg) return {absl::StrCat(constant_offset)};
  if (const ConstInst* constant = ConstantOf(offset))
    return {absl::StrCat(constant->i + constant_offset)};
  Piece at = Use(offset);
  if (constant_offset == 0) return at;
  const Interval sum = ranges_.of(offset) + Interval::Point(constant_offset);
  if (dtype(offset) == DType::kInt32 && !ValueRanges::Fits(sum, DType::kInt32))
    at = CastTo(DType::kInt64, DType::kInt32, at);
  return constant_offset > 0
             ? Infix("+", Level::kSum, at, {absl::StrCat(constant_offset)})
             : Infix("-", Level::kSum, at, {absl::StrCat(-constant_offset)});
}

Piece KernelPrinter::Element(int buffer, const Piece& index) const {
  return {absl::StrCat(buffers_[buffer], "[", index.text, "]")};
}

// Buffers begin at multiples of 64 bytes, but what threads have for themselves,
// which is registers at best.
template <typename Access>
bool KernelPrinter::IsAligned(const Access& n, int lanes) const {
  const ScalarBuffer& buffer = k_.buffers[n.buffer];
  const bool together =
      n.mask == kNoReg || this->lanes(n.mask) == 1 || IsBroadcast(n.mask);
  return together && !buffer.per_thread &&
         IsInWidePieces(divisors_, lanes, n.active, SizeBytes(buffer.dtype),
                        n.offset, n.constant_offset);
}

void KernelPrinter::One(const LoadInst& n) {
  const ScalarBuffer& buffer = k_.buffers[n.buffer];
  const bool widens = RegisterType(buffer.dtype) != buffer.dtype;
  const bool bits = widens && dtype(n.dst) == DType::kUInt16;
  const Piece index = Index(n.offset, n.constant_offset);
  Piece value;
  if (lanes(n.dst) == 1) {
    value = Element(n.buffer, index);
    if (bits) {
      value.text += ".bits";
    } else if (widens) {
      value = Call("tw_float", {value});
    }
    if (n.mask != kNoReg) {
      const Piece mask = Use(n.mask);
      value = Conditional(mask, value,
                          n.other == kNoReg ? Literal(dtype(n.dst), 0, 0, false)
                                            : Use(n.other, false));
    }
  } else if (!bits && IsAligned(n, lanes(n.dst))) {
    std::vector<Piece> arguments = {{buffers_[n.buffer]}, index};
    if (n.mask != kNoReg) {
      arguments.push_back(UseLoosely(n.mask));
      arguments.push_back(n.other == kNoReg ? Piece{"0"} : UseLoosely(n.other));
    }
    value =
        Call(absl::StrCat("tw_load_aligned<", lanes(n.dst), ">"), arguments);
  } else {
    std::vector<Piece> arguments = {{buffers_[n.buffer]}, index};
    const int active = n.active == 0 ? lanes(n.dst) : n.active;
    if (active != lanes(n.dst) || n.mask != kNoReg)
      arguments.push_back({absl::StrCat(active)});
    if (n.mask != kNoReg) arguments.push_back(UseLoosely(n.mask));
    if (n.other != kNoReg) {
      if (n.mask == kNoReg) {
        if (active == lanes(n.dst)) arguments.push_back({absl::StrCat(active)});
        arguments.push_back({"true"});
      }
      arguments.push_back(UseLoosely(n.other));
    }
    if (bits && arguments.size() > 3)
      status_.Update(absl::UnimplementedError("no text for masked bits"));
    value = Call(
        absl::StrCat(bits ? "tw_load_bits<" : "tw_load<", lanes(n.dst), ">"),
        arguments);
  }
  depends_.memory = true;
  Define(n.dst, value, buffers_[n.buffer] + "_");
}

void KernelPrinter::One(const StoreInst& n) {
  const ScalarBuffer& buffer = k_.buffers[n.buffer];
  const Piece index = Index(n.offset, n.constant_offset);
  Piece value = Use(n.value, lanes(n.value) > 1);
  if (lanes(n.value) == 1) {
    if (RegisterType(buffer.dtype) != buffer.dtype)
      value = Call("tw_" + TypeName(buffer.dtype), {value});
    const std::string mask =
        n.mask == kNoReg ? "" : absl::StrCat("if (", Use(n.mask).text, ") ");
    Flush([](const Depends& d) { return d.memory; });
    Line(absl::StrCat(mask, Element(n.buffer, index).text, " = ", value.text,
                      ";"));
    return;
  }
  std::vector<Piece> arguments = {{buffers_[n.buffer]}, index, value};
  if (IsAligned(n, lanes(n.value))) {
    const std::string mask =
        n.mask == kNoReg ? ""
                         : absl::StrCat("if (", UseLoosely(n.mask).text, ") ");
    Flush([](const Depends& d) { return d.memory; });
    Line(absl::StrCat(mask, Call("tw_store_aligned", arguments).text, ";"));
    return;
  }
  const int active = n.active == 0 ? lanes(n.value) : n.active;
  if (active != lanes(n.value) || n.mask != kNoReg)
    arguments.push_back({absl::StrCat(active)});
  if (n.mask != kNoReg) arguments.push_back(UseLoosely(n.mask));
  Flush([](const Depends& d) { return d.memory; });
  Line(absl::StrCat(Call("tw_store", arguments).text, ";"));
}

// No load is written behind it that stands before.
void KernelPrinter::One(const BarrierInst&) {
  Flush([](const Depends& d) { return d.memory; });
  Line("tw_barrier();");
}

// In pieces as large as both places prove to be multiples of.
void KernelPrinter::One(const AsyncCopyInst& n) {
  const int64_t element_bytes = SizeBytes(k_.buffers[n.to].dtype);
  const int elements = PieceOf(divisors_, n, element_bytes);
  std::vector<Piece> arguments = {{buffers_[n.to]},
                                  Index(n.to_offset, n.to_constant),
                                  {buffers_[n.from]},
                                  Index(n.from_offset, n.from_constant)};
  if (n.mask != kNoReg) arguments.push_back(Use(n.mask));
  Flush([](const Depends& d) { return d.memory; });
  Line(absl::StrCat(Call(absl::StrCat("tw_copy_async<", n.lanes, ", ",
                                      elements * element_bytes, ">"),
                         arguments)
                        .text,
                    ";"));
}

void KernelPrinter::One(const CommitInst&) { Line("tw_commit_copies();"); }

// No load is written behind it that stands before.
void KernelPrinter::One(const WaitInst& n) {
  Flush([](const Depends& d) { return d.memory; });
  Line(absl::StrCat("tw_wait_copies<", n.pending, ">();"));
}

// On a line of its own: all threads of a warp take part.
void KernelPrinter::One(const ExchangeInst& n) {
  const Piece source = Use(n.source);
  const Piece value =
      n.lane == kNoReg
          ? Call("tw_shfl_xor", {source, {absl::StrCat(n.lane_xor)}})
          : Call(absl::StrCat("tw_shfl<", k_.warp, ">"),
                 {source, Use(n.lane, false)});
  if (k_.regs[n.dst].is_variable) return Define(n.dst, value, "");
  if (uses_.reads(n.dst) > 0) NameValue(n.dst, value, "t");
}

// A loop reads its bounds once, C++ an end at every turn.
std::string KernelPrinter::Bound(Reg reg, int64_t constant, bool may_change) {
  if (reg == kNoReg) return absl::StrCat(constant);
  depends_ = {};
  const Piece bound = Use(reg, false);
  if (!may_change || (!depends_.memory && depends_.variables.empty()))
    return bound.Within(Level::kSum);
  const std::string name = names_.Number("end");
  Line(absl::StrCat("const ", TypeName(dtype(reg)), " ", name, " = ",
                    bound.text, ";"));
  return name;
}

void KernelPrinter::One(const ForInst& n) {
  const std::string begin = Bound(n.begin, n.constant_begin, false);
  const std::string end = Bound(n.end, n.constant_end, true);
  Flush([](const Depends& d) { return d.memory || !d.variables.empty(); });
  if (n.unroll > 1) Line(absl::StrCat("#pragma unroll ", n.unroll));
  names_.Open();
  const std::string& name = k_.regs[n.var].name;
  const std::string i = names_.Take(name.empty() ? "i" : name);
  named_[n.var] = i;
  Line(absl::StrCat(
      "for (", TypeName(dtype(n.var)), " ", i, " = ", begin, "; ", i, " < ",
      end, "; ",
      n.step == 1 ? absl::StrCat("++", i) : absl::StrCat(i, " += ", n.step),
      ") {"));
  ++depth_;
  Body(n.body);
  --depth_;
  names_.Close();
  Line("}");
}

void KernelPrinter::One(const IfInst& n) {
  const Piece condition = Use(n.condition);
  Flush([](const Depends& d) { return d.memory || !d.variables.empty(); });
  Line(absl::StrCat("if (", condition.text, ") {"));
  for (const gpu_text::Body* body : {&n.then_body, &n.else_body}) {
    if (body == &n.else_body) {
      if (n.else_body.empty()) break;
      Line("} else {");
    }
    names_.Open();
    ++depth_;
    Body(*body);
    --depth_;
    names_.Close();
  }
  Line("}");
}

}  // namespace tilewright::gpu_text
