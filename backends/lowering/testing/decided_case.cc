#include "backends/lowering/testing/decided_case.h"

#include <cctype>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/generator.h"
#include "sketch/tree/block_tree_verifier.h"

namespace tilewright::lowering {
namespace {

absl::Status Wrong(const char* what, const absl::Status& status,
                   const std::string& more) {
  return absl::InternalError(
      absl::StrCat(what, ": ", std::string(status.message()), "\n", more));
}

}  // namespace

std::string DecidedCase::ToString() const {
  return absl::StrCat(tilewright::ToString(table), random_case.ToString());
}

absl::StatusOr<DecidedCase> DecideCase(const sketch::SampleGroup& group,
                                       DecisionPolicy& policy, uint64_t seed) {
  DecidedCase decided;
  RandomCase& c = decided.random_case;
  c.seed = seed;
  c.workload = group.workload;
  Decider decider(policy);
  TW_ASSIGN_OR_RETURN(c.schedule, Generate(group.generator, group.workload,
                                           group.spec, decider));
  decided.table = decider.decisions();
  absl::StatusOr<sketch::BlockTree> tree =
      sketch::Replay(c.workload, c.schedule);
  TW_RETURN_IF_ERROR(tree.status());
  c.tree = *std::move(tree);
  const absl::Status verified = sketch::VerifyBlockTree(c.tree);
  if (!verified.ok()) return Wrong("tree", verified, decided.ToString());
  const absl::Status prepared = PrepareCase(c, group.exact);
  if (!prepared.ok()) return Wrong("lowering", prepared, decided.ToString());
  return decided;
}

void Refusals::Add(const sketch::SampleGroup& group,
                   const absl::Status& status) {
  std::string reason = absl::StrCat(group.generator.name, ": ");
  for (const char c : status.message()) {
    if (c == '\n') break;
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) reason += c;
    if (digit && reason.back() != '#') reason += '#';
  }
  ++reasons_[reason];
  ++count_;
}

std::string Refusals::ToString() const {
  std::string text;
  for (const auto& [reason, count] : reasons_)
    absl::StrAppend(&text, "  ", count, " x ", reason, "\n");
  return text;
}

}  // namespace tilewright::lowering
