#include "tilegraph/text/text_form.h"

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "tilegraph/text/tensor_text.h"
#include "tilegraph/text/text_lexer.h"

namespace tilewright {
namespace {

std::string PrintElement(const HostTensor& tensor, int64_t index) {
  const Scalar value = tensor.Get(index);
  if (IsFloat(tensor.dtype())) return PrintFloat(value.f, tensor.dtype());
  if (tensor.dtype() == DType::kBool) return value.i != 0 ? "true" : "false";
  if (tensor.dtype() == DType::kUInt64)
    return absl::StrCat(static_cast<uint64_t>(value.i));
  return absl::StrCat(value.i);
}

std::string PrintConstant(const HostTensor& value, int64_t inline_elements) {
  if (value.num_elements() > inline_elements)
    return absl::StrCat("constant fingerprint ",
                        QuoteName(ConstantFingerprint(value)));
  std::string text = "constant {";
  for (int64_t i = 0; i < value.num_elements(); ++i)
    absl::StrAppend(&text, i == 0 ? " " : ", ", PrintElement(value, i));
  return text + " }";
}

}  // namespace

std::string ConstantFingerprint(const HostTensor& value) {
  Fingerprinter fingerprint;
  fingerprint.AddInt(static_cast<uint64_t>(value.dtype()))
      .AddInt(value.shape().size());
  for (const int64_t extent : value.shape())
    fingerprint.AddInt(static_cast<uint64_t>(extent));
  fingerprint.Add({value.data(), static_cast<size_t>(value.size_bytes())});
  return fingerprint.Finish().ToString();
}

std::string PrintText(const TensorGraph& graph, int64_t inline_elements) {
  const TensorNames names = [&](TensorId id) {
    return QuotedName(graph.tensor(id).name);
  };
  std::string text;
  for (const Tensor& tensor : graph.tensors()) {
    text += PrintTensorHead(tensor, names);
    switch (tensor.kind) {
      case TensorKind::kPlaceholder:
        text += "placeholder";
        break;
      case TensorKind::kConstant:
        text += PrintConstant(*tensor.value, inline_elements);
        break;
      case TensorKind::kCompute:
        text += PrintCompute(tensor, names);
        break;
    }
    text += "\n";
  }
  return text + PrintReturn(graph.outputs(), names);
}

}  // namespace tilewright
