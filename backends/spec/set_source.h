#ifndef TILEWRIGHT_BACKENDS_SPEC_SET_SOURCE_H_
#define TILEWRIGHT_BACKENDS_SPEC_SET_SOURCE_H_

#include <algorithm>
#include <string>
#include <vector>

#include "backends/spec/device_spec.pb.h"

namespace tilewright {

// Says where `fields` of a message of DeviceSpec come from, and no longer what
// other sources said about them.
template <typename Message>
void SetSource(Message& message, Source::Kind kind,
               const std::vector<std::string>& fields,
               const std::string& detail) {
  auto* sources = message.mutable_sources();
  for (Source& source : *sources) {
    auto* names = source.mutable_fields();
    names->erase(std::remove_if(names->begin(), names->end(),
                                [&](const std::string& name) {
                                  return std::find(fields.begin(), fields.end(),
                                                   name) != fields.end();
                                }),
                 names->end());
  }
  sources->erase(
      std::remove_if(sources->begin(), sources->end(),
                     [](const Source& s) { return s.fields().empty(); }),
      sources->end());
  Source* source = message.add_sources();
  for (const std::string& field : fields) source->add_fields(field);
  source->set_kind(kind);
  source->set_detail(detail);
}

}  // namespace tilewright

#endif  // TILEWRIGHT_BACKENDS_SPEC_SET_SOURCE_H_
