#ifndef TILEWRIGHT_BENCH_DECISIONS_HEADROOM_TABLE_H_
#define TILEWRIGHT_BENCH_DECISIONS_HEADROOM_TABLE_H_

#include <string>

#include "bench/decisions/headroom.h"

namespace tilewright::bench {

// The head of a table in Markdown, and the row of a workload in it.
std::string HeadroomHead();
std::string HeadroomRow(const std::string& name, const Headroom& headroom);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_DECISIONS_HEADROOM_TABLE_H_
