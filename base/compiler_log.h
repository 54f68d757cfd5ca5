// Messages of compilers that are run as programs or libraries.
#ifndef TILEWRIGHT_BASE_COMPILER_LOG_H_
#define TILEWRIGHT_BASE_COMPILER_LOG_H_

#include <string>
#include <string_view>

namespace tilewright {

// The line of a compiler's log that a person has to look at: the first that
// speaks of an error, or else the first that is not blank.
std::string FirstError(std::string_view log);

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_COMPILER_LOG_H_
