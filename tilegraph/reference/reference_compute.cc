#include "tilegraph/reference/reference_compute.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/parallel_for.h"
#include "tilegraph/reference/bytecode.h"
#include "tilegraph/reference/bytecode_interpreter.h"
#include "tilegraph/reference/wide_vectors.h"

namespace tilewright::reference_internal {
namespace {

double StorageUnit(DType dtype) {
  if (dtype == DType::kFloat16) return 0x1p-11;
  if (dtype == DType::kBFloat16) return 0x1p-8;
  return dtype == DType::kFloat64 ? 0x1p-53 : 0x1p-24;
}

// Spatial axes outermost first, then reduce axes; the last spatial one is cut
// into strips unless it is short and another is not.
StripLoops PlanLoops(const Compute& compute) {
  constexpr int64_t kShort = 8;
  const int spatial = static_cast<int>(compute.axes.size());
  StripLoops loops;
  loops.levels = spatial + static_cast<int>(compute.reduce_axes.size());
  loops.strip_axis = spatial - 1;
  for (int axis = 0; axis < spatial - 1; ++axis) {
    const int64_t extent = compute.axes[axis].extent.value(),
                  best = compute.axes[loops.strip_axis].extent.value();
    if (best < kShort && extent > 2 * best) loops.strip_axis = axis;
  }
  int position = 0;
  loops.position.assign(loops.levels, 0);
  for (int axis = 0; axis < spatial; ++axis) {
    if (axis != loops.strip_axis) loops.position[axis] = position++;
  }
  if (loops.strip_axis >= 0) loops.position[loops.strip_axis] = position++;
  for (int axis = spatial; axis < loops.levels; ++axis)
    loops.position[axis] = position++;
  return loops;
}

TILEWRIGHT_WIDE_VECTORS
void AddTerms(const double* terms, int count, double* __restrict sum,
              double* __restrict absolute) {
  for (int l = 0; l < count; ++l) {
    sum[l] += terms[l];
    absolute[l] += std::fabs(terms[l]);
  }
}

// One compute: its programs and where its result goes.
class ComputeTask {
 public:
  ComputeTask(const Tensor& tensor,
              const std::map<TensorId, ReferenceTensor>& sources,
              const ReferenceOptions& options)
      : tensor_(tensor),
        compute_(tensor.compute),
        sources_(sources),
        options_(options),
        loops_(PlanLoops(compute_)) {
    const double unit = options.exact ? 0 : options.unit;
    const auto source = [this](int id) {
      const ReferenceTensor& from = sources_.at(id);
      return StripSource{from.dtype, from.bound.empty(), from.shape};
    };
    std::vector<Expr> body = compute_.body;
    if (compute_.combiner) {
      for (size_t k = 0; k < body.size(); ++k) {
        const DType acc =
            compute_.combiner->component_dtype(static_cast<int>(k));
        if (body[k].dtype() != acc) body[k] = Expr::Cast(acc, body[k]);
      }
    } else if (body[0].dtype() != tensor.dtype) {
      body[0] = Expr::Cast(tensor.dtype, body[0]);
    }
    body_ = CompileBytecode(body, loops_, source, unit);
    if (compute_.combiner && !IsSum()) CompileCombine(unit);
  }

  // Results and bounds of all elements.
  ReferenceTensor Run(double& magnitude) {
    ReferenceTensor out{tensor_.dtype, tensor_.static_shape(), {}, {}, {}};
    const int64_t count = tensor_.num_elements();
    if (IsFloat(out.dtype)) {
      out.value.resize(count);
    } else {
      out.integer.resize(count);
    }
    if (!ResultExact()) out.bound.resize(count);
    for (const auto axis : OuterAxes())
      outer_.push_back({axis, tensor_.shape[axis].value()});
    const int64_t iterations = StripsPerRow() * NumRows();
    // Enough work for a thread to be worth its start.
    const int threads =
        count > 4 * kStripLanes
            ? static_cast<int>(std::min<int64_t>(options_.threads, iterations))
            : 1;
    std::vector<double> magnitudes(std::max(threads, 1), 0.0);
    const auto parts = static_cast<int64_t>(magnitudes.size());
    ParallelFor(parts, threads, [&](int64_t part) {
      magnitudes[part] = RunRange(iterations * part / parts,
                                  iterations * (part + 1) / parts, out);
    });
    for (const double m : magnitudes) magnitude = std::max(magnitude, m);
    return out;
  }

