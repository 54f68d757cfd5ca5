// Equal memory for both sides of a comparison: huge pages for both or for none.
//
// Tilewright asks for huge pages where it allocates more than one; ONNX Runtime
// takes what malloc gives, and that is small pages unless glibc is told.
#ifndef TILEWRIGHT_BENCH_COMPARE_HUGE_PAGES_H_
#define TILEWRIGHT_BENCH_COMPARE_HUGE_PAGES_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"

namespace tilewright::bench {

enum class HugePages {
  kBoth,  // malloc asks for them as well (glibc.malloc.hugetlb=1)
  kNone,  // this process gets none, whoever asks (PR_SET_THP_DISABLE)
  kOwn,   // each side as it comes
};

// "both", "none", "own".
std::optional<HugePages> ParseHugePages(std::string_view text);
const char* HugePagesName(HugePages which);

// Arranges `which` for this process; call it before anything is allocated that
// is measured. kBoth starts the program again, with the same arguments, because
// glibc reads its tunables at the start. Unavailable if the kernel refuses, or
// has no huge pages to give (/sys/kernel/mm/transparent_hugepage/enabled).
absl::Status ArrangeHugePages(HugePages which, char** argv);

// Bytes of this process that lie in transparent huge pages now; 0 if the kernel
// does not say.
int64_t HugePageBytes();

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_COMPARE_HUGE_PAGES_H_
