// Which sanitizers this build has, for code that cannot run under them.
#ifndef TILEWRIGHT_BASE_SANITIZERS_H_
#define TILEWRIGHT_BASE_SANITIZERS_H_

namespace tilewright {

// Those whose shadow memory alone is larger than any limit of address space.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kHasShadowMemory = true;
#else
inline constexpr bool kHasShadowMemory = false;
#endif
#else
inline constexpr bool kHasShadowMemory = false;
#endif

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_SANITIZERS_H_
