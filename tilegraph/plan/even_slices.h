// Which slices of a step's terms there are (BlockTile::slices), for planners
// and the generator of schedules alike.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_EVEN_SLICES_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_EVEN_SLICES_H_

#include <algorithm>
#include <cstdint>

namespace tilewright {

// `wanted`, if the terms are whole steps and these are cut evenly, else 1.
// `step` 0: all terms at once.
inline int64_t EvenSlices(int64_t terms, int64_t step, int64_t wanted) {
  step = step > 0 ? std::min(step, terms) : terms;
  return terms % step == 0 && step % wanted == 0 ? wanted : 1;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_EVEN_SLICES_H_
