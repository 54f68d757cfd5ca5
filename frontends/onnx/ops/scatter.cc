// Elements written at positions that are data. Each element of the result looks
// for the updates that hit it: there is no order of writes to keep, and of
// several updates the last one wins, as in ONNX's reference. Where the
// positions are known when compiling, so is the answer; else a reduction finds
// it.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

struct ScatterSpec {
  bool is_nd = false;
  int axis = 0;       // of ScatterElements
  int64_t depth = 0;  // of ScatterND: leading dimensions that are positions
  Shape target;       // dimensions of the data that decide who hits
  int64_t candidates = 1;  // updates that may hit an element
};

absl::Status RequireIndices(const OpContext& op) {
  if (op.dtype(1) == DType::kInt64 || op.dtype(1) == DType::kInt32) {
    return absl::OkStatus();
  }
  return op.Error("indices are ", DTypeText(op.dtype(1)),
                  " where i32 or i64 is needed");
}

absl::Status ShapeError(const OpContext& op) {
  return op.Error("indices of shape ", ShapeText(op.shape(1)),
                  " and updates of shape ", ShapeText(op.shape(2)),
                  " do not fit data of shape ", ShapeText(op.shape(0)));
}

absl::StatusOr<ScatterSpec> ReadScatter(const OpContext& op) {
  ScatterSpec spec;
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 1));
  TW_RETURN_IF_ERROR(RequireRank(op, 1, 1));
  const Shape& data = op.shape(0);
  const Shape& indices = op.shape(1);
  const Shape& updates = op.shape(2);
  spec.is_nd = op.node().op == "ScatterND";
  if (spec.is_nd) {
    spec.depth = indices.back();
    if (spec.depth < 1 || spec.depth > op.rank(0)) return ShapeError(op);
    Shape wanted(indices.begin(), indices.end() - 1);
    wanted.insert(wanted.end(), data.begin() + spec.depth, data.end());
    if (updates != wanted) return ShapeError(op);
    spec.target.assign(data.begin(), data.begin() + spec.depth);
    spec.candidates = Product(indices, 0, indices.size() - 1);
    return spec;
  }
  TW_ASSIGN_OR_RETURN(spec.axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  bool fits = updates == indices && indices.size() == data.size();
  for (size_t d = 0; fits && d < data.size(); ++d) {
    fits = static_cast<int>(d) == spec.axis || indices[d] <= data[d];
  }
  if (!fits) return ShapeError(op);
  spec.target = data;
  spec.candidates = indices[spec.axis];
  return spec;
}

// The combiner of an update with the element in its place; false: the update
// replaces it.
absl::StatusOr<bool> Joins(const OpContext& op, Combiner::Kind& kind) {
  const std::string name = op.String("reduction", "none");
  if (name == "none") return false;
  if (name == "add") {
    kind = Combiner::Kind::kSum;
  } else if (name == "mul") {
    kind = Combiner::Kind::kProd;
  } else if (name == "max") {
    kind = Combiner::Kind::kMax;
  } else if (name == "min") {
    kind = Combiner::Kind::kMin;
  } else {
    return op.Error("attribute 'reduction' is ", Quoted(name),
                    "; it must be none, add, mul, max or min");
  }
  return true;
}

absl::Status InferScatter(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireIndices(op));
  TW_RETURN_IF_ERROR(ReadScatter(op));
  Combiner::Kind kind;
  TW_ASSIGN_OR_RETURN(const bool joins, Joins(op, kind));
  if (joins) TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  if (op.dtype(2) != op.dtype(0)) {
    return op.Error("data and updates are ", DTypeText(op.dtype(0)), " and ",
                    DTypeText(op.dtype(2)));
  }
  return InferSame(op);
}

