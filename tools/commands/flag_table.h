// The flags of tilewright as a table: which command takes each, and what it may
// be set to. What a flag needs to have an effect is in flag_effects.h.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_FLAG_TABLE_H_
#define TILEWRIGHT_TOOLS_COMMANDS_FLAG_TABLE_H_

#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright::tools {

struct Flag {
  enum class Value {
    kNone,
    kOptional,  // one of `choices`, without these a number, or nothing
    kText,      // one of `choices`, if there are any
    kList,      // several of `choices`, separated by commas
    kInt,
    kDouble
  };
  const char* name;
  Value value;
  const char* commands;      // space-separated; "onnx" stands for every command
                             // that takes a model
  const char* choices = "";  // space-separated
  double least = -std::numeric_limits<double>::infinity();  // of a number
  double most = std::numeric_limits<double>::infinity();
  // The part it needs that does not exist yet; null if it works.
  const char* missing = nullptr;
};

// Flag `name` of `command`. InvalidArgument suggests the nearest one that the
// command has, or says that its part does not exist yet.
absl::StatusOr<Flag> FindFlag(const std::string& name,
                              const std::string& command);

// InvalidArgument says what the flag may be set to.
absl::Status CheckValue(const Flag& flag, const std::string& value);

// "; did you mean 'PREFIXtime'?" of the nearest of `known`, or `otherwise` if
// none is near.
std::string Suggestion(const std::string& given,
                       const std::vector<std::string>& known,
                       const std::string& prefix, const std::string& otherwise);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_FLAG_TABLE_H_
