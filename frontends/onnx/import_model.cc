#include "frontends/onnx/import_model.h"

#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/allocation.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/graph/load_model.h"
#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/op_context.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/infer_shapes.h"
#include "frontends/onnx/inline_dequantize.h"
#include "frontends/onnx/nodes/exact_products.h"
#include "frontends/onnx/nodes/find_gelu.h"
#include "frontends/onnx/nodes/find_group_norms.h"
#include "frontends/onnx/nodes/find_mish.h"
#include "frontends/onnx/nodes/fold_batch_norm.h"
#include "frontends/onnx/nodes/fold_quantize.h"
#include "frontends/onnx/nodes/integer_contractions.h"
#include "frontends/onnx/nodes/quantized_layers.h"
#include "frontends/onnx/nodes/sink_dequantize.h"
#include "frontends/onnx/ops/op_table.h"
#include "frontends/onnx/schema/check_attributes.h"
#include "frontends/onnx/schema/check_sizes.h"

namespace tilewright {
namespace {

class Converter {
 public:
  Converter(const OnnxGraph& graph, const std::vector<ValueInfo>& infos,
            const OpTable& table)
      : onnx_(graph),
        infos_(infos),
        table_(table),
        tensors_(graph.values.size(), -1) {}

  absl::StatusOr<ImportedModel> Convert() {
    for (const ValueId id : onnx_.inputs) {
      const ValueInfo& info = infos_[id];
      tensors_[id] = model_.graph.AddPlaceholder(
          onnx_.name(id), info.dtype, {info.shape.begin(), info.shape.end()});
      model_.inputs.push_back(
          {onnx_.name(id), info.dtype, info.shape, tensors_[id]});
    }
    for (const OnnxNode& node : onnx_.nodes) {
      TW_RETURN_IF_ERROR(ConvertNode(node));
    }
    TW_RETURN_IF_ERROR(ConvertOutputs());
    return std::move(model_);
  }

 private:
  TensorId TensorOf(ValueId id) {
    if (tensors_[id] < 0) {
      // Constants appear where they are first used.
      tensors_[id] = model_.graph.AddConstant(FreeName(onnx_.name(id)),
                                              onnx_.values[id].constant);
    }
    return tensors_[id];
  }

  // Computes get a free name by themselves, constants do not.
  std::string FreeName(const std::string& name) const {
    std::string candidate = name;
    for (int i = 1; model_.graph.Find(candidate).has_value(); ++i) {
      candidate = absl::StrCat(name, ".", i);
    }
    return candidate;
  }

  absl::Status ConvertNode(const OnnxNode& node) {
    const int64_t opset = onnx_.OpsetOf(node);
    std::vector<const ValueInfo*> inputs;
    for (const ValueId id : node.inputs) {
      inputs.push_back(id == kNoValue ? nullptr : &infos_[id]);
    }
    OpContext op(onnx_, node, opset, std::move(inputs));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue)
        op.outputs()[i] = infos_[node.outputs[i]];
    }
    const OpDef* def = table_.Find(node.domain, node.op, opset);
    if (def == nullptr || def->import == nullptr) {
      return op.Unsupported("a result that is not known when compiling");
    }
    ImportContext in(op, model_.graph,
                     [this](ValueId id) { return TensorOf(id); });
    const int before = model_.graph.size();
    TW_RETURN_IF_ERROR(def->import(in));
    TW_RETURN_IF_ERROR(op.status());
    TW_RETURN_IF_ERROR(CheckSizes(op, model_.graph, before));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      if (in.outputs()[i] < 0) return op.Unsupported("output ", i);
      tensors_[node.outputs[i]] = in.outputs()[i];
    }
    return absl::OkStatus();
  }

  // An output that is an input, a constant or a second name of another output
  // becomes a copy.
  absl::Status ConvertOutputs() {
    std::set<TensorId> taken;
    std::vector<TensorId> outputs;
    for (const ValueId id : onnx_.outputs) {
      const ValueInfo& info = infos_[id];
      if (onnx_.values[id].constant != nullptr &&
          onnx_.values[id].constant->num_elements() == 0) {
        return absl::UnimplementedError(
            absl::StrCat("output '", onnx_.name(id),
                         "' has no elements, which is not supported"));
      }
      TensorId tensor = TensorOf(id);
      const bool computed =
          model_.graph.tensor(tensor).kind == TensorKind::kCompute;
      if (!computed || !taken.insert(tensor).second) {
        tensor = Copy(tensor, info, onnx_.name(id));
        taken.insert(tensor);
      }
      outputs.push_back(tensor);
      model_.outputs.push_back(
          {onnx_.name(id), info.dtype, info.shape, tensor});
    }
    model_.graph.SetOutputs(std::move(outputs));
    return absl::OkStatus();
  }

  TensorId Copy(TensorId from, const ValueInfo& info, const std::string& name) {
    Compute compute;
    std::vector<Expr> index;
    for (size_t d = 0; d < info.shape.size(); ++d) {
      const std::string axis = absl::StrCat("d", d);
      compute.axes.push_back({axis, Dim(info.shape[d])});
      index.push_back(Expr::Var(static_cast<int>(d), axis));
    }
    compute.body = {model_.graph.Load(from, std::move(index))};
    return model_.graph.AddCompute(FreeName(name), info.dtype,
                                   std::move(compute), "copy");
  }

  const OnnxGraph& onnx_;
  const std::vector<ValueInfo>& infos_;
  const OpTable& table_;
  std::vector<TensorId> tensors_;
  ImportedModel model_;
};

absl::StatusOr<ImportedModel> ImportLoaded(onnx::ModelProto model,
                                           const ImportOptions& options) {
  TW_ASSIGN_OR_RETURN(OnnxGraph graph, BuildOnnxGraph(std::move(model)));
  RemoveDeadNodes(graph);
  const OpTable table;
  TW_RETURN_IF_ERROR(table.CheckSupported(graph));
  TW_RETURN_IF_ERROR(CheckAttributes(graph));
  FoldQuantize(graph);
  SinkDequantize(graph);
  UseQuantizedLayers(graph);
  UseIntegerContractions(graph);
  UseExactProducts(graph);
  RemoveDeadNodes(graph);
  TW_ASSIGN_OR_RETURN(std::vector<ValueInfo> infos,
                      InferShapes(graph, table, options));
  FoldBatchNorm(graph, infos);
  FindGroupNorms(graph, infos);
  FindGelu(graph, infos);
  FindMish(graph);
  RemoveDeadNodes(graph);
  DropUnreadOutputs(graph);
  TW_ASSIGN_OR_RETURN(ImportedModel imported,
                      Converter(graph, infos, table).Convert());
  InlineDequantize(imported);
  return imported;
}

}  // namespace

absl::StatusOr<ImportedModel> ImportModel(const std::string& path,
                                          const ImportOptions& options) {
  absl::StatusOr<onnx::ModelProto> model =
      CatchExceptions(absl::StrCat("loading model ", Quoted(path)),
                      [&] { return LoadModel(path, options.limits); });
  TW_RETURN_IF_ERROR(model.status());
  return ImportModelProto(*std::move(model), options);
}

absl::StatusOr<ImportedModel> ImportModelProto(onnx::ModelProto model,
                                               const ImportOptions& options) {
  return CatchExceptions("importing the model", [&] {
    return ImportLoaded(std::move(model), options);
  });
}

}  // namespace tilewright
