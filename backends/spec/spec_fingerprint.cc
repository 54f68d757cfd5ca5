#include "backends/spec/spec_fingerprint.h"

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace tilewright {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

// Fields that are measured, or say where figures are from: by name, in any
// message of the spec.
const std::set<std::string>& LeftOut() {
  static const auto* fields =
      new std::set<std::string>{"sources",
                                "read_bytes_per_s",
                                "write_bytes_per_s",
                                "aggregate_read_bytes_per_s",
                                "aggregate_write_bytes_per_s",
                                "latency_ns",
                                "retention_ns",
                                "core_ops_per_s",
                                "launch_ns",
                                "barrier_ns",
                                "cost_model"};
  return *fields;
}

// Numbers, not bytes of the wire format: the same in every version of protobuf.
void AddValue(const Message& message, const FieldDescriptor* field, int index,
              Fingerprinter& out);

void AddMessage(const Message& message, Fingerprinter& out) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);  // by number
  for (const FieldDescriptor* field : fields) {
    if (LeftOut().count(field->name()) != 0) continue;
    out.AddInt(static_cast<uint64_t>(field->number()));
    if (!field->is_repeated()) {
      AddValue(message, field, -1, out);
      continue;
    }
    const int size = message.GetReflection()->FieldSize(message, field);
    out.AddInt(static_cast<uint64_t>(size));
    for (int i = 0; i < size; ++i) AddValue(message, field, i, out);
  }
  out.AddInt(0);  // the end: no field has this number
}

void AddValue(const Message& message, const FieldDescriptor* field, int index,
              Fingerprinter& out) {
  const auto* r = message.GetReflection();
  const bool one = index < 0;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      out.AddInt(static_cast<uint64_t>(
          one ? r->GetInt64(message, field)
              : r->GetRepeatedInt64(message, field, index)));
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      const double value = one ? r->GetDouble(message, field)
                               : r->GetRepeatedDouble(message, field, index);
      uint64_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      out.AddInt(bits);
      return;
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      out.AddInt(one ? r->GetBool(message, field)
                     : r->GetRepeatedBool(message, field, index));
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      out.AddInt(static_cast<uint64_t>(
          one ? r->GetEnumValue(message, field)
              : r->GetRepeatedEnumValue(message, field, index)));
      return;
    case FieldDescriptor::CPPTYPE_STRING:
      out.AddString(one ? r->GetString(message, field)
                        : r->GetRepeatedString(message, field, index));
      return;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      AddMessage(one ? r->GetMessage(message, field)
                     : r->GetRepeatedMessage(message, field, index),
                 out);
      return;
    default:
      TW_CHECK(false) << "field " << field->full_name() << " has a new type";
  }
}

}  // namespace

Fingerprint StructureFingerprint(const DeviceSpec& spec) {
  DeviceSpec nameless = spec;
  nameless.clear_name();
  Fingerprinter out;
  AddMessage(nameless, out);
  return out.Finish();
}

}  // namespace tilewright
