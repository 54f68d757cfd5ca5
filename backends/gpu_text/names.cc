#include "backends/gpu_text/names.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/str_cat.h"

namespace tilewright::gpu_text {
namespace {

// Names that a variable of a kernel cannot have: keywords, and names that the
// text uses beside its own.
const std::set<std::string>& Reserved() {
  static const auto& names = *new std::set<std::string>{
      "alignas",  "asm",      "auto",     "bf16",      "blockDim", "blockIdx",
      "bool",     "break",    "case",     "catch",     "char",     "class",
      "const",    "continue", "default",  "delete",    "do",       "double",
      "else",     "enum",     "explicit", "export",    "extern",   "false",
      "float",    "for",      "fp16",     "friend",    "goto",     "gridDim",
      "i16",      "i32",      "i64",      "i8",        "if",       "inline",
      "int",      "long",     "mutable",  "namespace", "new",      "not",
      "operator", "or",       "private",  "protected", "public",   "register",
      "return",   "short",    "signed",   "sizeof",    "static",   "struct",
      "switch",   "template", "this",     "threadIdx", "throw",    "true",
      "try",      "typedef",  "typename", "u16",       "u32",      "u64",
      "u8",       "union",    "unsigned", "using",     "virtual",  "void",
      "volatile", "warpSize", "while",    "xor",       "and",      "Vec"};
  return names;
}

}  // namespace

bool Names::Free(const std::string& name) const {
  return Reserved().count(name) == 0 && name.rfind("tw_", 0) != 0 &&
         std::none_of(scopes_.begin(), scopes_.end(),
                      [&](const auto& scope) { return scope.count(name); });
}

std::string Names::Take(std::string_view wish) {
  std::string name(wish);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ||
      name.rfind("__", 0) == 0 || name.rfind("tw_", 0) == 0) {
    name = "x" + name;
  }
  if (!Free(name)) return Number(name + "_");
  scopes_.back().insert(name);
  return name;
}

std::string Names::Number(std::string_view stem) {
  int& next = next_number_[std::string(stem)];
  std::string name;
  do {
    name = absl::StrCat(std::string(stem), ++next);
  } while (!Free(name));
  scopes_.back().insert(name);
  return name;
}

}  // namespace tilewright::gpu_text
