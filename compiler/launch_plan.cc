#include "compiler/launch_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/types/span.h"
#include "base/check.h"
#include "base/fingerprint.h"
#include "compiler/zero_fill.h"
#include "tilegraph/ir/arena.h"
#include "tilegraph/plan/memory_of.h"
#include "tilegraph/rewrite/bands/bands.h"
#include "tilegraph/rewrite/winograd.h"

namespace tilewright {
namespace {

constexpr size_t kConstantAlignment = 64;

// Launches of more tasks keep the threads busy on their own.
constexpr int64_t kFewTasks = 64;
// Launches that may run together: what they use must be in memory at once.
constexpr size_t kMostTogether = 8;

class LaunchPlanner {
 public:
  LaunchPlanner(const TensorGraph& graph, const Plan& plan, HaloFill fill,
                Program& program, std::string& constants)
      : graph_(graph),
        plan_(plan),
        fill_(fill),
        program_(program),
        constants_(constants) {}

  void Run(const std::vector<GroupLaunch>& launches,
           const std::vector<TensorId>& inputs,
           const std::vector<TensorId>& outputs) {
    ReserveConstants(launches);
    AddBoundary(inputs, outputs);
    for (const Group& group : plan_.groups) {
      if (graph_.tensor(group.output).hint.role() == ComputeRole::kBandOut)
        on_host_.insert(MemoryOf(plan_, group.output));
    }
    for (size_t g = 0; g < launches.size();) {
      const size_t end = EndOfTogether(launches, g);
      const int first = program_.steps_size();
      for (size_t i = g; i < end; ++i) {
        for (const TensorId output : OutputsOf(plan_.groups[i]))
          PrepareMemory(MemoryOf(plan_, output));
      }
      for (size_t i = g; i < end; ++i) {
        if (launches[i].kernel < 0) {
          AddMove(launches[i]);
        } else {
          AddLaunch(launches[i], i > g);
        }
      }
      UsedSince(first);
      g = end;
    }
    CopyOutputs(outputs);
    PlaceArena();
  }

 private:
  int AddBuffer(ProgramBuffer::Kind kind, int index, int64_t size_bytes) {
    ProgramBuffer* buffer = program_.add_buffers();
    buffer->set_kind(kind);
    buffer->set_index(index);
    buffer->set_size_bytes(size_bytes);
    return program_.buffers_size() - 1;
  }

  // A group's result that is an output of the model is written where the caller
  // wants it.
  void AddBoundary(const std::vector<TensorId>& inputs,
                   const std::vector<TensorId>& outputs) {
    for (size_t i = 0; i < inputs.size(); ++i)
      buffer_of_[inputs[i]] = AddBuffer(
          ProgramBuffer::INPUT, static_cast<int>(i), DenseBytes(inputs[i]));
    for (size_t i = 0; i < outputs.size(); ++i) {
      output_buffer_.push_back(AddBuffer(
          ProgramBuffer::OUTPUT, static_cast<int>(i), DenseBytes(outputs[i])));
      if (graph_.tensor(outputs[i]).kind == TensorKind::kCompute)
        buffer_of_.insert({outputs[i], output_buffer_[i]});
    }
  }

  // The end of the groups from `begin` on that may run at the same time: each
  // has few tasks and reads nothing that another writes.
  size_t EndOfTogether(const std::vector<GroupLaunch>& launches,
                       size_t begin) const {
    const auto few = [&](size_t g) {
      return launches[g].kernel >= 0 &&
             program_.kernels(launches[g].kernel).num_tasks() <= kFewTasks;
    };
    if (!few(begin)) return begin + 1;
    std::set<TensorId> written;
    const auto add = [&](const Group& group) {
      for (const TensorId output : OutputsOf(group))
        written.insert(MemoryOf(plan_, output));
    };
    add(plan_.groups[begin]);
    size_t end = begin + 1;
    for (; end < launches.size() && end - begin < kMostTogether && few(end);
         ++end) {
      const std::vector<TensorId>& inputs = plan_.groups[end].inputs;
      if (std::any_of(inputs.begin(), inputs.end(), [&](TensorId input) {
            return written.count(MemoryOf(plan_, input)) > 0;
          }))
        break;
      add(plan_.groups[end]);
    }
    return end;
  }

  // A buffer for `root` and zeros in its halo, when the first group writes
  // there.
  void PrepareMemory(TensorId root) {
    if (!prepared_.insert(root).second) return;
    if (!buffer_of_.count(root)) AddArenaBuffer(root);
    for (Zero& zero : FillsOf(root)) {
      zero.mutable_to()->set_buffer(buffer_of_.at(root));
      *program_.add_steps()->mutable_zero() = std::move(zero);
      Touch(buffer_of_.at(root));
    }
  }

