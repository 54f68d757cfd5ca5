#include "bench/fuzz/tw_case.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/guarded_buffer.h"
#include "runtime/format/element_type.h"
#include "runtime/model.h"
#include "runtime/session.h"

namespace tilewright::bench {
namespace {

using backends::GuardedBuffer;

constexpr int64_t kMostBytes = int64_t{256} << 20;

FuzzAnswer Refused(std::string stage, const absl::Status& status) {
  return {"refused", std::move(stage), std::string(status.message()), {}};
}

// One buffer for each tensor; false if they are too large.
bool MakeBuffers(const google::protobuf::RepeatedPtrField<TensorSpec>& tensors,
                 std::vector<GuardedBuffer>& buffers) {
  for (const TensorSpec& tensor : tensors) {
    const int64_t bytes = SizeBytes(tensor);
    if (bytes > kMostBytes) return false;
    auto buffer = GuardedBuffer::Create(std::max<int64_t>(bytes, 1),
                                        GuardedBuffer::Side::kEnd);
    if (!buffer.ok()) return false;
    buffers.push_back(*std::move(buffer));
  }
  return true;
}

}  // namespace

FuzzAnswer RunTwCase(const TwMutant& mutant,
                     const std::shared_ptr<backends::Device>& device) {
  const absl::StatusOr<std::shared_ptr<const Model>> model =
      Model::FromBytes(mutant.bytes, device);
  if (!model.ok()) return Refused("loader", model.status());
  const absl::StatusOr<std::unique_ptr<Session>> session =
      Session::Create(*model);
  if (!session.ok()) return Refused("session", session.status());
  if (!mutant.may_run) return {"loaded", "", "", {}};
  const Program& program = (*model)->program();
  std::vector<GuardedBuffer> inputs, outputs;
  if (program.arena_bytes() + program.host_bytes() > kMostBytes ||
      !MakeBuffers(program.inputs(), inputs) ||
      !MakeBuffers(program.outputs(), outputs))
    return {"large", "", "", {}};
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const GuardedBuffer& buffer : inputs) from.push_back(buffer.data());
  for (const GuardedBuffer& buffer : outputs) to.push_back(buffer.data());
  const absl::Status status = (*session)->Run(from, to);
  return status.ok() ? FuzzAnswer{"ran", "", "", {}} : Refused("run", status);
}

}  // namespace tilewright::bench
