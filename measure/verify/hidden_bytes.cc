#include "measure/verify/hidden_bytes.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "absl/types/span.h"

namespace tilewright::measure {
namespace {

constexpr int64_t kWord = 8;

template <typename T>
int64_t Count(const std::vector<T>& values) {
  static_assert(sizeof(T) == kWord);
  return static_cast<int64_t>(values.size());
}

// Appends at `at`.
template <typename T>
void Put(const std::vector<T>& values, char*& at) {
  const size_t size = values.size() * sizeof(T);
  if (size > 0) std::memcpy(at, values.data(), size);
  at += size;
}

template <typename T>
absl::Span<const T> TakeFrom(int64_t count, const char*& at) {
  const size_t size = static_cast<size_t>(count);
  const absl::Span<const T> values(reinterpret_cast<const T*>(at), size);
  at += size * sizeof(T);
  return values;
}

}  // namespace

HiddenBytes::HiddenBytes(int64_t size_bytes) : size_bytes_(size_bytes) {
  if (size_bytes == 0) return;
  const size_t size = static_cast<size_t>(size_bytes);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  while (memory == MAP_FAILED) {
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) std::abort();
    handler();
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  // Without it a fork takes longer, and is as right.
  (void)madvise(memory, size, MADV_DONTFORK);
  data_ = static_cast<char*>(memory);
}

HiddenBytes::HiddenBytes(HiddenBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

HiddenBytes& HiddenBytes::operator=(HiddenBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

HiddenBytes::~HiddenBytes() {
  if (data_ != nullptr) munmap(data_, static_cast<size_t>(size_bytes_));
}

HiddenTensor::HiddenTensor(const HostTensor& tensor)
    : dtype_(tensor.dtype()),
      shape_(tensor.shape()),
      bytes_(tensor.size_bytes()) {
  if (tensor.size_bytes() > 0) {
    std::memcpy(bytes_.data(), tensor.data(),
                static_cast<size_t>(tensor.size_bytes()));
  }
}

HostTensor HiddenTensor::Get() const {
  HostTensor tensor(dtype_, shape_);
  if (tensor.size_bytes() > 0) {
    std::memcpy(tensor.data(), bytes_.data(),
                static_cast<size_t>(tensor.size_bytes()));
  }
  return tensor;
}

HiddenInputs Hide(const std::map<TensorId, HostTensor>& inputs) {
  HiddenInputs hidden;
  for (const auto& [id, tensor] : inputs) hidden.try_emplace(id, tensor);
  return hidden;
}

HiddenReference::HiddenReference(const ReferenceTensor& tensor)
    : dtype_(tensor.dtype),
      shape_(tensor.shape),
      values_(Count(tensor.value)),
      integers_(Count(tensor.integer)),
      bounds_(Count(tensor.bound)),
      bytes_((values_ + integers_ + bounds_) * kWord) {
  char* at = bytes_.data();
  Put(tensor.value, at);
  Put(tensor.integer, at);
  Put(tensor.bound, at);
}

ReferenceView HiddenReference::View() const {
  const char* at = bytes_.data();
  const absl::Span<const double> values = TakeFrom<double>(values_, at);
  const absl::Span<const int64_t> integers = TakeFrom<int64_t>(integers_, at);
  return {dtype_, shape_, values, integers, TakeFrom<double>(bounds_, at)};
}

}  // namespace tilewright::measure
