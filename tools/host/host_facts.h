// The facts that tilewright_bench measures of a host. Plain data: made by
// host_benchmarks.h, read by everything that prints.
#ifndef TILEWRIGHT_TOOLS_HOST_HOST_FACTS_H_
#define TILEWRIGHT_TOOLS_HOST_HOST_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/page/json.h"

namespace tilewright::tools {

struct HostFacts {
  struct Peak {
    std::string dtype;         // "f32"
    std::string instructions;  // "AVX-512"
    int threads = 1;
    double ops_per_s = 0;  // of all threads; a multiply-add counts two
  };
  struct Bandwidth {
    std::string loop;  // "read", "write", "copy", "stream"
    int threads = 1;
    int64_t bytes = 0;       // the working set of all threads
    double bytes_per_s = 0;  // of all threads, read plus written
  };
  struct Latency {  // of a load that waits for the one before it
    int64_t bytes = 0;
    double ns = 0;
  };
  struct Retention {     // of the outermost cache
    double wait_ns = 0;  // in which nobody here touches what it holds
    double kept = 0;     // share of 1 that is still there
  };
  struct Cost {
    std::string name;  // "launch", "barrier", "thread", "process", ...
    std::string what;  // for people
    double ns = 0;
  };
  // AdaTune, figure 3: how the coefficient of variation of the performance so
  // far falls with the repeats.
  struct Variation {
    std::string kernel, clock;
    std::vector<int> repeats;
    std::vector<double> cv;
  };
  // DOPpler, figure 5: how much longer an execution takes while `degree` of
  // them run at the same time, by both clocks.
  struct Interference {
    std::string kernel;
    int degree = 1;
    double cpu_slowdown = 1, wall_slowdown = 1;
  };

  std::string command, date, instructions;
  int threads = 1;  // that "all threads" means
  std::vector<Peak> peaks;
  std::vector<Bandwidth> bandwidths;
  std::vector<Latency> latencies;
  std::vector<Retention> retentions;  // by wait, ascending
  std::vector<Cost> costs;
  std::vector<Variation> variations;
  std::vector<Interference> interferences;

  // ns of a cost by name; 0 if it was not measured.
  double CostNs(const std::string& name) const;
};

// Appends one object.
void AppendHostFacts(const HostFacts& facts, Json& json);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_HOST_HOST_FACTS_H_