  // Of the tensor's halo; nothing is written there yet.
  std::vector<Zero> FillsOf(TensorId root) {
    const Layout& layout = plan_.layouts.at(root);
    const int64_t element_bytes = SizeBytes(graph_.tensor(root).dtype);
    const auto [known, is_new] =
        fills_.try_emplace({layout.ToString(), element_bytes});
    const std::vector<Zero>& fills = known->second;
    if (is_new) known->second = ZeroFills(layout, element_bytes);
    if (fill_ == HaloFill::kPieces || fills.empty() ||
        (fills.size() == 1 && fills[0].repeats().empty()))
      return fills;
    Zero whole;
    whole.set_size_bytes(layout.physical_elements() * element_bytes);
    return {whole};
  }

  int64_t DenseBytes(TensorId id) const {
    return graph_.tensor(id).num_bytes();
  }

  void AddArenaBuffer(TensorId id) {
    const int64_t size_bytes = plan_.layouts.at(id).physical_elements() *
                               SizeBytes(graph_.tensor(id).dtype);
    buffer_of_[id] = AddBuffer(
        on_host_.count(id) ? ProgramBuffer::HOST : ProgramBuffer::ARENA, 0,
        size_bytes);
  }

  // Of a large model constants are nearly all there is: they do not move as
  // more of them come.
  void ReserveConstants(const std::vector<GroupLaunch>& launches) {
    std::map<TensorId, int64_t> bytes;
    for (const GroupLaunch& launch : launches) {
      for (size_t i = 0; i < launch.args.size(); ++i) {
        const TensorId root = MemoryOf(plan_, launch.args[i]);
        const Tensor& tensor = graph_.tensor(root);
        if (tensor.kind != TensorKind::kConstant || launch.kernel < 0) continue;
        bytes[root] =
            std::max(bytes[root], launch.layouts[i].physical_elements() *
                                      SizeBytes(tensor.dtype));
      }
    }
    size_t total = constants_.size();
    for (const auto& [root, size] : bytes)
      total += static_cast<size_t>(size) + kConstantAlignment;
    constants_.reserve(total);
  }

  int ConstantBuffer(TensorId id, const Layout& layout, int winograd) {
    const auto key = std::make_tuple(id, layout.ToString(), winograd);
    if (const auto known = constant_buffer_.find(key);
        known != constant_buffer_.end())
      return known->second;
    const HostTensor& value = *graph_.tensor(id).value;
    const size_t size_before = constants_.size();
    const size_t begin = (size_before + kConstantAlignment - 1) /
                         kConstantAlignment * kConstantAlignment;
    const auto bytes = static_cast<size_t>(layout.physical_elements() *
                                           SizeBytes(value.dtype()));
    constants_.resize(begin + bytes, '\0');
    const absl::Span<char> packed(&constants_[begin], bytes);
    if (winograd == 0) {
      layout.Pack(value, packed);
    } else {
      layout.Pack(WinogradFilters(value, winograd), packed);
    }
    const auto [same, added] = constant_by_bytes_.insert(
        {Fingerprint::Of({packed.data(), bytes}).ToString(),
         program_.buffers_size()});
    if (added) {
      AddBuffer(ProgramBuffer::CONSTANT, 0, static_cast<int64_t>(bytes));
      program_.mutable_buffers(same->second)
          ->set_offset_bytes(static_cast<int64_t>(begin));
    } else {
      constants_.resize(size_before);
    }
    return constant_buffer_[key] = same->second;
  }

  void AddLaunch(const GroupLaunch& group, bool beside_previous) {
    Launch* launch = program_.add_steps()->mutable_launch();
    launch->set_kernel(group.kernel);
    launch->set_beside_previous(beside_previous);
    for (size_t i = 0; i < group.args.size(); ++i) {
      const TensorId root = MemoryOf(plan_, group.args[i]);
      const bool constant = graph_.tensor(root).kind == TensorKind::kConstant;
      const int buffer =
          constant ? ConstantBuffer(root, group.layouts[i], group.winograd[i])
                   : buffer_of_.at(root);
      Place* arg = launch->add_args();
      arg->set_buffer(buffer);
      arg->set_offset_bytes(group.offset_bytes[i]);
      Touch(buffer);
    }
  }

