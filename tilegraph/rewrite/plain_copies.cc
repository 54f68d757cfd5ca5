#include "tilegraph/rewrite/plain_copies.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tilegraph/analysis/access.h"
#include "tilegraph/analysis/axis_groups.h"
#include "tilegraph/analysis/families.h"
#include "tilegraph/rewrite/bands/bands.h"

namespace tilewright {
namespace {

// A map of elements; what moves to the host is a copy.
bool IsMap(const Tensor& tensor) {
  return tensor.kind == TensorKind::kCompute && !IsBandMove(tensor) &&
         !tensor.compute.combiner && tensor.compute.body.size() == 1;
}

// By tensor: whether it is an output of the model, or a chain of elementwise
// maps leads from it to one.
std::vector<bool> EndingModel(const TensorGraph& graph) {
  std::vector<bool> ending(graph.tensors().size(), false);
  for (const TensorId id : graph.outputs()) ending[id] = true;
  for (auto tensor = graph.tensors().rbegin(); tensor != graph.tensors().rend();
       ++tensor) {
    if (!ending[tensor->id] || !IsMap(*tensor)) continue;
    for (const TensorId input : graph.Inputs(tensor->id)) {
      if (ReadsElementwise(graph, tensor->id, input)) ending[input] = true;
    }
  }
  return ending;
}

bool FillsBlocks(const Tensor& tensor, int64_t block) {
  return tensor.shape.size() >= 3 &&
         ChannelsFillBlocks(tensor.static_shape()[ConvolutionRoles::kChannels],
                            block);
}

// Whether vectors of channels would be emptier than that: half of each, or some
// of it where a plain result is wanted, which channels side by side would have
// to be copied for.
bool IsNarrow(const Tensor& convolution, bool ends_model, int64_t block) {
  const int64_t channels =
      convolution.static_shape()[ConvolutionRoles::kChannels];
  if (!ends_model) return 2 * channels <= block;
  return channels < block && !FillsBlocks(convolution, block);
}

// Whether it sums over places, not over channels alone.
bool HasWindow(const Tensor& convolution) {
  const std::vector<Axis>& terms = convolution.compute.reduce_axes;
  return std::count_if(terms.begin(), terms.end(), [](const Axis& axis) {
           return axis.extent.value() > 1;
         }) > 1;
}

// Into how many output channels each it is grouped; none where the groups of
// data are single channels.
std::vector<int64_t> ChannelsOfGroups(const ConvolutionRoles& convolution) {
  std::vector<int64_t> channels;
  Visit(convolution.data.operand(convolution.data_channels),
        [&](const Expr& e) {
          if (const auto group = AsAxisGroup(e))
            channels.push_back(group->size);
        });
  return channels;
}

// Whether the groups of its channels neither fill blocks nor share them evenly:
// lanes of a vector would be of groups that read other data.
bool GroupsCutBlocks(const ConvolutionRoles& convolution, int64_t block) {
  if (convolution.dense) return false;
  const std::vector<int64_t> groups = ChannelsOfGroups(convolution);
  return std::any_of(groups.begin(), groups.end(), [&](int64_t channels) {
    return channels % block != 0 && block % channels != 0;
  });
}

// Whether all lanes of a vector of channels read the same data.
bool VectorsReadAlike(const ConvolutionRoles& convolution, int64_t block) {
  if (convolution.dense) return true;
  const std::vector<int64_t> groups = ChannelsOfGroups(convolution);
  return !groups.empty() &&
         std::all_of(groups.begin(), groups.end(),
                     [&](int64_t channels) { return channels % block == 0; });
}

// Whether its pixels are those of `image`, in the same order.
bool RenamesPixels(const Tensor& tensor, const Tensor& image) {
  return tensor.hint.role() == ComputeRole::kReshape &&
         tensor.shape.size() >= 3 && image.shape.size() >= 3 &&
         tensor.shape[0] == image.shape[0] &&
         tensor.shape[ConvolutionRoles::kChannels] ==
             image.shape[ConvolutionRoles::kChannels];
}

// Whether the elements of `tensor` are of `image`: of the same channels, or,
// where nothing is computed across them, of the same pixels.
bool IsOfImage(const Tensor& tensor, const Tensor& image) {
  constexpr int kChannels = ConvolutionRoles::kChannels;
  const auto& from = image.shape;
  const auto& to = tensor.shape;
  if (from.size() != to.size()) return RenamesPixels(tensor, image);
  return from[kChannels] == to[kChannels] ||
         (!tensor.compute.combiner &&
          std::equal(from.begin() + kChannels + 1, from.end(),
                     to.begin() + kChannels + 1));
}

// Whether it has as many pixels as a block has channels, and reduces windows.
bool PoolsPixels(const Tensor& tensor, int64_t block) {
  int64_t pixels = 1;
  for (size_t d = ConvolutionRoles::kChannels + 1; d < tensor.shape.size(); ++d)
    pixels *= tensor.shape[d].value();
  return tensor.compute.combiner && pixels >= block;
}

// By tensor: whether it is a convolution or pool that computes vectors of its
// channels, or a chain of elementwise maps behind one. Convolutions whose lanes
// all read the same data always do; others, and pools, where the channels of
// their data lie side by side.
std::vector<bool> Convolved(const TensorGraph& graph, int64_t block) {
  const std::vector<bool> in_vectors = MadeInVectors(graph, block);
  std::vector<bool> convolved;
  for (const Tensor& tensor : graph.tensors()) {
    const auto follows = [&](TensorId input) {
      return convolved[input] && (ReadsElementwise(graph, tensor.id, input) ||
                                  RenamesPixels(tensor, graph.tensor(input)));
    };
    const std::vector<TensorId>& inputs = graph.Inputs(tensor.id);
    if (tensor.kind != TensorKind::kCompute || IsBandMove(tensor)) {
      convolved.push_back(false);
    } else if (const auto roles = AsConvolution(graph, tensor.id)) {
      convolved.push_back(
          VectorsReadAlike(*roles, block) ||
          (in_vectors[tensor.id] && in_vectors[roles->data.source()]));
    } else {
      convolved.push_back(
          (in_vectors[tensor.id] && PoolsPixels(tensor, block)) ||
          (IsMap(tensor) &&
           std::any_of(inputs.begin(), inputs.end(), follows)));
    }
  }
  return convolved;
}

// The operands of a product of matrices for every channel.
std::vector<TensorId> OperandsByChannel(const ContractionRoles& product) {
  std::vector<TensorId> operands;
  for (const Expr* operand : {&product.a, &product.b}) {
    if (operand->operands().size() < 3) continue;
    const Expr& channel = operand->operand(ConvolutionRoles::kChannels);
    if (channel.op() == Op::kVar &&
        std::count(product.batch.begin(), product.batch.end(),
                   channel.var_id()) > 0)
      operands.push_back(operand->source());
  }
  return operands;
}

// The images that a tensor reads channel by channel, in vectors of pixels.
std::vector<TensorId> ReadByPixels(const TensorGraph& graph,
                                   const Tensor& tensor, bool ends_model,
                                   int64_t block) {
  if (tensor.kind != TensorKind::kCompute) return {};
  if (const auto roles = AsConvolution(graph, tensor.id)) {
    if (!IsByPixels(tensor, *roles, ends_model, block)) return {};
    return {roles->data.source()};
  }
  if (const auto product = AsContraction(graph, tensor.id))
    return OperandsByChannel(*product);
  return {};
}

TensorId AddCopy(const Tensor& tensor, TensorId source, TensorGraph& graph) {
  Compute compute;
  std::vector<Expr> index;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    const std::string axis = "d" + std::to_string(d);
    compute.axes.push_back({axis, tensor.shape[d]});
    index.push_back(Expr::Var(static_cast<int>(d), axis));
  }
  compute.body = {graph.Load(source, std::move(index))};
  return graph.AddCompute(tensor.name + ".plain", tensor.dtype,
                          std::move(compute), ComputeRole::kPlainCopy);
}

// A graph some of whose tensors read plain copies, one for each old tensor.
class PlainCopies {
 public:
  explicit PlainCopies(const TensorGraph& old) : old_(old) {}

