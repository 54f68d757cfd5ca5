#include "backends/fake/device/fake_module.h"

#include <cstring>
#include <type_traits>

#include "absl/status/status.h"

namespace tilewright::fake {
namespace {

constexpr char kMagic[] = "tilewright fake module\n";
constexpr size_t kMagicBytes = sizeof(kMagic) - 1;

static_assert(std::is_trivially_copyable_v<FakeModule>);

}  // namespace

std::string FakeModule::ToBytes() const {
  // Field by field, so that padding does not decide what is equal.
  std::string bytes = kMagic;
  const auto add = [&bytes](const auto& field) {
    bytes.append(reinterpret_cast<const char*>(&field), sizeof(field));
  };
  add(factor), add(latency_ns), add(fault), add(signal), add(fault_at);
  return bytes;
}

absl::StatusOr<FakeModule> FakeModule::FromBytes(std::string_view bytes) {
  FakeModule module;
  if (bytes.size() != module.ToBytes().size() ||
      bytes.substr(0, kMagicBytes) != kMagic) {
    return absl::InvalidArgumentError("these bytes are no fake module");
  }
  bytes.remove_prefix(kMagicBytes);
  const auto take = [&bytes](auto& field) {
    std::memcpy(&field, bytes.data(), sizeof(field));
    bytes.remove_prefix(sizeof(field));
  };
  take(module.factor), take(module.latency_ns), take(module.fault);
  take(module.signal), take(module.fault_at);
  if (module.fault > Fault::kHang) {
    return absl::InvalidArgumentError("a fake module with an unknown fault");
  }
  return module;
}

}  // namespace tilewright::fake