 private:
  bool IsSum() const {
    return compute_.combiner &&
           compute_.combiner->kind() == Combiner::Kind::kSum &&
           IsFloat(compute_.combiner->acc());
  }

  // Components of a tuple reduction: register k accumulates, register arity + k
  // holds the body's value.
  void CompileCombine(double unit) {
    const Combiner& combiner = *compute_.combiner;
    std::vector<Expr> a, b;
    std::vector<StripReg> leaves;
    for (int side = 0; side < 2; ++side) {
      for (int k = 0; k < combiner.arity(); ++k) {
        const bool exact =
            options_.exact ||
            (side == 1 && body_.regs[body_.results[k]].exact && ExactFold());
        leaves.push_back({combiner.component_dtype(k),
                          side == 0 ? options_.exact || FoldExact() : exact,
                          false});
        (side == 0 ? a : b)
            .push_back(
                Expr::Load(kRegisterLeaf + static_cast<int>(leaves.size()) - 1,
                           leaves.back().dtype, {}));
      }
    }
    combine_ =
        CompileBytecode(combiner.Combine(a, b), loops_, nullptr, unit, leaves);
  }
  // Joining exact terms gives exact results.
  bool ExactFold() const {
    const Combiner::Kind kind = compute_.combiner->kind();
    return kind == Combiner::Kind::kMax || kind == Combiner::Kind::kMin ||
           kind == Combiner::Kind::kArgMax || kind == Combiner::Kind::kArgMin ||
           !IsFloat(compute_.combiner->acc());
  }
  bool FoldExact() const {
    bool exact = ExactFold();
    for (const int reg : body_.results) exact = exact && body_.regs[reg].exact;
    return exact;
  }
  bool ResultExact() const {
    if (options_.exact) return true;
    bool exact = compute_.combiner
                     ? !IsSum() && FoldExact()
                     : body_.regs[body_.results[compute_.result]].exact;
    return exact && !RoundsOnStore();
  }
  DType ResultDType() const {
    return compute_.combiner
               ? compute_.combiner->component_dtype(compute_.result)
               : tensor_.dtype;
  }
  // fp16 and bf16 bodies compute in fp32; storing rounds, unless nothing was
  // computed.
  bool RoundsOnStore() const {
    if (!IsFloat(tensor_.dtype)) return false;
    if (!IsFloat(ResultDType()) ||
        SizeBytes(ResultDType()) > SizeBytes(tensor_.dtype))
      return true;
    return SizeBytes(tensor_.dtype) < 4 &&
           !body_.regs[body_.results[compute_.result]].exact;
  }

  std::vector<int> OuterAxes() const {
    std::vector<int> axes;
    for (int axis = 0; axis < static_cast<int>(compute_.axes.size()); ++axis) {
      if (axis != loops_.strip_axis) axes.push_back(axis);
    }
    return axes;
  }
  int64_t StripExtent() const {
    return loops_.strip_axis < 0
               ? 1
               : compute_.axes[loops_.strip_axis].extent.value();
  }
  int64_t StripsPerRow() const {
    return (StripExtent() + kStripLanes - 1) / kStripLanes;
  }

  int64_t NumRows() const {
    int64_t rows = 1;
    for (const auto& [axis, extent] : outer_) rows *= extent;
    return rows;
  }

  struct Worker {
    Worker(const Bytecode& body, const Bytecode& combine,
           std::function<SourceData(int)> source)
        : body(body, source), combine(combine, nullptr) {}
    BytecodeInterpreter body, combine;
    std::vector<int64_t> axes;
    std::vector<double> sum, sum_bound, sum_abs;
    double magnitude = 0;
  };

