// Holds bytes that this process keeps and its forked children need not have. A
// fork copies the page tables of all memory: a tenth of a millisecond for every
// MiB, again for each candidate that is verified. Nor can a candidate read what
// it is compared with, or change it.
#ifndef TILEWRIGHT_MEASURE_VERIFY_HIDDEN_BYTES_H_
#define TILEWRIGHT_MEASURE_VERIFY_HIDDEN_BYTES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/reference/reference.h"

namespace tilewright::measure {

// Memory of its own, which no child made later has. Zeros at first.
class HiddenBytes {
 public:
  HiddenBytes() = default;
  // Ends the process as operator new does where there is no memory.
  explicit HiddenBytes(int64_t size_bytes);
  HiddenBytes(HiddenBytes&& other) noexcept;
  HiddenBytes& operator=(HiddenBytes&& other) noexcept;
  ~HiddenBytes();

  char* data() { return data_; }
  const char* data() const { return data_; }
  int64_t size_bytes() const { return size_bytes_; }

 private:
  char* data_ = nullptr;
  int64_t size_bytes_ = 0;
};

class HiddenTensor {
 public:
  explicit HiddenTensor(const HostTensor& tensor);
  HostTensor Get() const;  // a copy
  DType dtype() const { return dtype_; }
  int64_t size_bytes() const { return bytes_.size_bytes(); }

 private:
  DType dtype_;
  std::vector<int64_t> shape_;
  HiddenBytes bytes_;
};

using HiddenInputs = std::map<TensorId, HiddenTensor>;
HiddenInputs Hide(const std::map<TensorId, HostTensor>& inputs);

class HiddenReference {
 public:
  explicit HiddenReference(const ReferenceTensor& tensor);
  ReferenceView View() const;  // valid as long as this lives
  int64_t size_bytes() const { return bytes_.size_bytes(); }

 private:
  DType dtype_;
  std::vector<int64_t> shape_;
  int64_t values_, integers_, bounds_;  // how many, one after the other
  HiddenBytes bytes_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_HIDDEN_BYTES_H_
