// Known zeros: elements at the ends of a tensor's dimensions that are zero
// whenever a kernel reads them, such as the halo of a padded image.
#ifndef TILEWRIGHT_TILEGRAPH_ANALYSIS_KNOWN_ZEROS_H_
#define TILEWRIGHT_TILEGRAPH_ANALYSIS_KNOWN_ZEROS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// An element is known to be zero if its index in any dimension d is one of the
// first before[d] or of the last after[d]. None of them is negative, and
// before[d] + after[d] does not exceed the extent.
struct KnownZeros {
  std::vector<int64_t> before, after;  // elements, per dimension

  // Nothing is known.
  bool empty() const;
  // "(0,0,1,1|0,0,2,2)": before, then after.
  std::string ToString() const;
  // The inverse, for a tensor of this shape. InvalidArgument if it is no such
  // text, has another rank, or numbers that are negative or exceed the extent.
  static absl::StatusOr<KnownZeros> Parse(std::string_view text,
                                          absl::Span<const int64_t> shape);
  friend bool operator==(const KnownZeros& a, const KnownZeros& b) {
    return a.before == b.before && a.after == b.after;
  }
};

// Sets these elements of `values` to zero. REQUIRES: the ranks agree.
void FillKnownZeros(const KnownZeros& zeros, HostTensor& values);
// The same for all tensors of which there are `values`.
void FillKnownZeros(const std::map<TensorId, KnownZeros>& zeros,
                    std::map<TensorId, HostTensor>& values);

// Derives the known zeros of the tensors of `graph` from their expressions and
// from those `given` of placeholders: paddings are zero around their sources,
// and what only moves or casts elements is zero where those are. Tensors of
// which nothing is known are left out, as are constants.
std::map<TensorId, KnownZeros> FindKnownZeros(
    const TensorGraph& graph, const std::map<TensorId, KnownZeros>& given);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_ANALYSIS_KNOWN_ZEROS_H_
