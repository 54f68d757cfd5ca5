#include "bench/fuzz/mutate_tw.h"

#include <algorithm>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/fingerprint.h"
#include "base/random.h"
#include "bench/fuzz/odd_values.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "runtime/format/tw_file.h"

namespace tilewright::bench {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kHeaderBytes = 136;
constexpr size_t kChecksumAt = 120;

std::string ChangeBytes(std::string& bytes, Random& random) {
  if (bytes.empty()) {
    bytes = "x";
    return "a byte more";
  }
  switch (random.UniformInt(0, 4)) {
    case 0: {
      const size_t size = random.Index(bytes.size());
      bytes.resize(size);
      return absl::StrCat("cut to ", size, " bytes");
    }
    case 1: {
      const size_t at = random.Index(bytes.size());
      const size_t count = 1 + random.Index(16);
      bytes.erase(at, count);
      return absl::StrCat(count, " bytes taken out at ", at);
    }
    case 2: {
      const size_t at = random.Index(bytes.size());
      bytes.insert(at, bytes.substr(random.Index(bytes.size()), 16));
      return absl::StrCat("bytes put in at ", at);
    }
    default: {
      const size_t at = random.Index(bytes.size());
      bytes[at] = static_cast<char>(random.UniformInt(0, 255));
      return absl::StrCat("byte ", at);
    }
  }
}

// A number of the header, which gets its checksum again.
std::string ChangeHeader(std::string& bytes, Random& random) {
  const size_t at = 8 + 4 * random.Index((kChecksumAt - 8) / 4);
  uint64_t value = static_cast<uint64_t>(OddInteger(random, 4096));
  if (random.Bernoulli(0.3)) value = bytes.size() + random.Index(3) - 1;
  const size_t width = random.Bernoulli(0.5) ? 4 : 8;
  for (size_t i = 0; i < width && at + i < kChecksumAt; ++i)
    bytes[at + i] = static_cast<char>(value >> (8 * i));
  const Fingerprint sum =
      Fingerprint::Of(std::string_view(bytes).substr(0, kChecksumAt));
  for (size_t i = 0; i < 8; ++i) {
    bytes[kChecksumAt + i] = static_cast<char>(sum.high >> (8 * i));
    bytes[kChecksumAt + 8 + i] = static_cast<char>(sum.low >> (8 * i));
  }
  return absl::StrCat("header at ", at, " is ", value);
}

std::string ChangeScalar(Message& message, const FieldDescriptor& field,
                         Random& random) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64: {
      const int64_t value =
          OddInteger(random, reflection.GetInt64(message, &field));
      reflection.SetInt64(&message, &field, value);
      return absl::StrCat(value);
    }
    case FieldDescriptor::CPPTYPE_INT32: {
      const int32_t value = static_cast<int32_t>(
          OddInteger(random, reflection.GetInt32(message, &field)));
      reflection.SetInt32(&message, &field, value);
      return absl::StrCat(value);
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int value = static_cast<int>(random.UniformInt(-1, 15));
      reflection.SetEnumValue(&message, &field, value);
      return absl::StrCat(value);
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      const bool value = !reflection.GetBool(message, &field);
      reflection.SetBool(&message, &field, value);
      return value ? "true" : "false";
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      constexpr const char* kTexts[] = {
          "", "x", "two\nlines", "cpu:x86-64-v9", "_init", "cuda:sm_90"};
      reflection.SetString(&message, &field, kTexts[random.Index(6)]);
      return "another text";
    }
    default:
      reflection.ClearField(&message, &field);
      return "cleared";
  }
}

std::string ChangeRepeated(Message& message, const FieldDescriptor& field,
                           Random& random) {
  const Reflection& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, &field);
  const int choice = static_cast<int>(random.UniformInt(0, 3));
  if (choice == 0 && size > 0) {
    reflection.RemoveLast(&message, &field);
    return "one less";
  }
  if (choice == 1 && size > 1) {
    reflection.SwapElements(&message, &field, 0,
                            static_cast<int>(random.Index(size)));
    return "two swapped";
  }
  const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (!is_message) {
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_INT64) return "nothing";
    const int64_t value = OddInteger(random, 1);
    if (choice == 2 || size == 0) {
      reflection.AddInt64(&message, &field, value);
      return absl::StrCat(value, " more");
    }
    reflection.SetRepeatedInt64(&message, &field,
                                static_cast<int>(random.Index(size)), value);
    return absl::StrCat("one is ", value);
  }
  Message* added = reflection.AddMessage(&message, &field);
  if (size > 0 && random.Bernoulli(0.8)) {
    added->CopyFrom(reflection.GetRepeatedMessage(
        message, &field, static_cast<int>(random.Index(size))));
  }
  return "one more";
}

