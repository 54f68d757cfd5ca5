#include "backends/spec/load_spec.h"

#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/spec/builtin_specs.h"
#include "backends/spec/set_source.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

namespace tilewright {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

// Keeps the first error, with its place.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) {
      text_ = absl::StrCat(line + 1, ":", column + 1, ": ", message);
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The number in `field`, which is int64 or double.
double Number(const Message& message, const FieldDescriptor* field) {
  const auto* reflection = message.GetReflection();
  return field->cpp_type() == FieldDescriptor::CPPTYPE_INT64
             ? static_cast<double>(reflection->GetInt64(message, field))
             : reflection->GetDouble(message, field);
}

// Every number that is set is not negative and named in one of the `sources`
// beside it; recurses into sub-messages.
absl::Status CheckNumbers(const Message& message, const std::string& where) {
  const auto* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  std::set<std::string> sourced;
  for (const FieldDescriptor* field : fields) {
    if (field->name() != "sources") continue;
    for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
      const auto& source = static_cast<const Source&>(
          reflection->GetRepeatedMessage(message, field, i));
      if (source.kind() == Source::KIND_UNSPECIFIED) {
        return absl::InvalidArgumentError(
            absl::StrCat(where, "source ", i, " has no kind"));
      }
      for (const std::string& name : source.fields()) {
        if (message.GetDescriptor()->FindFieldByName(name) == nullptr) {
          return absl::InvalidArgumentError(absl::StrCat(
              where, "source ", i, " names '", name, "', which is no field"));
        }
        sourced.insert(name);
      }
    }
  }
  for (const FieldDescriptor* field : fields) {
    if (field->name() == "sources") continue;
    const std::string path = absl::StrCat(where, field->name());
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!field->is_repeated()) {
        TW_RETURN_IF_ERROR(CheckNumbers(reflection->GetMessage(message, field),
                                        absl::StrCat(path, ".")));
        continue;
      }
      for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
        TW_RETURN_IF_ERROR(
            CheckNumbers(reflection->GetRepeatedMessage(message, field, i),
                         absl::StrCat(path, "[", i, "].")));
      }
      continue;
    }
    const bool number = field->cpp_type() == FieldDescriptor::CPPTYPE_INT64 ||
                        field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
    if (!number) continue;
    if (!field->is_repeated() && !(Number(message, field) >= 0)) {
      return absl::InvalidArgumentError(absl::StrCat(path, " is negative"));
    }
    if (sourced.count(field->name()) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, " has no source: name it in 'sources'"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLevels(const DeviceSpec& spec) {
  if (spec.levels_size() < 2 || spec.levels(0).kind() != MemoryLevel::MEMORY ||
      spec.levels(spec.levels_size() - 1).kind() != MemoryLevel::REGISTER) {
    return absl::InvalidArgumentError(
        "levels must begin with kind MEMORY and end with kind REGISTER");
  }
  std::set<std::string> names;
  for (const MemoryLevel& level : spec.levels()) {
    if (level.name().empty() || !names.insert(level.name()).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "level '", level.name(), "': names must be set and differ"));
    }
    if (level.kind() == MemoryLevel::KIND_UNSPECIFIED ||
        level.scope() == MemoryLevel::SCOPE_UNSPECIFIED) {
      return absl::InvalidArgumentError(
          absl::StrCat("level '", level.name(), "' needs kind and scope"));
    }
  }
  return absl::OkStatus();
}

// Whether the cost model of CPUs goes by this spec.
bool NeedsCostModel(const DeviceSpec& spec) {
  return absl::StartsWith(spec.target(), "cpu:");
}

// Nothing may be left out but what a machine can do without: a fitted constant
// may be 0.
absl::Status CheckCostModel(const DeviceSpec& spec) {
  if (!NeedsCostModel(spec)) return absl::OkStatus();
  if (!spec.has_cost_model()) {
    return absl::InvalidArgumentError(
        "a spec of a CPU needs a cost model: cost_model_of: "
        "\"cpu_x86_64_v4_bf16\", or one fitted to the machine "
        "(bench/cost:fit)");
  }
  const CostModel& model = spec.cost_model();
  std::set<std::string> set;
  std::vector<const FieldDescriptor*> fields;
  model.GetReflection()->ListFields(model, &fields);
  for (const FieldDescriptor* field : fields) set.insert(field->name());
  for (int i = 0; i < model.GetDescriptor()->field_count(); ++i) {
    const std::string& name = model.GetDescriptor()->field(i)->name();
    if (absl::EndsWith(name, "_peak_share") && set.count(name) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("cost_model.", name, " must be more than 0"));
    }
  }
  if (!(model.overlap_exponent() >= 1)) {
    return absl::InvalidArgumentError(
        "cost_model.overlap_exponent must be at least 1");
  }
  return absl::OkStatus();
}

