#include "tilegraph/plan/layout_runs.h"

#include <algorithm>
#include <vector>

namespace tilewright {
namespace {

// Along which neighbours in memory are neighbours; null if there are none.
const Layout::Digit* Innermost(const Layout& dense) {
  const std::vector<Layout::Digit>& digits = dense.digits();
  const auto digit =
      std::find_if(digits.rbegin(), digits.rend(),
                   [](const Layout::Digit& d) { return d.extent > 1; });
  return digit == digits.rend() ? nullptr : &*digit;
}

}  // namespace

int64_t RunLength(const Layout& dense) {
  const Layout::Digit* innermost = Innermost(dense);
  return innermost != nullptr ? innermost->extent : 1;
}

bool EndsInShortRuns(const Layout& dense) {
  constexpr int64_t kShortRun = 4;
  const Layout::Digit* innermost = Innermost(dense);
  return innermost != nullptr &&
         (innermost->div > 1 ||
          (innermost->extent <= kShortRun &&
           innermost->extent < dense.shape()[innermost->dim]));
}

bool EndsAsPlain(const Layout& dense) {
  int last = static_cast<int>(dense.shape().size()) - 1;
  while (last >= 0 && dense.shape()[last] == 1) --last;
  const Layout::Digit* innermost = Innermost(dense);
  return innermost == nullptr ||
         (innermost->dim == last && innermost->extent == dense.shape()[last]);
}

}  // namespace tilewright