  // Adds the next tensor of the old graph, which reads copies of `sources`.
  void Add(const Tensor& tensor, const std::vector<TensorId>& sources) {
    for (const TensorId source : sources) read_[source] = CopyOf(source);
    ids_.push_back(CopyTensor(tensor, read_, graph_));
    for (const TensorId source : sources) read_[source] = ids_[source];
    read_.push_back(ids_.back());
  }
  // An output of the graph is its copy.
  void Replace(TensorId id) { ids_[id] = CopyOf(id); }
  RewrittenGraph Finish() && {
    return FinishRewrite(old_, std::move(graph_), std::move(ids_));
  }

 private:
  TensorId CopyOf(TensorId id) {
    const auto [known, is_new] = copies_.try_emplace(id);
    if (is_new) known->second = AddCopy(old_.tensor(id), ids_[id], graph_);
    return known->second;
  }

  const TensorGraph& old_;
  TensorGraph graph_;
  // By the old tensor:
  std::vector<TensorId> ids_;
  std::vector<TensorId> read_;  // `ids_`, or the copy that the next one reads
  std::map<TensorId, TensorId> copies_;
};

}  // namespace

bool ChannelsFillBlocks(int64_t channels, int64_t block) {
  const int64_t padded = (channels + block - 1) / block * block;
  return 3 * padded <= 4 * channels;
}

