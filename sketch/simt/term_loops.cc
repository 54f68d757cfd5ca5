#include "sketch/simt/term_loops.h"

#include <algorithm>
#include <cstddef>

#include "base/ceil_div.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kWindow = 9;  // of 3 x 3, where a thread has few elements
constexpr int64_t kFewMultiplyAdds = 192;  // of a thread for a window
constexpr int64_t kLeastTerms = 4, kMostTerms = 8;
constexpr int64_t kMultiplyAdds = 1024;  // of a thread in a row else, by rule

}  // namespace

int64_t PreferredTerms(const ThreadDivision& division) {
  const int64_t elements = division.elements_per_thread();
  if (elements * kWindow <= kFewMultiplyAdds) return kWindow;
  return std::clamp(kMultiplyAdds / elements, kLeastTerms, kMostTerms);
}

TermLoops WriteOutTerms(ScheduleWriter& writer,
                        const std::vector<TermLoop>& loops, int64_t most) {
  TermLoops terms;
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    int64_t together = std::clamp<int64_t>(loop->extent, 1, most);
    while (loop->extent % together != 0) --together;
    if (terms.innermost < 0 && loop->extent > 1) {
      terms.innermost = loop->axis;
      terms.in_a_row = together;
    }
    Handle whole = loop->loop;
    if (together > 1) {
      if (together < loop->extent) {
        const std::vector<Handle> parts =
            writer.Split(loop->loop, {loop->extent / together, together});
        writer.Annotate(parts[1], "unroll");
        terms.order.insert(terms.order.begin(), parts[1]);
        whole = parts[0];
      } else {
        writer.Annotate(whole, "unroll");
      }
    }
    terms.order.insert(terms.order.begin(), whole);
    // Loops around one that is not written out are none either.
    most = together < loop->extent ? 1 : most / together;
  }
  return terms;
}

}  // namespace tilewright::sketch
