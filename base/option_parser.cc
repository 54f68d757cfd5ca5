#include "base/option_parser.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace tilewright {
namespace {

bool Read(absl::string_view text, double* value) {
  return absl::SimpleAtod(text, value) && !std::isnan(*value);
}
template <typename Integer>
bool Read(absl::string_view text, Integer* value) {
  return absl::SimpleAtoi(text, value);
}

int EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// "a, b or c".
std::string Alternatives(absl::Span<const std::string> words) {
  if (words.size() < 2) return absl::StrJoin(words, "");
  return absl::StrCat(absl::StrJoin(words.begin(), words.end() - 1, ", "),
                      " or ", words.back());
}

}  // namespace

template <typename T>
absl::Status ParseNumber(absl::string_view text, double least, double most,
                         T* number) {
  T read;
  if (!Read(text, &read)) return absl::InvalidArgumentError("not a number");
  if (static_cast<double>(read) < least || static_cast<double>(read) > most) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected ", least,
        std::isinf(most) ? " or more" : absl::StrCat(" to ", most)));
  }
  *number = read;
  return absl::OkStatus();
}
template absl::Status ParseNumber(absl::string_view, double, double, int*);
template absl::Status ParseNumber(absl::string_view, double, double, int64_t*);
template absl::Status ParseNumber(absl::string_view, double, double, double*);

absl::Status CheckChoice(absl::string_view text,
                         absl::Span<const std::string> choices) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end())
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "expected ", Alternatives(choices), Suggestion(text, choices)));
}

std::string Suggestion(absl::string_view given,
                       absl::Span<const std::string> known,
                       absl::string_view prefix) {
  absl::string_view best;
  int distance = static_cast<int>(given.size()) / 2 + 1;
  for (const std::string& name : known) {
    const int d = EditDistance(given, name);
    if (d < distance) best = name, distance = d;
  }
  return best.empty() ? ""
                      : absl::StrCat("; did you mean '", prefix, best, "'?");
}

void OptionParser::Flag(std::string name, bool* given) {
  Optional(std::move(name), [given](absl::string_view value) {
    *given = true;
    return value.empty() ? absl::OkStatus()
                         : absl::InvalidArgumentError("takes no value");
  });
}
void OptionParser::Text(std::string name, std::string* value) {
  Value(std::move(name), [value](absl::string_view text) {
    *value = std::string(text);
    return absl::OkStatus();
  });
}
template <typename T>
void OptionParser::Number(std::string name, T* value, double least,
                          double most) {
  Value(std::move(name), [=](absl::string_view text) {
    return ParseNumber(text, least, most, value);
  });
}
template void OptionParser::Number(std::string, int*, double, double);
template void OptionParser::Number(std::string, int64_t*, double, double);
template void OptionParser::Number(std::string, double*, double, double);

template <typename T>
void OptionParser::List(std::string name, std::vector<T>* values,
                        double least) {
  Value(std::move(name), [values, least](absl::string_view text) {
    std::vector<T> read;
    for (const absl::string_view part : absl::StrSplit(text, ',')) {
      absl::Status status =
          ParseNumber(part, least, std::numeric_limits<double>::infinity(),
                      &read.emplace_back());
      if (!status.ok()) return status;
    }
    *values = std::move(read);
    return absl::OkStatus();
  });
}
template void OptionParser::List(std::string, std::vector<int>*, double);
template void OptionParser::List(std::string, std::vector<int64_t>*, double);

void OptionParser::Value(std::string name, Take take) {
  options_[std::move(name)] = {true, std::move(take)};
}
void OptionParser::Optional(std::string name, Take take) {
  options_[std::move(name)] = {false, std::move(take)};
}
void OptionParser::Alias(char letter, std::string name) {
  aliases_[std::string("-") + letter] = absl::StrCat("--", name);
}
void OptionParser::PassOn(std::string prefix,
                          std::vector<std::string>* arguments) {
  passed_on_[std::move(prefix)] = arguments;
}

absl::Status OptionParser::NoOption(const std::string& given) const {
  std::vector<std::string> known;
  for (const auto& [name, option] : options_) known.push_back(name);
  std::string suggestion =
      absl::StartsWith(given, "--")
          ? Suggestion(given.substr(2, given.find('=') - 2), known, "--")
          : "";
  if (suggestion.empty()) {
    suggestion = absl::StrCat(
        "; ", help_.empty()
                  ? absl::StrCat("there are --", absl::StrJoin(known, " --"))
                  : help_);
  }
  return absl::InvalidArgumentError(
      absl::StrCat(owner_.empty() ? "" : absl::StrCat("'", owner_, "' has "),
                   "no flag ", given, suggestion));
}

absl::StatusOr<std::vector<std::string>> OptionParser::Parse(
    absl::Span<const std::string> arguments) const {
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto alias = aliases_.find(arguments[i]);
    const std::string& argument =
        alias == aliases_.end() ? arguments[i] : alias->second;
    if (argument.size() < 2 || argument[0] != '-') {
      rest.push_back(argument);
      continue;
    }
    const auto passed = std::find_if(
        passed_on_.begin(), passed_on_.end(),
        [&](const auto& p) { return absl::StartsWith(argument, p.first); });
    if (passed != passed_on_.end()) {
      passed->second->push_back(argument);
      continue;
    }
    const size_t equals = std::min(argument.find('='), argument.size());
    const auto option = absl::StartsWith(argument, "--")
                            ? options_.find(argument.substr(2, equals - 2))
                            : options_.end();
    if (option == options_.end()) return NoOption(argument);
    std::string value = argument.substr(std::min(equals + 1, argument.size()));
    if (equals == argument.size() && option->second.needs_value) {
      if (i + 1 == arguments.size() || absl::StartsWith(arguments[i + 1], "--"))
        return absl::InvalidArgumentError(
            absl::StrCat(argument, " needs a value: ", argument, "=..."));
      value = arguments[++i];
    }
    const absl::Status status = option->second.take(value);
    if (!status.ok())
      return absl::InvalidArgumentError(absl::StrCat(
          "--", option->first, "=", value, ": ", status.message()));
  }
  return rest;
}

std::string UserPath(absl::string_view path, const char* working_directory) {
  return working_directory == nullptr || path.empty() ||
                 absl::StartsWith(path, "/")
             ? std::string(path)
             : absl::StrCat(working_directory, "/", path);
}

int ReportUsage(absl::string_view usage, const absl::Status& status) {
  std::fprintf(stderr, "%s\nusage: %s\n", std::string(status.message()).c_str(),
               std::string(usage).c_str());
  return 2;
}

int ReportStatus(absl::string_view program, const absl::Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", std::string(program).c_str(),
               std::string(status.message()).c_str());
  return 1;
}

int RunOnArguments(
    absl::string_view program, absl::string_view usage,
    const OptionParser& parser, absl::Span<const std::string> arguments,
    const std::function<absl::Status(const std::vector<std::string>&)>& run) {
  const absl::StatusOr<std::vector<std::string>> rest = parser.Parse(arguments);
  if (!rest.ok()) return ReportUsage(usage, rest.status());
  if (rest->empty())
    return ReportUsage(usage,
                       absl::InvalidArgumentError("no argument was given"));
  return ReportStatus(program, run(*rest));
}

}  // namespace tilewright
