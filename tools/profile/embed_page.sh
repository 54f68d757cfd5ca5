#!/bin/bash
# embed_page.sh FILE: prints C++ that holds the file as PageTemplate().
set -euo pipefail
echo '#include "tools/profile/page_template.h"'
echo 'namespace tilewright::tools {'
echo 'absl::string_view PageTemplate() {'
echo '  static constexpr char kPage[] = R"PAGE('
cat "$1"
echo ')PAGE";'
echo '  return absl::string_view(kPage + 1, sizeof(kPage) - 2);'
echo '}'
echo '}  // namespace tilewright::tools'
