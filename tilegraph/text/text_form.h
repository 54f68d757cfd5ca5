// The text form of a TensorGraph: prints exactly what it parses. Grammar and a
// worked example are in docs/text_form.md. Constants print their dtype, shape
// and values when they hold at most `inline_elements`, otherwise a fingerprint
// of their bytes, which does not parse back to values: the caller hands them
// over in `constants`, by fingerprint.
#ifndef TILEWRIGHT_TILEGRAPH_TEXT_TEXT_FORM_H_
#define TILEWRIGHT_TILEGRAPH_TEXT_TEXT_FORM_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// The fingerprint that stands for the values of a large constant: of its dtype,
// shape and bytes.
std::string ConstantFingerprint(const HostTensor& value);
std::string PrintText(const TensorGraph& graph, int64_t inline_elements = 64);
// InvalidArgument carries line and column and what was expected. The result has
// passed VerifyGraph.
absl::StatusOr<TensorGraph> ParseText(
    std::string_view text,
    const std::map<std::string, std::shared_ptr<const HostTensor>>& constants =
        {});

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TEXT_TEXT_FORM_H_