  void AddMove(const GroupLaunch& group) {
    const int64_t size = SizeBytes(graph_.tensor(group.args[0]).dtype);
    Copy* copy = program_.add_steps()->mutable_copy();
    const auto place = [&](Place* place, TensorId id, int64_t offset) {
      const int buffer = buffer_of_.at(MemoryOf(plan_, id));
      place->set_buffer(buffer);
      place->set_offset_bytes(offset * size);
      Touch(buffer);
    };
    place(copy->mutable_to(), group.args[0], group.move.to_offset);
    place(copy->mutable_from(), group.args[1], group.move.from_offset);
    copy->set_size_bytes(group.move.run * size);
    for (const BoxCopy::Repeat& repeat : group.move.repeats) {
      Copy::Repeat* added = copy->add_repeats();
      added->set_count(repeat.count);
      added->set_to_stride_bytes(repeat.to_stride * size);
      added->set_from_stride_bytes(repeat.from_stride * size);
    }
  }

  // Outputs that no group writes in place: inputs, constants, and one tensor
  // given out twice.
  void CopyOutputs(const std::vector<TensorId>& outputs) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const TensorId id = outputs[i];
      const bool constant = graph_.tensor(id).kind == TensorKind::kConstant;
      const int from =
          constant
              ? ConstantBuffer(
                    id, Layout::RowMajor(graph_.tensor(id).static_shape()), 0)
              : buffer_of_.at(id);
      if (from == output_buffer_[i]) continue;
      Copy* copy = program_.add_steps()->mutable_copy();
      copy->mutable_to()->set_buffer(output_buffer_[i]);
      copy->mutable_from()->set_buffer(from);
      copy->set_size_bytes(DenseBytes(id));
      Touch(from);
      UsedSince(program_.steps_size() - 1);
    }
  }

  // One of the steps added last uses `buffer`.
  void Touch(int buffer) { touched_.insert(buffer); }

  // The buffers touched are used by the steps from `first` on: they are alive
  // during all of them.
  void UsedSince(int first) {
    const int last = program_.steps_size() - 1;
    for (const int buffer : touched_) {
      const auto [used, added] = used_.insert({buffer, {first, last}});
      if (!added) used->second.second = last;
    }
    touched_.clear();
  }

  void PlaceArena() {
    const auto [arena_bytes, least_bytes] = PlaceAll(ProgramBuffer::ARENA);
    program_.set_arena_bytes(arena_bytes);
    program_.set_least_arena_bytes(least_bytes);
    program_.set_host_bytes(PlaceAll(ProgramBuffer::HOST).first);
  }

  // Bytes of the memory of that kind, and the most that is alive in it.
  std::pair<int64_t, int64_t> PlaceAll(ProgramBuffer::Kind kind) {
    std::vector<BufferLifetime> lifetimes;
    std::vector<int> buffers;
    for (const auto& [buffer, used] : used_) {
      if (program_.buffers(buffer).kind() != kind) continue;
      lifetimes.push_back(
          {program_.buffers(buffer).size_bytes(), used.first, used.second});
      buffers.push_back(buffer);
    }
    const BufferPlacement placement = PlaceBuffers(lifetimes);
    for (size_t i = 0; i < buffers.size(); ++i)
      program_.mutable_buffers(buffers[i])
          ->set_offset_bytes(placement.offset_bytes[i]);
    return {placement.arena_bytes, LeastArenaBytes(lifetimes)};
  }

  const TensorGraph& graph_;
  const Plan& plan_;
  const HaloFill fill_;
  // By layout and bytes of an element.
  std::map<std::pair<std::string, int64_t>, std::vector<Zero>> fills_;
  Program& program_;
  std::string& constants_;
  std::vector<int> output_buffer_;     // by output
  std::map<TensorId, int> buffer_of_;  // inputs, and where groups write
  std::set<TensorId> on_host_;         // roots
  std::set<TensorId> prepared_;        // written by some group already
  std::map<std::tuple<TensorId, std::string, int>, int>
      constant_buffer_;  // by tensor, layout and m of Winograd
  std::map<std::string, int>
      constant_by_bytes_;  // by fingerprint of the packed bytes
  std::set<int> touched_;
  std::map<int, std::pair<int, int>> used_;  // buffer -> first and last step
};

}  // namespace

void AddLaunchPlan(const TensorGraph& graph, const Plan& plan,
                   const std::vector<GroupLaunch>& launches,
                   const std::vector<TensorId>& inputs,
                   const std::vector<TensorId>& outputs, HaloFill fill,
                   Program& program, std::string& constants) {
  TW_CHECK_EQ(launches.size(), plan.groups.size());
  LaunchPlanner(graph, plan, fill, program, constants)
      .Run(launches, inputs, outputs);
}

}  // namespace tilewright
