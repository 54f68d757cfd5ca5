#include "bench/compare/allowed_limit.h"

#include <algorithm>

#include "compiler/rewrite_model.h"

namespace tilewright::bench {

double AllowedFactor(const std::vector<std::string>& allow) {
  const auto allowed = [&](const char* name) {
    return std::count(allow.begin(), allow.end(), name) > 0;
  };
  return (allowed(kAllowWinograd4) ? 16 : 1) *
         (allowed(kAllowBf16) ? 0x1p15 : 1);
}

}  // namespace tilewright::bench
