// The flags of tilewright as a table: which command takes each, and what it may
// be set to. What a flag needs to have an effect is in flag_effects.h.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_FLAG_TABLE_H_
#define TILEWRIGHT_TOOLS_COMMANDS_FLAG_TABLE_H_

#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

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

  bool needs_value() const {
    return value != Value::kNone && value != Value::kOptional;
  }
};

std::vector<Flag> FlagsOf(const std::string& command);

// InvalidArgument says what the flag may be set to. `value` is empty where none
// was given.
absl::Status CheckValue(const Flag& flag, absl::string_view value);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_FLAG_TABLE_H_
