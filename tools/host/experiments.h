// Two questions of whoever measures candidates: how many repeats are enough
// (AdaTune), and what running several at once does to their times (DOPpler).
#ifndef TILEWRIGHT_TOOLS_HOST_EXPERIMENTS_H_
#define TILEWRIGHT_TOOLS_HOST_EXPERIMENTS_H_

#include <time.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "tools/host/host_facts.h"

namespace tilewright::tools {

// Something a candidate might be bound by. One execution takes tens to hundreds
// of microseconds; threads work on memory of their own.
struct WorkKernel {
  std::string name;  // "f32", "l2", "l3", "dram"
  std::function<void(int thread)> run;
};

// Multiply-adds in registers, and a read of half of each cache that is a core's
// own and of memory. They use `memory`, which outlives them.
std::vector<WorkKernel> WorkKernels(const DeviceSpec& structure, char* memory,
                                    int64_t memory_bytes);

// AdaTune, figure 3: 500 executions in micro-batches of 10, and after each the
// coefficient of variation of the performance so far.
HostFacts::Variation VariationOf(const WorkKernel& kernel,
                                 const std::string& clock_name,
                                 clockid_t clock);

// The same from latencies that are given.
HostFacts::Variation VariationOfLatencies(
    const std::string& kernel, const std::string& clock_name,
    const std::vector<double>& latencies_ns);

// DOPpler, figure 5: executions on 1 to `most` threads at the same time, for
// 20 ms each; the best of three rounds.
std::vector<HostFacts::Interference> InterferenceOf(const WorkKernel& kernel,
                                                    int most);

// The smallest difference of two looks at a clock that is not 0.
double SmallestStepNs(clockid_t clock);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_HOST_EXPERIMENTS_H_
