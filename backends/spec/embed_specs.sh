#!/bin/bash
# embed_specs.sh FILE...: prints C++ that holds the files as BuiltinSpecs().
set -euo pipefail
export LC_ALL=C
echo '#include "backends/spec/builtin_specs.h"'
echo 'namespace tilewright {'
echo 'absl::Span<const BuiltinSpec> BuiltinSpecs() {'
echo '  static constexpr BuiltinSpec kSpecs[] = {'
for file in $(printf '%s\n' "$@" | sort); do
  name="$(basename "$file" .textproto)"
  echo "{\"$name\", R\"TEXTPROTO("
  cat "$file"
  echo ')TEXTPROTO"},'
done
echo '  };'
echo '  return kSpecs;'
echo '}'
echo '}  // namespace tilewright'
