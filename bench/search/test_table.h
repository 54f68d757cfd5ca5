// A made-up table of two knobs for tests: traces that are nothing but numbers.
#ifndef TILEWRIGHT_BENCH_SEARCH_TEST_TABLE_H_
#define TILEWRIGHT_BENCH_SEARCH_TEST_TABLE_H_

#include <functional>

#include "bench/search/search_table.pb.h"
#include "search/space.h"

namespace tilewright::bench {

// Knobs "x" and "y" of so many values, of which the first are preferred; a
// point takes `ns(x, y)` in each of four executions, 2 ms to be built and 1 ms
// beside its executions. Infinity: it fails; 0: the generator refuses it.
SearchTableProto MadeUpTable(int xs, int ys,
                             const std::function<double(int, int)>& ns);
// x and y.
search::Features MadeUpFeatures();

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_SEARCH_TEST_TABLE_H_
