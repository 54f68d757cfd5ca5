// The view of one node that its inference and its import have.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_GRAPH_OP_CONTEXT_H_
#define TILEWRIGHT_FRONTENDS_ONNX_GRAPH_OP_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "frontends/onnx/graph/onnx_graph.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

using Shape = std::vector<int64_t>;

struct ValueInfo {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::shared_ptr<const HostTensor> constant;  // null if known only at run time
  // 2 or 4 of UINT2, INT2, UINT4 and INT4, which are kept in u8 and i8; else 0.
  int narrow_bits = 0;
};

// Attributes are read with a default. One of another type than asked for is
// remembered and reported by status(), which the caller checks once at the end.
class OpContext {
 public:
  // `inputs` has one entry per input of the node, null for those left out.
  // All are borrowed.
  OpContext(const OnnxGraph& graph, const OnnxNode& node, int64_t opset,
            std::vector<const ValueInfo*> inputs);

  const OnnxNode& node() const { return node_; }
  int64_t opset() const { return opset_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(node_.outputs.size()); }
  bool has_input(int i) const {
    return i < num_inputs() && inputs_[i] != nullptr;
  }
  // Whether anybody may read output `i`.
  bool has_output(int i) const {
    return i < num_outputs() && node_.outputs[i] != kNoValue;
  }
  // The node that makes input `i`; null: none does.
  const OnnxNode* Producer(int i) const;
  // REQUIRES: has_input(i).
  const ValueInfo& input(int i) const;
  const Shape& shape(int i) const { return input(i).shape; }
  int rank(int i) const { return static_cast<int>(shape(i).size()); }
  DType dtype(int i) const { return input(i).dtype; }

  bool HasAttribute(absl::string_view name) const;
  int64_t Int(absl::string_view name, int64_t otherwise) const;
  float Float(absl::string_view name, float otherwise) const;
  std::string String(absl::string_view name, absl::string_view otherwise) const;
  std::vector<int64_t> Ints(absl::string_view name,
                            std::vector<int64_t> otherwise = {}) const;
  std::vector<float> Floats(absl::string_view name) const;
  std::vector<std::string> Strings(absl::string_view name) const;
  // Null if there is none.
  std::shared_ptr<const HostTensor> Tensor(absl::string_view name) const;

  // The values of integer input `i`. InvalidArgument if it is not constant.
  absl::StatusOr<std::vector<int64_t>> ConstInts(int i) const;
  // The error of ConstInts for an input that is not constant.
  absl::Status NotConstant(int i) const;
  // `axis` counted from the front. InvalidArgument outside [-rank, rank).
  absl::StatusOr<int> Axis(int64_t axis, int rank) const;
  // The same for several, ascending; InvalidArgument if one comes twice.
  absl::StatusOr<std::vector<int>> Axes(const std::vector<int64_t>& axes,
                                        int rank) const;

  // Set by the inference, read by the import.
  void SetOutput(int i, DType dtype, Shape shape, int narrow_bits = 0);
  bool is_output_set(int i) const { return is_set_[i]; }
  const ValueInfo& output(int i) const { return outputs_[i]; }
  std::vector<ValueInfo>& outputs() { return outputs_; }

  // A tensor of zeros that is needed when compiling; errors name the node.
  absl::StatusOr<HostTensor> NewTensor(DType dtype, Shape shape) const;

  // InvalidArgument: "node 'fc' (Gemm): ...", with what to do if that is not
  // said.
  template <typename... Args>
  absl::Status Error(const Args&... args) const {
    return ErrorText(absl::StrCat(args...));
  }
  // Unimplemented: "node 'fc' (Gemm): ... is not supported; ...".
  template <typename... Args>
  absl::Status Unsupported(const Args&... args) const {
    return UnsupportedText(absl::StrCat(args...));
  }
  const std::string& value_name(ValueId id) const { return graph_.name(id); }
  // Ok, or an attribute that was of the wrong type.
  const absl::Status& status() const { return status_; }

 private:
  absl::Status ErrorText(const std::string& text) const;
  absl::Status UnsupportedText(const std::string& text) const;
  const Attribute* Find(absl::string_view name, Attribute::Type type,
                        absl::string_view type_name) const;

  const OnnxGraph& graph_;
  const OnnxNode& node_;
  int64_t opset_;
  std::vector<const ValueInfo*> inputs_;
  std::vector<ValueInfo> outputs_;
  std::vector<bool> is_set_;
  mutable absl::Status status_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_GRAPH_OP_CONTEXT_H_