// Replaces `cost_model_of` by what it says.
absl::Status TakeCostModel(DeviceSpec& spec) {
  if (spec.cost_model_of().empty()) return absl::OkStatus();
  const std::string name = std::move(*spec.mutable_cost_model_of());
  spec.clear_cost_model_of();
  for (const BuiltinSpec& builtin : BuiltinSpecs()) {
    if (builtin.name != name) continue;
    DeviceSpec other;
    TW_CHECK(google::protobuf::TextFormat::ParseFromString(
        std::string(builtin.text), &other));
    if (!other.has_cost_model()) break;
    CostModel model = std::move(*other.mutable_cost_model());
    model.clear_sources();
    std::vector<const FieldDescriptor*> fields;
    model.GetReflection()->ListFields(model, &fields);
    std::vector<std::string> names;
    for (const FieldDescriptor* field : fields) names.push_back(field->name());
    SetSource(model, Source::DERIVED, names, absl::StrCat("that of ", name));
    model.MergeFrom(spec.cost_model());
    *spec.mutable_cost_model() = std::move(model);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "cost_model_of: '", name, "' is no committed spec with a cost model"));
}

}  // namespace

absl::Status ValidateSpec(const DeviceSpec& spec) {
  if (spec.name().empty()) return absl::InvalidArgumentError("no name");
  if (spec.target().empty()) return absl::InvalidArgumentError("no target");
  TW_RETURN_IF_ERROR(CheckLevels(spec));
  if (spec.unit().cores() < 1) {
    return absl::InvalidArgumentError("unit.cores must be at least 1");
  }
  for (int i = 1; i < spec.features_size(); ++i) {
    if (spec.features(i - 1) >= spec.features(i)) {
      return absl::InvalidArgumentError(
          absl::StrCat("features must be sorted and differ: '",
                       spec.features(i), "' is out of place"));
    }
  }
  TW_RETURN_IF_ERROR(CheckCostModel(spec));
  return CheckNumbers(spec, "");
}

absl::StatusOr<DeviceSpec> ParseSpec(std::string_view text,
                                     std::string_view origin) {
  DeviceSpec spec;
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(std::string(text), &spec)) {
    return absl::InvalidArgumentError(absl::StrCat(
        std::string(origin), ":", error.text(), " (expected a DeviceSpec)"));
  }
  absl::Status status = TakeCostModel(spec);
  if (status.ok()) status = ValidateSpec(spec);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(origin), ": ", status.message()));
  }
  return spec;
}

absl::StatusOr<DeviceSpec> LoadSpec(std::string_view name_or_path) {
  for (const BuiltinSpec& builtin : BuiltinSpecs()) {
    if (builtin.name == name_or_path) {
      return ParseSpec(builtin.text, builtin.name);
    }
  }
  if (name_or_path.find(':') != std::string_view::npos) {
    for (const BuiltinSpec& builtin : BuiltinSpecs()) {
      absl::StatusOr<DeviceSpec> spec = ParseSpec(builtin.text, builtin.name);
      if (spec.ok() && spec->target() == name_or_path &&
          spec->cpu_families().empty())
        return spec;
    }
  }
  const std::string path(name_or_path);
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return absl::NotFoundError(absl::StrCat(
        "'", path, "' is neither a readable file nor one of the specs ",
        absl::StrJoin(BuiltinSpecNames(), ", ")));
  }
  return ParseSpec(text.str(), path);
}

std::string SpecText(const DeviceSpec& spec) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(spec, &text);
  return text;
}

std::vector<std::string> BuiltinSpecNames() {
  std::vector<std::string> names;
  for (const BuiltinSpec& builtin : BuiltinSpecs()) {
    names.emplace_back(builtin.name);
  }
  return names;
}

const MemoryLevel* FindLevel(const DeviceSpec& spec, std::string_view name) {
  for (const MemoryLevel& level : spec.levels()) {
    if (level.name() == name) return &level;
  }
  return nullptr;
}

const CostModel& CostModelOf(const DeviceSpec& spec) {
  TW_CHECK(spec.has_cost_model());
  return spec.cost_model();
}

double CorePeak(const DeviceSpec& spec, std::string_view dtype,
                PeakRate::Unit unit) {
  for (const PeakRate& peak : spec.unit().peaks()) {
    if (peak.dtype() == dtype && peak.unit() == unit) {
      return peak.core_ops_per_s();
    }
  }
  return 0;
}

}  // namespace tilewright
