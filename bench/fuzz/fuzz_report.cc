#include "bench/fuzz/fuzz_report.h"

#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tilewright::bench {
namespace {

using Kind = CaseEnd::Kind;

// "ran", "refused by import", "signal", ...
std::string ClassOf(const CaseEnd& end, const FuzzAnswer& answer) {
  switch (end.kind) {
    case Kind::kSignal:
      return "signal";
    case Kind::kHang:
      return "hang";
    case Kind::kExit:
      return "exit";
    case Kind::kAnswered:
      break;
  }
  return answer.verdict == "refused" ? absl::StrCat("refused by ", answer.stage)
                                     : answer.verdict;
}

std::string ProblemOf(const CaseEnd& end, const FuzzAnswer& answer) {
  switch (end.kind) {
    case Kind::kSignal:
      return absl::StrCat("signal ", end.number, " (", strsignal(end.number),
                          ")");
    case Kind::kHang:
      return "hang";
    case Kind::kExit:
      return absl::StrCat("exit ", end.number);
    case Kind::kAnswered:
      break;
  }
  if (answer.verdict == "garbled") return "garbled answer";
  if (answer.verdict != "refused") return "";
  if (answer.message.empty()) return "a refusal that says nothing";
  if (absl::StrContains(answer.message, "\n"))
    return absl::StrCat("a refusal of several lines: ",
                        absl::CEscape(answer.message));
  return "";
}

std::string OneLine(const std::string& text) {
  return absl::Utf8SafeCEscape(text).substr(0, 400);
}

}  // namespace

void FuzzReport::Add(int64_t index, const std::string& about,
                     const CaseEnd& end, const FuzzAnswer& answer) {
  ++counts_[ClassOf(end, answer)];
  if (end.seconds > slowest_seconds_) {
    slowest_seconds_ = end.seconds;
    slowest_index_ = index;
  }
  const std::string problem = ProblemOf(end, answer);
  if (!problem.empty())
    problems_.push_back(
        absl::StrCat("case ", index, ": ", problem, " [", about, "]"));
}

void FuzzReport::AddDifference(const std::string& kind,
                               const std::string& about,
                               const std::string& first) {
  Group& group = differences_[kind];
  if (group.count++ == 0) group.first = first;
  // "test_conv_with_pads/model.onnx: ..." -> "conv".
  std::string origin = about.substr(0, about.find('/'));
  if (absl::StartsWith(origin, "test_")) origin = origin.substr(5);
  group.origins.insert(origin.substr(0, origin.find('_')));
}

void FuzzReport::AddPeer(int64_t index, const std::string& about,
                         const FuzzAnswer& ours, const CaseEnd& end,
                         const FuzzAnswer& theirs) {
  const std::string what = absl::StrCat("case ", index, " [", about, "]");
  const bool they_refuse =
      end.kind != Kind::kAnswered || theirs.verdict == "refused";
  if (end.kind != Kind::kAnswered) {
    ++peer_counts_[absl::StrCat("theirs: ", ClassOf(end, theirs))];
  }
  if (ours.verdict == "refused") {
    if (they_refuse) {
      ++peer_counts_["both refuse"];
    } else {
      ++peer_counts_["we refuse, they accept"];
      AddDifference(absl::StrCat("WE REFUSE (", ours.stage,
                                 "): ", KindOfMessage(ours.message)),
                    about, absl::StrCat(what, " ", OneLine(ours.message)));
    }
    return;
  }
  if (they_refuse) {
    ++peer_counts_["they refuse, we accept"];
    const std::string message =
        end.kind != Kind::kAnswered ? ProblemOf(end, theirs) : theirs.message;
    AddDifference(absl::StrCat("THEY REFUSE (", theirs.stage,
                               "): ", KindOfMessage(message)),
                  about, absl::StrCat(what, " ", OneLine(message)));
    return;
  }
  if (ours.verdict != "ran" || theirs.verdict != "ran") {
    ++peer_counts_["both accept, not run"];
    return;
  }
  const std::string difference = Difference(ours.outputs, theirs.outputs);
  ++peer_counts_[difference.empty() ? "both run, same outputs"
                                    : "both run, outputs differ"];
  if (difference.empty()) return;
  // By operator: the origin names it.
  AddDifference(
      absl::StrCat("OUTPUTS DIFFER: ", about.substr(0, about.find(':'))), about,
      absl::StrCat(what, " ", difference));
}

int64_t FuzzReport::count(const std::string& what) const {
  const auto at = counts_.find(what);
  return at == counts_.end() ? 0 : at->second;
}

std::string FuzzReport::Text() const {
  std::string text;
  for (const auto& [what, count] : counts_)
    absl::StrAppend(&text, count, "\t", what, "\n");
  absl::StrAppend(&text, "slowest: ", slowest_seconds_,
                  " s of processor, case ", slowest_index_, "\n");
  for (const auto& [what, count] : peer_counts_)
    absl::StrAppend(&text, count, "\t", what, "\n");
  for (const auto& [kind, group] : differences_)
    absl::StrAppend(&text, group.count, "\t", kind, "\n\t",
                    absl::StrJoin(group.origins, " "), "\n\t", group.first,
                    "\n");
  for (const std::string& problem : problems_)
    absl::StrAppend(&text, "PROBLEM ", problem, "\n");
  return text;
}

}  // namespace tilewright::bench