// The position that `at` holds, counted from the front; one that is out of
// range stays so and hits nothing.
Expr Wrapped(const Expr& at, int64_t extent) {
  const Expr wide = CastTo(DType::kInt64, at);
  return SelectExpr(Binary(Op::kLt, wide, Expr::Int(0)),
                    wide + Expr::Int(extent), wide);
}

// Where ScatterElements has the candidates for the element at `index`: what is
// read must exist, also where the updates are shorter and nothing hits.
std::vector<Expr> CandidatesAt(const ImportContext& in, const ScatterSpec& spec,
                               Index index, const Expr& update) {
  std::vector<Expr> at(index.begin(), index.end());
  for (size_t d = 0; d < at.size(); ++d) {
    const int64_t extent = in.op().shape(1)[d];
    if (extent < spec.target[d]) {
      at[d] = Binary(Op::kMin, at[d], Expr::Int(extent - 1));
    }
  }
  at[spec.axis] = update;
  return at;
}

// The leading dimensions of ScatterND's indices and updates, of update number
// `update`.
std::vector<Expr> LeadingAt(const Shape& indices, const Expr& update) {
  return IndexOfFlat(update, {indices.begin(), indices.end() - 1});
}

// Whether candidate `update` hits the element at `index` of spec.target.
Expr Hits(const ImportContext& in, const ScatterSpec& spec, TensorId indices,
          Index index, const Expr& update) {
  const Shape& shape = in.op().shape(1);
  Expr hits;
  if (spec.is_nd) {
    std::vector<Expr> at = LeadingAt(shape, update);
    at.emplace_back();
    for (int64_t k = 0; k < spec.depth; ++k) {
      at.back() = Expr::Int(k);
      hits = AndAll(hits, Binary(Op::kEq, index[k],
                                 Wrapped(in.At(indices, at), spec.target[k])));
    }
    return hits;
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (static_cast<int>(d) == spec.axis || shape[d] == spec.target[d])
      continue;
    hits = AndAll(hits, InBounds(index[d], shape[d], false, true));
  }
  const Expr position =
      Wrapped(in.At(indices, CandidatesAt(in, spec, index, update)),
              spec.target[spec.axis]);
  return AndAll(hits, Binary(Op::kEq, index[spec.axis], position));
}

// The update that candidate `update` writes to the element at `index` of the
// data.
Expr UpdateOf(const ImportContext& in, const ScatterSpec& spec,
              TensorId updates, Index index, const Expr& update) {
  if (!spec.is_nd) return in.At(updates, CandidatesAt(in, spec, index, update));
  std::vector<Expr> at = LeadingAt(in.op().shape(1), update);
  at.insert(at.end(), index.begin() + spec.depth, index.end());
  return in.At(updates, std::move(at));
}

