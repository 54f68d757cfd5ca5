// The text form and the wire form of a Schedule.
#include <array>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sketch/trace/schedule.h"

namespace tilewright::sketch {
namespace {

constexpr std::array<const char*, 23> kPrimitiveNames = {
    "block",
    "loop",
    "group_tile",
    "split",
    "fuse",
    "reorder",
    "annotate",
    "compute_at",
    "reverse_compute_at",
    "compute_inline",
    "reverse_compute_inline",
    "cache_read",
    "cache_write",
    "set_layout",
    "set_level",
    "tensorize",
    "rfactor",
    "factor_out",
    "rolling_update",
    "rolling",
    "winograd",
    "skip_zeros",
    "bind",
};

std::optional<Primitive> ParsePrimitive(const std::string& name) {
  for (size_t i = 0; i < kPrimitiveNames.size(); ++i) {
    if (kPrimitiveNames[i] == name) return static_cast<Primitive>(i);
  }
  return std::nullopt;
}

std::string Quoted(const std::string& text) {
  return absl::StrCat("\"", absl::CEscape(text), "\"");
}

std::string Handles(const std::vector<Handle>& handles) {
  return absl::StrJoin(handles, ", ", [](std::string* out, Handle h) {
    absl::StrAppend(out, "%", h);
  });
}

}  // namespace

std::string_view Name(Primitive primitive) {
  size_t index = static_cast<size_t>(primitive);
  return index < kPrimitiveNames.size() ? kPrimitiveNames[index] : "unknown";
}

std::string Schedule::ToString() const {
  std::string out;
  for (const NamedDecision& d : decisions)
    absl::StrAppend(&out, d.name, " = ", d.value, "\n");
  for (const Instruction& i : instructions) {
    if (!i.results.empty()) absl::StrAppend(&out, Handles(i.results), " = ");
    out += Name(i.primitive);
    if (!i.operands.empty()) absl::StrAppend(&out, " ", Handles(i.operands));
    for (size_t f = 0; f < i.factors.size(); ++f) {
      absl::StrAppend(&out, f == 0 ? " by [" : " [",
                      absl::StrJoin(i.factors[f], ", "), "]");
    }
    if (!i.text.empty()) absl::StrAppend(&out, " ", Quoted(i.text));
    out += "\n";
  }
  return out;
}

ScheduleProto Schedule::ToProto() const {
  ScheduleProto proto;
  proto.set_generator(generator);
  for (const NamedDecision& d : decisions) {
    DecisionProto& p = *proto.add_decisions();
    p.set_name(d.name);
    p.set_value(d.value);
  }
  for (const Instruction& i : instructions) {
    InstructionProto& p = *proto.add_instructions();
    p.set_primitive(std::string(Name(i.primitive)));
    for (Handle h : i.operands) p.add_operands(h);
    for (const Factors& factors : i.factors) {
      FactorsProto& f = *p.add_factors();
      for (const int64_t factor : factors) f.add_factor(factor);
    }
    p.set_text(i.text);
    for (Handle h : i.results) p.add_results(h);
  }
  return proto;
}

absl::StatusOr<Schedule> Schedule::FromProto(const ScheduleProto& proto) {
  Schedule schedule;
  schedule.generator = proto.generator();
  for (const DecisionProto& p : proto.decisions())
    schedule.decisions.push_back({p.name(), p.value()});
  for (const InstructionProto& p : proto.instructions()) {
    std::optional<Primitive> primitive = ParsePrimitive(p.primitive());
    if (!primitive) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown primitive '", p.primitive(),
                       "'; was the schedule written by a newer version?"));
    }
    Instruction i;
    i.primitive = *primitive;
    i.operands.assign(p.operands().begin(), p.operands().end());
    for (const FactorsProto& f : p.factors())
      i.factors.emplace_back(f.factor().begin(), f.factor().end());
    i.text = p.text();
    i.results.assign(p.results().begin(), p.results().end());
    schedule.instructions.push_back(std::move(i));
  }
  return schedule;
}

}  // namespace tilewright::sketch
