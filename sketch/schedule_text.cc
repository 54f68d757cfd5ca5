// The text form and the wire form of a Schedule.
#include <array>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sketch/schedule.h"

namespace tilewright::sketch {
namespace {

constexpr std::array<const char*, 20> kPrimitiveNames = {
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
};
constexpr std::array<const char*, 4> kKindNames = {"split", "choice",
                                                   "permutation", "location"};

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

std::string DecisionLine(const Decision& d) {
  std::string line = absl::StrCat(Quoted(d.name), ": ",
                                  kKindNames[static_cast<size_t>(d.kind)], " ");
  if (d.open) line += "open ";
  absl::StrAppend(&line, "[", absl::StrJoin(d.value, ", "), "]");
  if (d.extent != 0) absl::StrAppend(&line, " of ", d.extent);
  if (d.parts != 0) absl::StrAppend(&line, " parts ", d.parts);
  if (d.innermost_cap != 0)
    absl::StrAppend(&line, " innermost <= ", d.innermost_cap);
  if (!d.tails) line += " no tails";
  for (const std::string& option : d.options)
    absl::StrAppend(&line, " | ", Quoted(option));
  return line;
}

}  // namespace

std::string_view Name(Primitive primitive) {
  size_t index = static_cast<size_t>(primitive);
  return index < kPrimitiveNames.size() ? kPrimitiveNames[index] : "unknown";
}

std::string Schedule::ToString() const {
  std::string out;
  for (const Decision& d : decisions)
    absl::StrAppend(&out, DecisionLine(d), "\n");
  for (const Instruction& i : instructions) {
    if (!i.results.empty()) absl::StrAppend(&out, Handles(i.results), " = ");
    out += Name(i.primitive);
    if (!i.operands.empty()) absl::StrAppend(&out, " ", Handles(i.operands));
    if (!i.decisions.empty()) {
      absl::StrAppend(
          &out, " by ",
          absl::StrJoin(i.decisions, ", ", [&](std::string* text, int d) {
            bool known = d >= 0 && d < static_cast<int>(decisions.size());
            absl::StrAppend(
                text, known ? Quoted(decisions[d].name) : absl::StrCat("#", d));
          }));
    }
    if (!i.text.empty()) absl::StrAppend(&out, " ", Quoted(i.text));
    out += "\n";
  }
  return out;
}

ScheduleProto Schedule::ToProto() const {
  ScheduleProto proto;
  for (const Decision& d : decisions) {
    DecisionProto& p = *proto.add_decisions();
    p.set_name(d.name);
    p.set_kind(static_cast<DecisionProto::Kind>(d.kind));
    p.set_open(d.open);
    for (int64_t v : d.value) p.add_value(v);
    p.set_extent(d.extent);
    p.set_parts(d.parts);
    p.set_tails(d.tails);
    p.set_innermost_cap(d.innermost_cap);
    for (const std::string& option : d.options) p.add_options(option);
  }
  for (const Instruction& i : instructions) {
    InstructionProto& p = *proto.add_instructions();
    p.set_primitive(std::string(Name(i.primitive)));
    for (Handle h : i.operands) p.add_operands(h);
    for (int d : i.decisions) p.add_decisions(d);
    p.set_text(i.text);
    for (Handle h : i.results) p.add_results(h);
  }
  return proto;
}

absl::StatusOr<Schedule> Schedule::FromProto(const ScheduleProto& proto) {
  Schedule schedule;
  for (const DecisionProto& p : proto.decisions()) {
    if (!DecisionProto::Kind_IsValid(p.kind())) {
      return absl::InvalidArgumentError(
          absl::StrCat("decision '", p.name(), "' has unknown kind ", p.kind(),
                       "; was it written by a newer version?"));
    }
    Decision d;
    d.name = p.name();
    d.kind = static_cast<Decision::Kind>(p.kind());
    d.open = p.open();
    d.value.assign(p.value().begin(), p.value().end());
    d.extent = p.extent();
    d.parts = p.parts();
    d.tails = p.tails();
    d.innermost_cap = p.innermost_cap();
    d.options.assign(p.options().begin(), p.options().end());
    schedule.decisions.push_back(std::move(d));
  }
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
    i.decisions.assign(p.decisions().begin(), p.decisions().end());
    i.text = p.text();
    i.results.assign(p.results().begin(), p.results().end());
    schedule.instructions.push_back(std::move(i));
  }
  return schedule;
}

}  // namespace tilewright::sketch
