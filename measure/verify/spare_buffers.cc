#include "measure/verify/spare_buffers.h"

namespace tilewright::measure {

using backends::GuardedBuffer;

absl::StatusOr<GuardedBuffer> SpareBuffers::Take(int64_t size_bytes,
                                                 Side side) {
  const auto found = spare_.find({size_bytes, side});
  if (found == spare_.end()) return GuardedBuffer::Create(size_bytes, side);
  GuardedBuffer buffer = std::move(found->second.back());
  found->second.pop_back();
  if (found->second.empty()) spare_.erase(found);
  size_bytes_ -= size_bytes;
  return buffer;
}

void SpareBuffers::Give(GuardedBuffer buffer, Side side) {
  const int64_t size_bytes = buffer.size_bytes();
  if (size_bytes > most_bytes_ || !buffer.SlackIntact()) return;
  // Other sizes are of other candidates.
  if (size_bytes_ + size_bytes > most_bytes_) {
    spare_.clear();
    size_bytes_ = 0;
  }
  size_bytes_ += size_bytes;
  spare_[{size_bytes, side}].push_back(std::move(buffer));
}

}  // namespace tilewright::measure
