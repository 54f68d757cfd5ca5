#include "backends/cuda/nvrtc/ptxas_log.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace tilewright::cuda {
namespace {

// The number before the words `unit`, of parts between commas: "8 bytes stack
// frame, 4 bytes spill stores".
std::optional<int64_t> NumberOf(absl::string_view line,
                                absl::string_view unit) {
  const size_t end = line.find(unit);
  if (end == absl::string_view::npos) return std::nullopt;
  const size_t digits = line.find_last_not_of("0123456789", end - 1);
  const size_t begin = digits == absl::string_view::npos ? 0 : digits + 1;
  int64_t number = 0;
  if (!absl::SimpleAtoi(line.substr(begin, end - begin), &number))
    return std::nullopt;
  return number;
}

// The name between quotes.
std::string Quoted(absl::string_view line) {
  const std::pair<absl::string_view, absl::string_view> rest =
      absl::StrSplit(line, absl::MaxSplits('\'', 1));
  return std::string(rest.second.substr(0, rest.second.find('\'')));
}

}  // namespace

std::map<std::string, KernelResources> ReadPtxasLog(std::string_view log) {
  std::map<std::string, KernelResources> kernels;
  std::string name;
  KernelResources resources;
  bool has_frame = false;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(log.data(), log.size()), '\n')) {
    if (absl::StrContains(line, "Compiling entry function ")) {
      name = Quoted(line);
      resources = {};
      has_frame = false;
      continue;
    }
    if (name.empty()) continue;
    const auto stack = NumberOf(line, " bytes stack frame"),
               stores = NumberOf(line, " bytes spill stores"),
               loads = NumberOf(line, " bytes spill loads"),
               registers = NumberOf(line, " registers");
    if (stack && stores && loads) {
      resources.stack_bytes = *stack;
      resources.spill_store_bytes = *stores;
      resources.spill_load_bytes = *loads;
      has_frame = true;
    } else if (registers && has_frame) {
      resources.registers = static_cast<int>(*registers);
      resources.shared_bytes = NumberOf(line, " bytes smem").value_or(0);
      kernels[name] = resources;
      name.clear();
    }
  }
  return kernels;
}

}  // namespace tilewright::cuda
