// RoiAlign: regions of images, each cut into bins. A bin is the mean or the
// maximum of samples in it, each of which weights the four pixels around it.
// The maximum is that of the weighted pixels, as in ONNX's reference and its
// cases: it is taken before they are summed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

constexpr int64_t kMostSamples = 4096;  // of a bin along one dimension

struct RoiSpec {
  bool is_max = false;
  bool half_pixel = true;       // pixel centres lie at halves
  double scale = 1;             // from regions to pixels
  int64_t samples = 0;          // of a bin along each dimension; 0: by its size
  DType acc = DType::kFloat32;  // in which everything is computed
};

RoiSpec ReadRois(const OpContext& op) {
  RoiSpec spec;
  spec.is_max = op.String("mode", "avg") == "max";
  spec.half_pixel =
      op.opset() >= 16 &&
      op.String("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  spec.scale = op.Float("spatial_scale", 1);
  spec.samples = op.Int("sampling_ratio", 0);
  spec.acc = Combiner::DefaultAccumulator(op.dtype(0));
  return spec;
}

absl::Status InferRoiAlign(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  if (op.dtype(1) != op.dtype(0)) {
    return op.Error("images and regions are ", DTypeText(op.dtype(0)), " and ",
                    DTypeText(op.dtype(1)));
  }
  const Shape& rois = op.shape(1);
  if (op.rank(0) != 4 || rois.size() != 2 || rois[1] != 4 ||
      op.shape(2) != Shape{rois[0]}) {
    return op.Error("images of shape ", ShapeText(op.shape(0)), ", regions of ",
                    ShapeText(rois), " and their images' numbers of ",
                    ShapeText(op.shape(2)),
                    " do not fit; [n, c, h, w], [r, 4] and [r] are needed");
  }
  op.SetOutput(0, op.dtype(0),
               {rois[0], op.shape(0)[1], op.Int("output_height", 1),
                op.Int("output_width", 1)});
  return absl::OkStatus();
}

// How many samples along dimension `d` each region's bins have: one to a pixel.
// Rounded as the kernels would.
absl::StatusOr<std::vector<int64_t>> SamplesBySize(const OpContext& op,
                                                   const RoiSpec& spec, int d) {
  if (op.input(1).constant == nullptr)
    return op.Unsupported("sampling_ratio 0 of regions that are not constant");
  const HostTensor& rois = *op.input(1).constant;
  const auto rounded = [&](double value) {
    return spec.acc == DType::kFloat64 ? value : static_cast<float>(value);
  };
  const auto bins = static_cast<double>(op.output(0).shape[2 + d]);
  std::vector<int64_t> samples;
  for (int64_t r = 0; r < op.shape(1)[0]; ++r) {
    const auto border = [&](int64_t i) {
      return rounded(rounded(rois.Get(4 * r + i).f * spec.scale) -
                     (spec.half_pixel ? 0.5 : 0));
    };
    double size = rounded(border(3 - d) - border(1 - d));
    if (!spec.half_pixel) size = std::max(size, 1.0);
    const double count = std::ceil(rounded(size / bins));
    if (!(count <= static_cast<double>(kMostSamples)))
      return op.Unsupported("a region with ", count, " samples in a bin");
    samples.push_back(static_cast<int64_t>(std::max(count, 0.0)));
  }
  return samples;
}

// One of the two dimensions of the image: where each sample of a bin of a
// region reads, and the weights.
class RoiDimension {
 public:
  static absl::StatusOr<RoiDimension> Create(ImportContext& in,
                                             const RoiSpec& spec, int d) {
    const OpContext& op = in.op();
    RoiDimension result(spec, op.shape(0)[2 + d], op.output(0).shape[2 + d]);
    result.samples_ = spec.samples;
    if (spec.samples == 0) {
      TW_ASSIGN_OR_RETURN(const std::vector<int64_t> samples,
                          SamplesBySize(op, spec, d));
      TW_ASSIGN_OR_RETURN(HostTensor table,
                          op.NewTensor(spec.acc, {op.shape(1)[0]}));
      result.samples_ = 1;
      for (size_t r = 0; r < samples.size(); ++r) {
        table.Set(static_cast<int64_t>(r),
                  Scalar{static_cast<double>(samples[r]), 0});
        result.samples_ = std::max(result.samples_, samples[r]);
      }
      result.counts_ =
          in.Constant(in.Name(0, absl::StrCat("samples", d)), std::move(table));
    }
    result.Emit(in, d);
    return result;
  }

  int64_t samples() const { return samples_; }
  Expr At(const ImportContext& in, const Expr& roi, const Expr& bin,
          const Expr& sample, const Expr& tap) const {
    const Expr from = in.At(from_, {roi, bin, sample, tap});
    return Binary(Op::kMin, Binary(Op::kMax, from, Expr::Int(0)),
                  Expr::Int(extent_ - 1));
  }
  Expr WeightAt(const ImportContext& in, const Expr& roi, const Expr& bin,
                const Expr& sample, const Expr& tap) const {
    return in.At(weight_, {roi, bin, sample, tap});
  }

 private:
  RoiDimension(const RoiSpec& spec, int64_t extent, int64_t bins)
      : spec_(spec), extent_(extent), bins_(bins) {}

  Expr Number(double value) const { return Literal(spec_.acc, value); }

  void Emit(ImportContext& in, int d) {
    const TensorId rois = in.input(1);
    const Shape shape = {in.op().shape(1)[0], bins_, samples_};
    const TensorId position = in.Elementwise(
        in.Name(0, absl::StrCat("position", d)), spec_.acc, shape, "position",
        [&](Index index) {
          // A region is left, top, right, bottom.
          const auto border = [&](int64_t i) {
            return CastTo(spec_.acc, in.At(rois, {index[0], Expr::Int(i)}));
          };
          return Position(in, border(1 - d), border(3 - d), index);
        });
    const Shape tapped = {shape[0], bins_, samples_, 2};
    const auto position_at = [&](Index index) {
      return in.At(position, {index[0], index[1], index[2]});
    };
    from_ = in.Elementwise(
        in.Name(0, absl::StrCat("from", d)), DType::kInt64, tapped, "from",
        [&](Index index) {
          return CastTo(DType::kInt64,
                        Unary(Op::kFloor, Inside(position_at(index)))) +
                 index[3];
        });
    weight_ = in.Elementwise(
        in.Name(0, absl::StrCat("weight", d)), spec_.acc, tapped, "weight",
        [&](Index index) { return Weight(in, position_at(index), index); });
  }

  // Of `index`, a region, a bin and a sample in it.
  Expr Position(const ImportContext& in, const Expr& begin, const Expr& end,
                Index index) const {
    const auto pixel = [&](const Expr& border) {
      const Expr scaled = Mul(border, spec_.scale);
      return spec_.half_pixel ? Add(scaled, -0.5) : scaled;
    };
    const Expr start = pixel(begin);
    Expr size = Sub(pixel(end), start);
    if (!spec_.half_pixel) size = Binary(Op::kMax, size, Number(1));
    const Expr bin = Div(size, Number(static_cast<double>(bins_)));
    const Expr count = AtLeastOne(Count(in, index[0]));
    Expr sample = CastTo(spec_.acc, index[2]);
    // Of fewer samples the last is repeated.
    if (counts_) sample = Binary(Op::kMin, sample, Add(count, -1));
    return Add(Add(start, Mul(CastTo(spec_.acc, index[1]), bin)),
               Div(Mul(Add(sample, 0.5), bin), count));
  }

  Expr Weight(const ImportContext& in, const Expr& position,
              Index index) const {
    const Expr inside = Inside(position);
    const Expr part = Sub(inside, Unary(Op::kFloor, inside));
    Expr weight = SelectExpr(Binary(Op::kEq, index[3], Expr::Int(0)),
                             Sub(Number(1), part), part);
    const Expr count = Count(in, index[0]);
    if (!spec_.is_max) weight = Div(weight, AtLeastOne(count));
    Expr counts =
        AndAll(Binary(Op::kGe, position, Number(-1)),
               Binary(Op::kLe, position, Number(static_cast<double>(extent_))));
    if (counts_) {
      // A maximum may see a sample twice.
      const Expr sample =
          spec_.is_max ? Number(0) : CastTo(spec_.acc, index[2]);
      counts = AndAll(counts, Binary(Op::kLt, sample, count));
    }
    return SelectExpr(counts, weight, Number(0));
  }

  // The position, or the border's where it lies outside.
  Expr Inside(const Expr& position) const {
    return Binary(Op::kMin, Binary(Op::kMax, position, Number(0)),
                  Number(static_cast<double>(extent_ - 1)));
  }
  Expr Count(const ImportContext& in, const Expr& roi) const {
    return counts_ ? in.At(*counts_, {roi})
                   : Number(static_cast<double>(samples_));
  }
  Expr AtLeastOne(const Expr& count) const {
    return counts_ ? Binary(Op::kMax, count, Number(1)) : count;
  }

  const RoiSpec& spec_;
  int64_t extent_, bins_;
  int64_t samples_ = 1;               // of a bin of the region that has most
  std::optional<TensorId> counts_;    // [roi]; none: all have so many
  TensorId from_ = -1, weight_ = -1;  // [roi, bin, sample, tap]
};

absl::Status ImportRoiAlign(ImportContext& in) {
  const OpContext& op = in.op();
  const RoiSpec spec = ReadRois(op);
  if (spec.samples > kMostSamples)
    return op.Unsupported("sampling_ratio ", spec.samples);
  TW_ASSIGN_OR_RETURN(const RoiDimension rows,
                      RoiDimension::Create(in, spec, 0));
  TW_ASSIGN_OR_RETURN(const RoiDimension columns,
                      RoiDimension::Create(in, spec, 1));
  const TensorId x = in.input(0);
  const TensorId images = in.input(2);
  const std::vector<NamedAxis> axes = AxesOf(op.output(0).shape);
  const std::vector<NamedAxis> taps = {{"sample0", rows.samples()},
                                       {"sample1", columns.samples()},
                                       {"tap0", 2},
                                       {"tap1", 2}};
  const auto term = [&](Index index, Index over) {
    const Expr& roi = index[0];
    const Expr image = PositionFromData(in.At(images, {roi}), op.shape(0)[0]);
    const Expr pixel =
        in.At(x, {image, index[1], rows.At(in, roi, index[2], over[0], over[2]),
                  columns.At(in, roi, index[3], over[1], over[3])});
    return Mul(Mul(rows.WeightAt(in, roi, index[2], over[0], over[2]),
                   columns.WeightAt(in, roi, index[3], over[1], over[3])),
               CastTo(spec.acc, pixel));
  };
  in.SetOutput(
      0, in.Reduction(in.Name(), op.dtype(0), axes, taps,
                      spec.is_max ? Combiner::Kind::kMax : Combiner::Kind::kSum,
                      "roialign", term));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"RoiAlign", 10, 3, 3, InferRoiAlign, ImportRoiAlign},
};

}  // namespace

absl::Span<const OpDef> RoiAlignOps() { return kOps; }

}  // namespace tilewright
