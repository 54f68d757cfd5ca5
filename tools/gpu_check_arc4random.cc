// Debian's libstdc++ takes seeds from arc4random, which glibc has since 2.36.
// With one of its own gpu_check runs where 2.35 is, too.
#include <sys/random.h>

#include <cstdint>

extern "C" uint32_t arc4random() {
  uint32_t bits = 0;
  while (getrandom(&bits, sizeof(bits), 0) != sizeof(bits)) {
  }
  return bits;
}
