// A rule of derivation: to which computes it applies, given what was decided of
// those behind them, and what it writes. Ansor's own are sketch_rules.h; a
// user's stand before them (generator: sketch_generator.h).
//
//   SketchRule keep;                        // gathers stay as they are
//   keep.name = "keep";
//   keep.condition = [](const SketchState& state, TensorId id) {
//     return IsGather(state.workload().graph, id)
//                ? SketchRule::Meets::kApplyAndSkipRest
//                : SketchRule::Meets::kSkip;
//   };
//   keep.write = [](Derivation& derivation, TensorId id, std::string_view) {
//     return derivation.Place(derivation.Block(id), false);
//   };
#ifndef TILEWRIGHT_SKETCH_DERIVATION_SKETCH_RULE_H_
#define TILEWRIGHT_SKETCH_DERIVATION_SKETCH_RULE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

class Derivation;
class SketchState;

struct SketchRule {
  enum class Meets : uint8_t {
    kSkip,
    kApply,  // and so may rules behind it
    kApplyAndSkipRest,
  };

  // Letters, digits and "-"; the option is called "NAME" or "NAME.VARIANT".
  std::string name;
  std::vector<std::string> variants = {};  // empty: just one
  std::function<Meets(const SketchState&, TensorId)> condition;
  // Writes instructions and asks for what else there is to decide. An error
  // refuses the sketch: it names what cannot be expressed.
  std::function<absl::Status(Derivation&, TensorId, std::string_view variant)>
      write;

  // The compute is gone: its readers are those of its readers.
  bool inlines = false;
  // Writes its compute's one elementwise reader with it.
  bool fuses = false;
  // A rule that fuses may write the compute instead.
  bool fusible = false;
  // Not what is preferred while another rule applies.
  bool alternative = false;
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DERIVATION_SKETCH_RULE_H_
