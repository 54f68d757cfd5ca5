#include "frontends/onnx/schema/check_attributes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/schema/attribute_rules.h"

namespace tilewright {
namespace {

const char* TypeName(Attribute::Type type) {
  switch (type) {
    case Attribute::Type::kInt:
      return "an integer";
    case Attribute::Type::kFloat:
      return "a float";
    case Attribute::Type::kString:
      return "a string";
    case Attribute::Type::kTensor:
      return "a tensor";
    case Attribute::Type::kInts:
      return "a list of integers";
    case Attribute::Type::kFloats:
      return "a list of floats";
    case Attribute::Type::kStrings:
      return "a list of strings";
    case Attribute::Type::kGraph:
      return "a graph";
    case Attribute::Type::kOther:
      break;
  }
  return "a sparse tensor";
}

// "between 1 and 2", "at least 0".
std::string RangeText(const AttributeDomain& domain) {
  if (domain.least == 0 && domain.most == 1) return "0 or 1";
  if (domain.most == INT64_MAX) return absl::StrCat("at least ", domain.least);
  return absl::StrCat("between ", domain.least, " and ", domain.most);
}

bool Inside(const AttributeDomain& domain, int64_t value) {
  return value >= domain.least && value <= domain.most;
}

// An error message for the value; empty if it is valid.
std::string Complaint(const Attribute& attribute,
                      const AttributeDomain& domain) {
  if (attribute.type != domain.type) {
    return absl::StrCat("must be ", TypeName(domain.type),
                        "; export the model again");
  }
  if (domain.type == Attribute::Type::kInt && !Inside(domain, attribute.i)) {
    return absl::StrCat("is ", attribute.i, "; it must be ", RangeText(domain));
  }
  if (domain.type == Attribute::Type::kInts &&
      !std::all_of(attribute.ints.begin(), attribute.ints.end(),
                   [&](int64_t value) { return Inside(domain, value); })) {
    return absl::StrCat("is ", Escaped(ShapeText(attribute.ints)),
                        "; its entries must be ", RangeText(domain));
  }
  if (domain.words == nullptr) return "";
  const std::vector<std::string> words = absl::StrSplit(domain.words, ' ');
  if (std::count(words.begin(), words.end(), attribute.s) > 0) return "";
  return absl::StrCat("is ", Quoted(attribute.s), "; it must be one of ",
                      absl::StrJoin(words, ", "));
}

}  // namespace

absl::Status CheckAttributes(const OnnxGraph& graph, const OnnxNode& node) {
  const int64_t opset = graph.opset();
  const auto error = [&](const std::string& name, const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(
        graph.Label(node), ": attribute ", Quoted(name), " ", what));
  };
  const std::vector<const AttributeRule*> rules = RulesOf(node.op, opset);
  for (const auto& [name, attribute] : node.attributes) {
    const auto at =
        std::find_if(rules.begin(), rules.end(),
                     [&n = name](const auto* rule) { return n == rule->name; });
    if (at == rules.end()) {
      return error(name, absl::StrCat("does not exist in opset ", opset,
                                      "; remove it or fix its name"));
    }
    const std::string complaint = Complaint(attribute, (*at)->domain);
    if (!complaint.empty()) return error(name, complaint);
  }
  for (const AttributeRule* rule : rules) {
    if (rule->presence == Presence::kRequired &&
        node.attributes.count(rule->name) == 0) {
      return error(rule->name, "is missing; export the model again");
    }
  }
  // Each says what the value is.
  if (node.op == "Constant" && node.attributes.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(graph.Label(node), ": has ", node.attributes.size(),
                     " attributes; exactly one must give its value"));
  }
  return absl::OkStatus();
}

absl::Status CheckAttributes(const OnnxGraph& graph) {
  for (const OnnxNode& node : graph.nodes)
    TW_RETURN_IF_ERROR(CheckAttributes(graph, node));
  return absl::OkStatus();
}

}  // namespace tilewright