// Goes down to a random field, more often into messages than not.
std::string ChangeMessage(Message& message, Random& random) {
  const auto& type = *message.GetDescriptor();
  if (type.field_count() == 0) return "nothing";
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor& field =
      *type.field(static_cast<int>(random.Index(type.field_count())));
  const std::string start = absl::StrCat(field.name(), " ");
  const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (field.is_repeated()) {
    const int size = reflection.FieldSize(message, &field);
    if (!is_message || size == 0 || random.Bernoulli(0.2))
      return start + ChangeRepeated(message, field, random);
    const int at = static_cast<int>(random.Index(size));
    return absl::StrCat(
        start, at, " ",
        ChangeMessage(*reflection.MutableRepeatedMessage(&message, &field, at),
                      random));
  }
  if (!is_message) return start + ChangeScalar(message, field, random);
  // Setting another kind of a oneof is rare, what is there is changed.
  if (!reflection.HasField(message, &field) && random.Bernoulli(0.7))
    return ChangeMessage(message, random);
  return start +
         ChangeMessage(*reflection.MutableMessage(&message, &field), random);
}

bool SameKernels(const Program& a, const Program& b) {
  if (a.kernels_size() != b.kernels_size() || a.target() != b.target())
    return false;
  for (int k = 0; k < a.kernels_size(); ++k) {
    if (a.kernels(k).SerializeAsString() != b.kernels(k).SerializeAsString())
      return false;
  }
  return true;
}

// Whether `bytes` holds the code and the kernels of `view`. What cannot be
// parsed is refused and needs no code.
bool MayRun(const TwView& view, const std::string& bytes) {
  const absl::StatusOr<TwView> changed = ParseTw(bytes);
  return changed.ok() && changed->module == view.module &&
         SameKernels(changed->program, view.program);
}

}  // namespace

TwMutant MakeTwMutant(const std::vector<std::string>& files, int64_t index) {
  Random random(static_cast<uint64_t>(index) * 0x9e3779b97f4a7c15u + 7);
  TwMutant mutant;
  mutant.bytes = files[random.Index(files.size())];
  const std::string original = mutant.bytes;
  const absl::StatusOr<TwView> view = ParseTw(original);
  TW_CHECK_OK(view.status());
  const int64_t kind = random.UniformInt(0, 19);
  if (kind == 0) {
    mutant.change = "file: " + ChangeBytes(mutant.bytes, random);
  } else if (kind <= 2) {
    TW_CHECK(mutant.bytes.size() > kHeaderBytes);
    mutant.change = ChangeHeader(mutant.bytes, random);
  } else if (kind <= 4) {
    std::string constants(view->constants);
    mutant.change = "constants: " + ChangeBytes(constants, random);
    mutant.bytes = SerializeTw(view->program, view->module, constants);
  } else if (kind <= 6) {
    // Bytes of the program, as far as they still are one.
    std::string bytes = view->program.SerializeAsString();
    mutant.change = "program bytes: " + ChangeBytes(bytes, random);
    Program program;
    if (!program.ParsePartialFromString(bytes)) program.Clear();
    mutant.bytes = SerializeTw(program, view->module, view->constants);
  } else {
    Program program = view->program;
    const int changes = random.Bernoulli(0.7) ? 1 : 3;
    for (int i = 0; i < changes; ++i) {
      absl::StrAppend(&mutant.change, i == 0 ? "program: " : "; ",
                      ChangeMessage(program, random));
    }
    mutant.bytes = SerializeTw(program, view->module, view->constants);
  }
  mutant.change = absl::Utf8SafeCEscape(mutant.change);
  mutant.may_run = MayRun(*view, mutant.bytes);
  return mutant;
}

}  // namespace tilewright::bench
