#include "tilegraph/ir/compute_hint.h"

#include <cstddef>
#include <iterator>

namespace tilewright {
namespace {

// By role, as the text form has it.
constexpr std::string_view kWords[] = {"",           "conv",      "reshape",
                                       "dequantize", "winograd2", "winograd4",
                                       "band_in",    "band_out",  "plain_copy"};

}  // namespace

ComputeHint::ComputeHint(ComputeRole role)
    : role_(role), word_(kWords[static_cast<int>(role)]) {}

ComputeHint::ComputeHint(std::string_view word) : word_(word) {
  for (size_t role = 1; role < std::size(kWords); ++role) {
    if (kWords[role] == word) role_ = static_cast<ComputeRole>(role);
  }
}

}  // namespace tilewright
