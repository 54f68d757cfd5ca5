#include "bench/fuzz/fuzz_answer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/fingerprint.h"
#include "base/random.h"
#include "bench/ort/test_data.h"
#include "onnx/onnx_pb.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::bench {
namespace {

using onnx::TensorProto;

template <typename T>
void Put(std::string& bytes, int64_t at, T value) {
  std::memcpy(bytes.data() + at * static_cast<int64_t>(sizeof(T)), &value,
              sizeof(T));
}

void PutValue(int32_t type, std::string& bytes, int64_t at, Random& random) {
  const double real = random.Normal();
  const int64_t small = random.UniformInt(0, 3);
  switch (type) {
    case TensorProto::FLOAT:
      return Put(bytes, at, static_cast<float>(real));
    case TensorProto::DOUBLE:
      return Put(bytes, at, real);
    case TensorProto::FLOAT16:
      return Put(bytes, at, FloatToHalf(static_cast<float>(real)));
    case TensorProto::BFLOAT16:
      return Put(bytes, at, FloatToBFloat16(static_cast<float>(real)));
    case TensorProto::BOOL:
      return Put(bytes, at, static_cast<uint8_t>(small % 2));
    default:
      break;
  }
  // Little endian: the low byte holds it.
  bytes[at * ElementBytes(type)] = static_cast<char>(small);
}

// Relative to the largest value, by the precision of the type.
double Tolerance(int32_t type) {
  switch (type) {
    case TensorProto::DOUBLE:
    case TensorProto::FLOAT:
      return 1e-4;
    case TensorProto::FLOAT16:
      return 1e-2;
    case TensorProto::BFLOAT16:
      return 4e-2;
    default:
      return 0;
  }
}

}  // namespace

std::string Encode(const FuzzAnswer& answer) {
  // A message that there is anyhow.
  onnx::GraphProto graph;
  graph.set_name(answer.verdict);
  graph.set_doc_string(answer.message);
  graph.add_node()->set_op_type(answer.stage);
  for (const OrtTensor& tensor : answer.outputs) {
    TensorProto* proto = graph.add_initializer();
    proto->set_name(tensor.name);
    proto->set_data_type(tensor.data_type);
    for (const int64_t dim : tensor.dims) proto->add_dims(dim);
    proto->set_raw_data(tensor.bytes);
  }
  return graph.SerializeAsString();
}

FuzzAnswer Decode(const std::string& bytes) {
  FuzzAnswer answer;
  onnx::GraphProto graph;
  if (!graph.ParseFromString(bytes) || graph.node_size() != 1) {
    answer.verdict = "garbled";
    return answer;
  }
  answer.verdict = graph.name();
  answer.message = graph.doc_string();
  answer.stage = graph.node(0).op_type();
  for (const TensorProto& proto : graph.initializer()) {
    answer.outputs.push_back({proto.name(),
                              proto.data_type(),
                              {proto.dims().begin(), proto.dims().end()},
                              proto.raw_data()});
  }
  return answer;
}

int64_t ElementBytes(int32_t data_type) {
  switch (data_type) {
    case TensorProto::BOOL:
    case TensorProto::INT8:
    case TensorProto::UINT8:
      return 1;
    case TensorProto::INT16:
    case TensorProto::UINT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return 2;
    case TensorProto::INT32:
    case TensorProto::UINT32:
    case TensorProto::FLOAT:
      return 4;
    case TensorProto::INT64:
    case TensorProto::UINT64:
    case TensorProto::DOUBLE:
      return 8;
    default:
      return 0;
  }
}

OrtTensor DrawTensor(const std::string& name, int32_t data_type,
                     const std::vector<int64_t>& dims, uint64_t seed) {
  OrtTensor tensor{name, data_type, dims, ""};
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  tensor.bytes.assign(static_cast<size_t>(count * ElementBytes(data_type)),
                      '\0');
  Random random(seed ^ Fingerprint::Of(name).low);
  for (int64_t i = 0; i < count && !tensor.bytes.empty(); ++i)
    PutValue(data_type, tensor.bytes, i, random);
  return tensor;
}

std::string Difference(const std::vector<OrtTensor>& ours,
                       const std::vector<OrtTensor>& theirs) {
  if (ours.size() != theirs.size()) {
    return absl::StrCat(ours.size(), " outputs, theirs ", theirs.size());
  }
  for (size_t o = 0; o < ours.size(); ++o) {
    const OrtTensor& a = ours[o];
    const OrtTensor& b = theirs[o];
    if (a.data_type != b.data_type || a.dims != b.dims) {
      return absl::StrCat("output ", o, " has type ", a.data_type, " shape [",
                          absl::StrJoin(a.dims, ", "), "], theirs ",
                          b.data_type, " [", absl::StrJoin(b.dims, ", "), "]");
    }
    const absl::StatusOr<std::vector<double>> x = ToDouble(a), y = ToDouble(b);
    if (!x.ok() || !y.ok()) continue;
    double largest = 0;
    for (const double value : *y) {
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
    for (size_t i = 0; i < y->size(); ++i) {
      const double p = (*x)[i], q = (*y)[i];
      if (p == q || (std::isnan(p) && std::isnan(q))) continue;
      if (std::abs(p - q) <= Tolerance(a.data_type) * (largest + 1e-3))
        continue;
      return absl::StrCat("output ", o, " element ", i, " is ", p, ", theirs ",
                          q);
    }
  }
  return "";
}

std::string KindOfMessage(const std::string& message) {
  std::string kind;
  for (size_t i = 0; i < message.size(); ++i) {
    const char c = message[i];
    if (c == '\'' || c == '"') {
      const size_t close = message.find(c, i + 1);
      if (close != std::string::npos) {
        absl::StrAppend(&kind, "'.'");
        i = close;
        continue;
      }
    }
    // Shapes and operators too; the latter stand behind a node's name.
    const bool is_operator = c == '(' && absl::EndsWith(kind, "'.' ");
    if (c == '[' || c == '{' || is_operator) {
      const size_t close = message.find(c == '['   ? ']'
                                        : c == '{' ? '}'
                                                   : ')',
                                        i + 1);
      if (close != std::string::npos) {
        kind += is_operator ? "(op)" : "[]";
        i = close;
        continue;
      }
    }
    const bool number = absl::ascii_isdigit(c);
    if (number && !kind.empty() && kind.back() == '#') continue;
    kind += number ? '#' : c == '\n' ? ' ' : c;
  }
  return kind.substr(0, 300);
}

}  // namespace tilewright::bench