// Which candidate hits last, by element of spec.target; -1: none does.
absl::StatusOr<HostTensor> LastHits(const OpContext& op,
                                    const ScatterSpec& spec) {
  const HostTensor& indices = *op.input(1).constant;
  const Shape& shape = op.shape(1);
  TW_ASSIGN_OR_RETURN(HostTensor last,
                      op.NewTensor(DType::kInt64, spec.target));
  const absl::Span<int64_t> slots = last.as<int64_t>();
  std::fill(slots.begin(), slots.end(), -1);
  const auto wrap = [](int64_t at, int64_t extent) {
    return at < 0 ? at + extent : at;
  };
  const auto is_inside = [](int64_t at, int64_t extent) {
    return at >= 0 && at < extent;
  };
  if (spec.is_nd) {
    for (int64_t update = 0; update < spec.candidates; ++update) {
      int64_t slot = 0;
      bool inside = true;
      for (int64_t k = 0; k < spec.depth; ++k) {
        const int64_t at =
            wrap(indices.Get(update * spec.depth + k).i, spec.target[k]);
        inside &= is_inside(at, spec.target[k]);
        slot = slot * spec.target[k] + at;
      }
      if (inside) slots[slot] = update;
    }
    return last;
  }
  // Row-major, so that of several the one that counts comes last.
  std::vector<int64_t> at(shape.size(), 0);
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t extent = spec.target[spec.axis];
    const int64_t position = wrap(indices.Get(i).i, extent);
    int64_t slot = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      slot = slot * spec.target[d] +
             (static_cast<int>(d) == spec.axis ? position : at[d]);
    }
    if (is_inside(position, extent)) slots[slot] = at[spec.axis];
    for (size_t d = shape.size(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
  return last;
}

absl::Status ImportReplacing(ImportContext& in, const ScatterSpec& spec) {
  const OpContext& op = in.op();
  TensorId last = -1;
  if (op.input(1).constant != nullptr) {
    TW_ASSIGN_OR_RETURN(HostTensor hits, LastHits(op, spec));
    last = in.Constant(in.Name(0, "last"), std::move(hits));
  } else {
    const TensorId indices = in.input(1);
    last = in.Reduction(in.Name(0, "last"), DType::kInt64, AxesOf(spec.target),
                        {{"update", spec.candidates}}, Combiner::Kind::kMax,
                        "scatter", [&](Index index, Index update) {
                          return SelectExpr(
                              Hits(in, spec, indices, index, update[0]),
                              update[0], Expr::Int(-1));
                        });
  }
  const TensorId data = in.input(0);
  const TensorId updates = in.input(2);
  in.EmitElementwise(0, "scatter", [&](Index index) {
    const Expr hit =
        in.At(last, {index.begin(), index.begin() + spec.target.size()});
    const Expr from = Binary(Op::kMin, Binary(Op::kMax, hit, Expr::Int(0)),
                             Expr::Int(spec.candidates - 1));
    return SelectExpr(Binary(Op::kGe, hit, Expr::Int(0)),
                      UpdateOf(in, spec, updates, index, from),
                      in.At(data, {index.begin(), index.end()}));
  });
  return absl::OkStatus();
}

absl::Status ImportJoining(ImportContext& in, const ScatterSpec& spec,
                           Combiner::Kind kind) {
  const OpContext& op = in.op();
  const DType dtype = op.dtype(0);
  const DType acc = Combiner::DefaultAccumulator(dtype);
  const TensorId data = in.input(0);
  const TensorId indices = in.input(1);
  const TensorId updates = in.input(2);
  const Combiner combiner(kind, acc);
  const TensorId joined = in.Reduction(
      in.Name(0, "joined"), acc, AxesOf(op.shape(0)),
      {{"update", spec.candidates}}, kind, "scatter",
      [&](Index index, Index update) {
        const Expr hits = Hits(in, spec, indices,
                               index.subspan(0, spec.target.size()), update[0]);
        return SelectExpr(
            hits, CastTo(acc, UpdateOf(in, spec, updates, index, update[0])),
            combiner.Identity()[0]);
      });
  in.EmitElementwise(0, "scatter", [&](Index index) {
    const std::vector<Expr> at(index.begin(), index.end());
    const std::vector<Expr> here = {CastTo(acc, in.At(data, at))};
    const std::vector<Expr> there = {in.At(joined, at)};
    return CastTo(dtype, combiner.Combine(here, there)[0]);
  });
  return absl::OkStatus();
}

absl::Status ImportScatter(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const ScatterSpec spec, ReadScatter(in.op()));
  Combiner::Kind kind;
  TW_ASSIGN_OR_RETURN(const bool joins, Joins(in.op(), kind));
  return joins ? ImportJoining(in, spec, kind) : ImportReplacing(in, spec);
}

constexpr OpDef kOps[] = {
    {"Scatter", 9, 3, 3, InferScatter, ImportScatter},
    {"ScatterElements", 11, 3, 3, InferScatter, ImportScatter},
    {"ScatterND", 11, 3, 3, InferScatter, ImportScatter},
};

}  // namespace

absl::Span<const OpDef> ScatterOps() { return kOps; }

}  // namespace tilewright
