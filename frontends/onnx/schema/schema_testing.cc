#include "frontends/onnx/schema/schema_testing.h"

#include <algorithm>

#include "frontends/onnx/ops/op_table.h"
#include "gtest/gtest.h"

namespace tilewright {

void ForEachSchema(
    const std::function<void(const std::string&, int, const OpDef&,
                             const onnx::OpSchema&)>& check) {
  const OpTable table;
  int compared = 0;
  const int last =
      std::min<int>(onnx::OpSchemaRegistry::DomainToVersionRange::Instance()
                        .Map()
                        .at("")
                        .second,
                    kMaxOpset);
  for (const std::string& name : table.names()) {
    for (int opset = kMinOpset; opset <= last; ++opset) {
      const OpDef* def = table.Find("", name, opset);
      const onnx::OpSchema* schema =
          onnx::OpSchemaRegistry::Schema(name, opset, "");
      if (def == nullptr || schema == nullptr || schema->Deprecated()) continue;
      ++compared;
      SCOPED_TRACE(name + " in opset " + std::to_string(opset));
      check(name, opset, *def, *schema);
    }
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace tilewright
