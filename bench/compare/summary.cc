#include "bench/compare/summary.h"

#include <cmath>
#include <map>

#include "absl/strings/str_format.h"

namespace tilewright::bench {
namespace {

const char* VerdictText(SummaryRow::Verdict verdict) {
  switch (verdict) {
    case SummaryRow::Verdict::kOk:
      return "ok";
    case SummaryRow::Verdict::kTooLarge:
      return "TOO LARGE";
    case SummaryRow::Verdict::kNotVerified:
      break;
  }
  return "not verified";
}

struct Mean {
  int count = 0;
  double logarithms = 0;
  const SummaryRow* lowest = nullptr;

  void Add(const SummaryRow& row) {
    ++count;
    logarithms += std::log(row.speed());
    if (lowest == nullptr || row.speed() < lowest->speed()) lowest = &row;
  }
};

}  // namespace

std::string SummaryText(const std::vector<SummaryRow>& rows) {
  std::map<int, Mean> means;
  std::string text =
      "| model | threads | Tilewright ms | ONNX Runtime ms | speed | error |\n"
      "|---|---|---|---|---|---|\n";
  for (const SummaryRow& row : rows) {
    if (row.peer_ms <= 0 || row.own_ms <= 0) continue;
    means[row.threads].Add(row);
    absl::StrAppendFormat(&text, "| %s | %d | %.3f | %.3f | %.2f x | %s |\n",
                          row.model, row.threads, row.own_ms, row.peer_ms,
                          row.speed(), VerdictText(row.verdict));
  }
  if (means.empty()) return "";
  for (const auto& [threads, mean] : means) {
    absl::StrAppendFormat(
        &text,
        "%d thread%s: geometric mean %.3f x over %d models, lowest %.3f x "
        "(%s)\n",
        threads, threads == 1 ? "" : "s",
        std::exp(mean.logarithms / mean.count), mean.count,
        mean.lowest->speed(), mean.lowest->model);
  }
  return text;
}

}  // namespace tilewright::bench
