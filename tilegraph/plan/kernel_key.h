// The key of a kernel, wherever kernels are shared, costed, recorded or looked
// up: the canonical text of its workload (workload_text.h).
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_KERNEL_KEY_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_KERNEL_KEY_H_

#include <string>
#include <utility>

#include "base/fingerprint.h"

namespace tilewright {

// Depends on the expressions, shapes, dtypes and names of axes of what is
// computed, on the layouts of what crosses its boundary, the zeros known of
// its inputs and which computes are a stage together. Tensors of a group of a
// plan have canonical names there (canonical_group.h). It does not depend on
// the values of constants, on the model's numbering, on tiles or memory levels.
class KernelKey {
 public:
  explicit KernelKey(std::string workload_text)
      : text_(std::move(workload_text)), fingerprint_(Fingerprint::Of(text_)) {}

  const std::string& text() const { return text_; }
  // The fingerprint of the text.
  const Fingerprint& fingerprint() const { return fingerprint_; }

  // By text; fingerprints only say quickly that texts differ, and order them.
  friend bool operator==(const KernelKey& a, const KernelKey& b) {
    return a.fingerprint_ == b.fingerprint_ && a.text_ == b.text_;
  }
  friend bool operator!=(const KernelKey& a, const KernelKey& b) {
    return !(a == b);
  }
  friend bool operator<(const KernelKey& a, const KernelKey& b) {
    return a.fingerprint_ != b.fingerprint_ ? a.fingerprint_ < b.fingerprint_
                                            : a.text_ < b.text_;
  }

 private:
  std::string text_;
  Fingerprint fingerprint_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_KERNEL_KEY_H_