bool IsByPixels(const Tensor& tensor, const ConvolutionRoles& convolution,
                bool ends_model, int64_t block) {
  return convolution.dense
             ? HasWindow(tensor) && IsNarrow(tensor, ends_model, block)
             : GroupsCutBlocks(convolution, block);
}

std::vector<bool> MadeInVectors(const TensorGraph& graph, int64_t block) {
  std::vector<bool> in_vectors;
  for (const Tensor& tensor : graph.tensors()) {
    const std::vector<TensorId>& inputs = graph.Inputs(tensor.id);
    if (tensor.kind != TensorKind::kCompute || tensor.shape.size() < 3 ||
        IsBandMove(tensor)) {
      in_vectors.push_back(false);
    } else if (const auto roles = AsConvolution(graph, tensor.id)) {
      in_vectors.push_back(!GroupsCutBlocks(*roles, block) &&
                           FillsBlocks(tensor, block));
    } else {
      in_vectors.push_back(
          std::any_of(inputs.begin(), inputs.end(), [&](TensorId input) {
            return in_vectors[input] && IsOfImage(tensor, graph.tensor(input));
          }));
    }
  }
  return in_vectors;
}

RewrittenGraph CopyConvolvedOutputs(const TensorGraph& old,
                                    int64_t channel_block) {
  const std::vector<bool> convolved = Convolved(old, channel_block);
  const std::set<TensorId> outputs(old.outputs().begin(), old.outputs().end());
  const auto is_copied = [&](TensorId id) {
    return channel_block > 0 && convolved[id] &&
           FillsBlocks(old.tensor(id), channel_block);
  };
  PlainCopies copies(old);
  for (const Tensor& tensor : old.tensors()) {
    std::vector<TensorId> parts;
    const auto whole = AsConcatenation(old, tensor.id);
    if (whole && outputs.count(tensor.id) > 0) {
      for (const Concatenation::Part& part : whole->parts) {
        if (is_copied(part.source)) parts.push_back(part.source);
      }
    }
    copies.Add(tensor, parts);
  }
  for (const TensorId id : outputs) {
    if (is_copied(id)) copies.Replace(id);
  }
  return std::move(copies).Finish();
}

RewrittenGraph CopyDataReadByPixels(const TensorGraph& old,
                                    int64_t channel_block) {
  const std::vector<bool> in_vectors = MadeInVectors(old, channel_block);
  const std::vector<bool> ending = EndingModel(old);
  PlainCopies copies(old);
  for (const Tensor& tensor : old.tensors()) {
    std::vector<TensorId> data =
        ReadByPixels(old, tensor, ending[tensor.id], channel_block);
    data.erase(std::remove_if(data.begin(), data.end(),
                              [&](TensorId id) { return !in_vectors[id]; }),
               data.end());
    copies.Add(tensor, data);
  }
  return std::move(copies).Finish();
}

}  // namespace tilewright
