// The version printed by the binaries and stored in compiled models.
#ifndef TILEWRIGHT_COMPILER_VERSION_H_
#define TILEWRIGHT_COMPILER_VERSION_H_

namespace tilewright {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_VERSION_H_
