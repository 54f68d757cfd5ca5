// Counts of how fuzzed cases ended, what went wrong, and where we and a peer
// differ.
#ifndef TILEWRIGHT_BENCH_FUZZ_FUZZ_REPORT_H_
#define TILEWRIGHT_BENCH_FUZZ_FUZZ_REPORT_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/fuzz/fuzz_answer.h"
#include "bench/fuzz/fuzz_worker.h"

namespace tilewright::bench {

class FuzzReport {
 public:
  // `about` says which case it was. A signal, a hang, an exit and a refusal
  // that is not one line are problems.
  void Add(int64_t index, const std::string& about, const CaseEnd& end,
           const FuzzAnswer& answer);
  // Adds the outcome of the peer for the same model.
  void AddPeer(int64_t index, const std::string& about, const FuzzAnswer& ours,
               const CaseEnd& end, const FuzzAnswer& theirs);

  const std::vector<std::string>& problems() const { return problems_; }
  int64_t count(const std::string& what) const;
  // Counts, problems, and differences by kind with the first case of each.
  std::string Text() const;

 private:
  struct Group {
    int64_t count = 0;
    std::string first;
    std::set<std::string> origins;  // families of seeds: what comes before '_'
  };
  void AddDifference(const std::string& kind, const std::string& about,
                     const std::string& first);

  std::map<std::string, int64_t> counts_;
  std::map<std::string, int64_t> peer_counts_;
  std::vector<std::string> problems_;
  std::map<std::string, Group> differences_;
  double slowest_seconds_ = 0;
  int64_t slowest_index_ = -1;
};

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_FUZZ_FUZZ_REPORT_H_
