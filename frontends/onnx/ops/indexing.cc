// Copies and joins of whole tensors: moves of elements by index.
#include <algorithm>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "tilegraph/ir/join_parts.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

absl::StatusOr<std::vector<int>> Permutation(const OpContext& op) {
  std::vector<int64_t> given = op.Ints("perm");
  const int rank = op.rank(0);
  if (given.empty()) {
    for (int d = rank; d-- > 0;) given.push_back(d);
  }
  TW_ASSIGN_OR_RETURN(const std::vector<int> sorted, op.Axes(given, rank));
  if (static_cast<int>(sorted.size()) != rank) {
    return op.Error("attribute 'perm' has ", given.size(),
                    " entries for shape ", ShapeText(op.shape(0)));
  }
  std::vector<int> perm;
  for (const int64_t axis : given) {
    perm.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  }
  return perm;
}

absl::Status InferTranspose(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const std::vector<int> perm, Permutation(op));
  Shape shape;
  for (const int axis : perm) shape.push_back(op.shape(0)[axis]);
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportTranspose(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const std::vector<int> perm, Permutation(in.op()));
  return EmitMove(in, std::is_sorted(perm.begin(), perm.end()),
                  [&](Index index) {
                    std::vector<Expr> at(perm.size());
                    for (size_t d = 0; d < perm.size(); ++d) {
                      at[perm[d]] = index[d];
                    }
                    return at;
                  });
}

absl::Status InferExpand(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const Shape to, op.ConstInts(1));
  TW_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(op, op.shape(0), to));
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportExpand(ImportContext& in) {
  const TensorId x = in.input(0);
  if (in.op().shape(0) == in.op().output(0).shape) {
    in.SetOutput(0, x);
    return absl::OkStatus();
  }
  in.EmitElementwise(0, "expand",
                     [&](Index index) { return in.Load(x, index); });
  return absl::OkStatus();
}

absl::Status InferConcat(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  Shape shape = op.has_input(0) ? op.shape(0) : Shape();
  const int rank = static_cast<int>(shape.size());
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 1), rank));
  for (int i = 1; i < op.num_inputs(); ++i) {
    if (!op.has_input(i)) return op.Error("input ", i, " is missing");
    Shape other = op.shape(i);
    if (other.size() == shape.size()) other[axis] = op.shape(0)[axis];
    if (other != op.shape(0)) {
      return op.Error("shapes ", ShapeText(op.shape(0)), " and ",
                      ShapeText(op.shape(i)), " do not join along axis ", axis,
                      "; fix the model");
    }
    shape[axis] += op.shape(i)[axis];
  }
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportConcat(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 1), op.rank(0)));
  std::vector<TensorId> parts;
  std::vector<int64_t> offsets;
  int64_t begin = 0;
  for (int i = 0; i < op.num_inputs(); ++i) {
    if (op.shape(i)[axis] == 0) continue;
    parts.push_back(in.input(i));
    offsets.push_back(begin);
    begin += op.shape(i)[axis];
  }
  if (parts.size() == 1) {
    in.SetOutput(0, parts[0]);
    return absl::OkStatus();
  }
  in.EmitElementwise(0, "concat", [&](Index index) {
    return JoinParts(offsets, axis, index,
                     [&](size_t part, std::vector<Expr> at) {
                       return in.At(parts[part], std::move(at));
                     });
  });
  return absl::OkStatus();
}

absl::Status InferTile(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats, op.ConstInts(1));
  Shape shape = op.shape(0);
  if (repeats.size() != shape.size()) {
    return op.Error("there are ", repeats.size(), " repeats for shape ",
                    ShapeText(shape));
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (repeats[d] < 0 || repeats[d] > (int64_t{1} << 40) ||
        shape[d] > (int64_t{1} << 20)) {
      return op.Error("repeats ", ShapeText(repeats), " of ",
                      ShapeText(op.shape(0)), " are out of range");
    }
    shape[d] *= repeats[d];
  }
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportTile(ImportContext& in) {
  const Shape& from = in.op().shape(0);
  const Shape& to = in.op().output(0).shape;
  return EmitMove(in, from == to, [&](Index index) {
    std::vector<Expr> at;
    for (size_t d = 0; d < index.size(); ++d) {
      at.push_back(from[d] == to[d] ? index[d]
                                    : FloorMod(index[d], Expr::Int(from[d])));
    }
    return at;
  });
}

