#!/bin/bash
# embed_text.sh NAMESPACE FILE...: prints a C++ header that holds each file
# some_name.h as the string constant kSomeName.
set -euo pipefail
export LC_ALL=C
echo "namespace $1 {"
shift
for file in "$@"; do
  name="$(basename "$file" .h | sed -E 's/(^|_)([a-z])/\U\2/g')"
  echo "inline constexpr char k$name[] = R\"TEXT("
  cat "$file"
  echo ')TEXT";'
done
echo '}'