  double RunRange(int64_t begin, int64_t end, ReferenceTensor& out) {
    const auto source = [this](int id) {
      const ReferenceTensor& from = sources_.at(id);
      return SourceData{from.value.empty() ? nullptr : from.value.data(),
                        from.integer.empty() ? nullptr : from.integer.data(),
                        from.bound.empty() ? nullptr : from.bound.data()};
    };
    Worker worker(body_, combine_, source);
    if (options_.exact)
      worker.body.TrackMagnitude(), worker.combine.TrackMagnitude();
    worker.axes.assign(loops_.levels, 0);
    worker.sum.resize(kStripLanes), worker.sum_bound.resize(kStripLanes),
        worker.sum_abs.resize(kStripLanes);
    const int64_t rows = NumRows();
    for (int64_t at = begin; at < end; ++at) {
      // Position in the odometer; which of its digits changed decides what must
      // run again. The strip changes last: what a sum reads beside it stays in
      // the caches.
      int64_t rest = at % rows;
      const int64_t strip = at / rows;
      int changed =
          at == begin || rest == 0 ? -1 : static_cast<int>(outer_.size());
      for (int k = static_cast<int>(outer_.size()) - 1; k >= 0; --k) {
        const int64_t value = rest % outer_[k].second;
        rest /= outer_[k].second;
        if (worker.axes[outer_[k].first] != value && changed >= 0) changed = k;
        worker.axes[outer_[k].first] = value;
      }
      const int64_t first = strip * kStripLanes;
      if (loops_.strip_axis >= 0) worker.axes[loops_.strip_axis] = first;
      const int lanes = static_cast<int>(
          std::min<int64_t>(kStripLanes, StripExtent() - first));
      RunStrip(worker, lanes, changed, out);
    }
    return std::max({worker.magnitude, worker.body.magnitude(),
                     worker.combine.magnitude()});
  }

  void RunStrip(Worker& worker, int lanes, int changed, ReferenceTensor& out) {
    if (!compute_.combiner) {
      worker.body.Run(worker.axes, loops_.strip_axis, lanes, changed);
      const int reg = body_.results[compute_.result];
      return Store(worker, worker.body.lanes(reg), lanes, out);
    }
    const size_t spatial = compute_.axes.size(),
                 reduce = compute_.reduce_axes.size();
    for (size_t r = 0; r < reduce; ++r) worker.axes[spatial + r] = 0;
    Begin(worker, lanes);
    int64_t terms = 0;
    for (bool more = true; more; ++terms) {
      worker.body.Run(worker.axes, loops_.strip_axis, lanes, changed);
      Accumulate(worker, lanes);
      more = false;
      for (int r = static_cast<int>(reduce) - 1; r >= 0 && !more; --r) {
        more =
            ++worker.axes[spatial + r] < compute_.reduce_axes[r].extent.value();
        changed = loops_.position[spatial + r];
        if (!more) worker.axes[spatial + r] = 0;
      }
    }
    Finish(worker, lanes, terms, out);
  }

  void Begin(Worker& worker, int lanes) {
    if (IsSum()) {
      std::fill_n(worker.sum.begin(), lanes, 0.0),
          std::fill_n(worker.sum_bound.begin(), lanes, 0.0);
      std::fill_n(worker.sum_abs.begin(), lanes, 0.0);
      return;
    }
    const std::vector<Expr> identity = compute_.combiner->Identity();
    for (size_t k = 0; k < identity.size(); ++k) {
      const Lanes acc = worker.combine.lanes(static_cast<int>(k));
      if (acc.v != nullptr)
        std::fill_n(acc.v, lanes, identity[k].float_value());
      if (acc.i != nullptr) std::fill_n(acc.i, lanes, identity[k].int_value());
      std::fill_n(acc.e, lanes, 0.0);
    }
  }

