// Values in the memory order of layouts, each packed once as long as there is
// room for it. Forked children do not have them.
#ifndef TILEWRIGHT_MEASURE_VERIFY_PACKED_TENSORS_H_
#define TILEWRIGHT_MEASURE_VERIFY_PACKED_TENSORS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "measure/verify/hidden_bytes.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::measure {

// Not thread-safe.
class PackedTensors {
 public:
  using Bytes = std::shared_ptr<const HiddenBytes>;

  // Forgets what was used longest ago beyond so many bytes.
  explicit PackedTensors(int64_t most_bytes) : most_bytes_(most_bytes) {}

  // As FillPhysical. `name` stands for the values: the same name, the same
  // values. `winograd`: as Arguments has it.
  Bytes Packed(const std::string& name, const Layout& layout,
               const HiddenTensor& values, int winograd = 0);
  // As FillUnwritten.
  Bytes Unwritten(const Layout& layout, DType dtype);

  int64_t size_bytes() const { return size_bytes_; }
  int64_t packed() const { return packed_; }  // how often, so far

 private:
  struct Entry {
    Bytes bytes;
    std::list<std::string>::iterator use;
  };
  Bytes Get(const std::string& key, int64_t size_bytes,
            const std::function<void(char*)>& fill);

  const int64_t most_bytes_;
  int64_t size_bytes_ = 0;
  int64_t packed_ = 0;
  std::list<std::string> uses_;  // keys, the latest first
  std::map<std::string, Entry> entries_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_PACKED_TENSORS_H_
