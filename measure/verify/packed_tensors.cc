#include "measure/verify/packed_tensors.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tilegraph/ir/physical.h"
#include "tilegraph/rewrite/winograd.h"

namespace tilewright::measure {

PackedTensors::Bytes PackedTensors::Get(
    const std::string& key, int64_t size_bytes,
    const std::function<void(char*)>& fill) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    uses_.splice(uses_.begin(), uses_, found->second.use);
    return found->second.bytes;
  }
  ++packed_;
  auto bytes = std::make_shared<HiddenBytes>(size_bytes);
  fill(bytes->data());
  uses_.push_front(key);
  entries_[key] = {bytes, uses_.begin()};
  size_bytes_ += size_bytes;
  while (size_bytes_ > most_bytes_) {
    const auto oldest = entries_.find(uses_.back());
    size_bytes_ -= oldest->second.bytes->size_bytes();
    entries_.erase(oldest);
    uses_.pop_back();
  }
  return bytes;
}

PackedTensors::Bytes PackedTensors::Packed(const std::string& name,
                                           const Layout& layout,
                                           const HiddenTensor& values,
                                           int winograd) {
  return Get(
      absl::StrCat(name, " ", winograd, " ", layout.ToString()),
      layout.physical_elements() * SizeBytes(values.dtype()), [&](char* data) {
        FillPhysical(layout,
                     winograd == 0 ? values.Get()
                                   : WinogradFilters(values.Get(), winograd),
                     data);
      });
}

PackedTensors::Bytes PackedTensors::Unwritten(const Layout& layout,
                                              DType dtype) {
  return Get(
      absl::StrCat("unwritten ", std::string(Name(dtype)), layout.ToString()),
      layout.physical_elements() * SizeBytes(dtype),
      [&](char* data) { FillUnwritten(layout, dtype, data); });
}

}  // namespace tilewright::measure