absl::StatusOr<int64_t> BlockSize(const OpContext& op) {
  const int64_t block = op.Int("blocksize", 0);
  if (op.rank(0) != 4 || block < 1 || block > (1 << 20)) {
    return op.Error("shape ", ShapeText(op.shape(0)), " and block size ", block,
                    " do not fit; there must be four dimensions");
  }
  return block;
}

absl::Status InferDepthToSpace(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const int64_t block, BlockSize(op));
  const std::string mode = op.String("mode", "DCR");
  const Shape& x = op.shape(0);
  if ((mode != "DCR" && mode != "CRD") || x[1] % (block * block) != 0) {
    return op.Error("mode ", Quoted(mode), " with block size ", block,
                    " does not fit shape ", ShapeText(x));
  }
  op.SetOutput(0, op.dtype(0),
               {x[0], x[1] / (block * block), x[2] * block, x[3] * block});
  return absl::OkStatus();
}

absl::Status ImportDepthToSpace(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const int64_t block, BlockSize(in.op()));
  const bool dcr = in.op().String("mode", "DCR") == "DCR";
  const Expr b = Expr::Int(block);
  const Expr depth = Expr::Int(in.op().output(0).shape[1]);
  return EmitMove(in, block == 1, [&](Index index) {
    const Expr cell = FloorMod(index[2], b) * b + FloorMod(index[3], b);
    const Expr channel = dcr ? cell * depth + index[1]
                             : index[1] * Expr::Int(block * block) + cell;
    return std::vector<Expr>{index[0], channel, FloorDiv(index[2], b),
                             FloorDiv(index[3], b)};
  });
}

absl::Status InferSpaceToDepth(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const int64_t block, BlockSize(op));
  const Shape& x = op.shape(0);
  if (x[2] % block != 0 || x[3] % block != 0) {
    return op.Error("block size ", block, " does not divide shape ",
                    ShapeText(x));
  }
  op.SetOutput(0, op.dtype(0),
               {x[0], x[1] * block * block, x[2] / block, x[3] / block});
  return absl::OkStatus();
}

absl::Status ImportSpaceToDepth(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const int64_t block, BlockSize(in.op()));
  const Expr b = Expr::Int(block);
  const Expr depth = Expr::Int(in.op().shape(0)[1]);
  return EmitMove(in, block == 1, [&](Index index) {
    const Expr cell = FloorDiv(index[1], depth);
    return std::vector<Expr>{index[0], FloorMod(index[1], depth),
                             index[2] * b + FloorDiv(cell, b),
                             index[3] * b + FloorMod(cell, b)};
  });
}

absl::Status InferTrilu(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 2));
  if (op.has_input(1)) {
    TW_ASSIGN_OR_RETURN(const std::vector<int64_t> k, op.ConstInts(1));
    if (k.size() != 1) return op.Error("k has ", k.size(), " elements");
  }
  return InferSame(op);
}

absl::Status ImportTrilu(ImportContext& in) {
  const OpContext& op = in.op();
  int64_t k = 0;
  if (op.has_input(1)) {
    TW_ASSIGN_OR_RETURN(const std::vector<int64_t> given, op.ConstInts(1));
    constexpr int64_t kFar = int64_t{1} << 42;
    k = std::clamp<int64_t>(given[0], -kFar, kFar);
  }
  const bool upper = op.Int("upper", 1) != 0;
  const TensorId x = in.input(0);
  in.EmitElementwise(0, "trilu", [&](Index index) {
    const Expr row = index[index.size() - 2] + Expr::Int(k);
    const Expr keep = Binary(upper ? Op::kGe : Op::kLe, index.back(), row);
    return SelectExpr(keep, in.Load(x, index), Literal(op.dtype(0), 0));
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Transpose", 6, 1, 1, InferTranspose, ImportTranspose},
    {"Expand", 8, 2, 2, InferExpand, ImportExpand},
    {"Concat", 6, 1, kAnyNumber, InferConcat, ImportConcat},
    {"Tile", 6, 2, 2, InferTile, ImportTile},
    {"DepthToSpace", 6, 1, 1, InferDepthToSpace, ImportDepthToSpace},
    {"SpaceToDepth", 6, 1, 1, InferSpaceToDepth, ImportSpaceToDepth},
    {"Trilu", 14, 1, 2, InferTrilu, ImportTrilu},
};

}  // namespace

absl::Span<const OpDef> IndexingOps() { return kOps; }

}  // namespace tilewright
