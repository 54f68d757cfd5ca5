// The caller's options for an import.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_IMPORT_OPTIONS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_IMPORT_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "frontends/onnx/graph/load_model.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

struct ImportOptions {
  LoadLimits limits;

  // --dim=NAME=VALUE: extents of named dimensions. A dimension without a name
  // is called INPUT.AXIS, e.g. "x.0".
  std::map<std::string, int64_t> dims;
  // --bind=NAME=VALUE: inputs that become constants. VALUE is one number for
  // all elements, or as many as there are, separated by commas.
  std::map<std::string, std::string> bind_text;
  // --bind=NAME=FILE, read by the caller.
  std::map<std::string, HostTensor> bind_tensors;

  // Nodes whose inputs are known are evaluated if the result is no larger than
  // twice the inputs or this, and all such results together than the second.
  int64_t max_folded_bytes = int64_t{16} << 20;
  int64_t max_folded_total_bytes = int64_t{1} << 30;
  // Elements that folding may evaluate one by one, in all.
  int64_t max_folded_work = int64_t{1} << 22;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_IMPORT_OPTIONS_H_