  void Accumulate(Worker& worker, int lanes) {
    if (IsSum()) {
      const Lanes term = worker.body.lanes(body_.results[0]);
      double *sum = worker.sum.data(), *bound = worker.sum_bound.data(),
             *absolute = worker.sum_abs.data();
      AddTerms(term.v, lanes, sum, absolute);
      if (!options_.exact && !body_.regs[body_.results[0]].exact) {
        for (int l = 0; l < lanes; ++l) bound[l] += term.e[l];
      }
      return;
    }
    const int arity = compute_.combiner->arity();
    for (int k = 0; k < arity; ++k)
      Move(worker.body.lanes(body_.results[k]), worker.combine.lanes(arity + k),
           lanes);
    worker.combine.Run(worker.axes, loops_.strip_axis, lanes, -1);
    // All results are read before the first accumulator changes: none of them
    // is an accumulator that another still needs only if they are copied.
    for (int k = 0; k < arity; ++k)
      Move(worker.combine.lanes(combine_.results[k]), Staging(worker, k),
           lanes);
    for (int k = 0; k < arity; ++k)
      Move(Staging(worker, k), worker.combine.lanes(k), lanes);
  }

  // The body's registers in the combining program are free once it ran.
  Lanes Staging(Worker& worker, int k) {
    return worker.combine.lanes(compute_.combiner->arity() + k);
  }

  static void Move(Lanes from, Lanes to, int lanes) {
    if (from.v != nullptr && from.v != to.v) std::copy_n(from.v, lanes, to.v);
    if (from.i != nullptr && from.i != to.i) std::copy_n(from.i, lanes, to.i);
    if (from.e != to.e) std::copy_n(from.e, lanes, to.e);
  }

  void Finish(Worker& worker, int lanes, int64_t terms, ReferenceTensor& out) {
    if (!IsSum())
      return Store(worker, worker.combine.lanes(compute_.result), lanes, out);
    const double unit =
        compute_.combiner->acc() == DType::kFloat64 ? 0x1p-53 : options_.unit;
    const double growth = unit * (std::sqrt(static_cast<double>(terms)) + 8);
    for (int l = 0; l < lanes; ++l)
      worker.sum_bound[l] += growth * worker.sum_abs[l];
    for (int l = 0; l < lanes; ++l)
      worker.magnitude = std::max(worker.magnitude, worker.sum_abs[l]);
    Store(worker, Lanes{worker.sum.data(), nullptr, worker.sum_bound.data()},
          lanes, out);
  }

  void Store(Worker& worker, Lanes result, int lanes, ReferenceTensor& out) {
    int64_t offset = 0, stride = 1, lane_stride = 0;
    for (int axis = static_cast<int>(compute_.axes.size()) - 1; axis >= 0;
         --axis) {
      offset += worker.axes[axis] * stride;
      if (axis == loops_.strip_axis) lane_stride = stride;
      stride *= out.shape[axis];
    }
    const bool rounds = RoundsOnStore();
    for (int l = 0; l < lanes; ++l) {
      const int64_t at = offset + l * lane_stride;
      double extra = 0;
      if (!out.value.empty()) {
        out.value[at] = result.v != nullptr ? result.v[l]
                                            : static_cast<double>(result.i[l]);
        if (rounds && std::isfinite(out.value[at]))
          extra = StorageUnit(out.dtype) * std::fabs(out.value[at]);
      } else {
        const Scalar stored = RoundTo(
            out.dtype,
            Scalar{0, result.i != nullptr ? result.i[l]
                                          : static_cast<int64_t>(result.v[l])});
        out.integer[at] = stored.i;
      }
      if (!out.bound.empty()) {
        const double e = result.e[l] + extra;
        out.bound[at] = e == e ? e : std::numeric_limits<double>::infinity();
      }
    }
  }

  const Tensor& tensor_;
  const Compute& compute_;
  const std::map<TensorId, ReferenceTensor>& sources_;
  const ReferenceOptions& options_;
  const StripLoops loops_;
  Bytecode body_, combine_;
  std::vector<std::pair<int, int64_t>> outer_;  // axis, extent
};

}  // namespace

ReferenceTensor EvaluateCompute(
    const Tensor& tensor, const std::map<TensorId, ReferenceTensor>& sources,
    const ReferenceOptions& options, double& magnitude) {
  return ComputeTask(tensor, sources, options).Run(magnitude);
}

}  // namespace tilewright::reference_internal
