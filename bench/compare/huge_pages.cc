#include "bench/compare/huge_pages.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tilewright::bench {
namespace {

constexpr std::pair<HugePages, const char*> kNames[] = {
    {HugePages::kBoth, "both"},
    {HugePages::kNone, "none"},
    {HugePages::kOwn, "own"},
};
constexpr char kTunables[] = "GLIBC_TUNABLES";
constexpr char kHugeMalloc[] = "glibc.malloc.hugetlb=1";

// "always", "madvise", "never"; "" if there is no such file.
std::string KernelMode() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string word;
  while (file >> word) {
    if (word.size() > 2 && word.front() == '[')
      return word.substr(1, word.size() - 2);
  }
  return "";
}

absl::Status ArrangeForBoth(char** argv) {
  const std::string mode = KernelMode();
  if (mode == "always") return absl::OkStatus();
  if (mode != "madvise") {
    return absl::UnavailableError(
        "this kernel gives no huge pages; compare with --huge-pages=none");
  }
  const char* set = std::getenv(kTunables);
  const std::string tunables = set == nullptr ? "" : set;
  if (absl::StrContains(tunables, kHugeMalloc)) return absl::OkStatus();
  setenv(
      kTunables,
      absl::StrCat(tunables, tunables.empty() ? "" : ":", kHugeMalloc).c_str(),
      1);
  execv("/proc/self/exe", argv);
  return absl::UnavailableError(absl::StrCat("cannot start again with ",
                                             kTunables, "=", kHugeMalloc, ": ",
                                             std::strerror(errno)));
}

}  // namespace

std::optional<HugePages> ParseHugePages(std::string_view text) {
  for (const auto& [which, name] : kNames) {
    if (text == name) return which;
  }
  return std::nullopt;
}

const char* HugePagesName(HugePages which) {
  for (const auto& [one, name] : kNames) {
    if (one == which) return name;
  }
  return "?";
}

absl::Status ArrangeHugePages(HugePages which, char** argv) {
  if (which == HugePages::kBoth) return ArrangeForBoth(argv);
  if (which == HugePages::kNone && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) {
    return absl::UnavailableError(absl::StrCat(
        "the kernel does not take huge pages away: ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

int64_t HugePageBytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string word;
  int64_t kilobytes = 0;
  while (file >> word) {
    if (word == "AnonHugePages:" && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace tilewright::bench
