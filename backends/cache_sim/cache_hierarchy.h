// Caches of one core, exact in lines: what crosses between memory levels for a
// sequence of accesses. The oracle of the traffic model (tilegraph/traffic).
//
// Every CACHE level of a DeviceSpec is a write-back, write-allocate cache that
// replaces the line used least recently. A miss asks the next outer level; a
// dirty line that is driven out is written there. Levels are neither inclusive
// nor exclusive.
#ifndef TILEWRIGHT_BACKENDS_CACHE_SIM_CACHE_HIERARCHY_H_
#define TILEWRIGHT_BACKENDS_CACHE_SIM_CACHE_HIERARCHY_H_

#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/spec/device_spec.pb.h"

namespace tilewright::cache_sim {

// Bytes between a level and the next inner one, whole lines.
struct Crossing {
  std::string outer, inner;  // names of the levels
  int64_t read_bytes = 0;    // inwards
  int64_t write_bytes = 0;   // outwards

  int64_t bytes() const { return read_bytes + write_bytes; }
};

class CacheHierarchy {
 public:
  // `ways`: lines that share a set, of every level; 0: any line may lie
  // anywhere.
  explicit CacheHierarchy(const DeviceSpec& spec, int64_t ways = 0);

  // The processor reads or writes [address, address + size_bytes).
  void Access(uint64_t address, int64_t size_bytes, bool is_store);
  // Drops lines whose contents nobody needs any more: they are not written
  // back.
  void Forget(uint64_t address, int64_t size_bytes);
  // Writes dirty lines back to where they came from, and on to memory.
  void Flush();

  // From the outermost: memory to the largest cache first. Registers are not
  // among them.
  const std::vector<Crossing>& crossings() const { return crossings_; }
  // Counts from here on; the caches keep what they hold.
  void ResetCrossings();

 private:
  struct Line {
    uint64_t number;
    bool dirty;
  };
  struct Cache {
    int64_t line_bytes = 1;
    int64_t ways = 1;
    // By set: lines, the one used last in front.
    std::vector<std::list<Line>> sets;
    std::unordered_map<uint64_t, std::list<Line>::iterator> where;
  };

  // `level`: index in caches_, 0 the outermost; -1 is memory.
  void Touch(int level, uint64_t address, int64_t size_bytes, bool is_store);
  void WriteBack(int level, const Line& line);

  std::vector<Cache> caches_;
  std::vector<Crossing> crossings_;  // by cache: to its next outer level
};

}  // namespace tilewright::cache_sim

#endif  // TILEWRIGHT_BACKENDS_CACHE_SIM_CACHE_HIERARCHY_H_
