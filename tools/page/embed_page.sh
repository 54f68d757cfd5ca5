#!/bin/bash
# embed_page.sh PAGE STYLE SCRIPT HEADER FUNCTION: prints C++ that defines
# FUNCTION(), declared in HEADER, as the page with the shared style and script
# where it says @STYLE@ and @SCRIPT@.
set -euo pipefail
echo "#include \"$4\""
echo 'namespace tilewright::tools {'
echo "absl::string_view $5() {"
echo '  static constexpr char kPage[] = R"PAGE('
sed -e "/^@STYLE@\$/{
r $2
d
}" -e "/^@SCRIPT@\$/{
r $3
d
}" "$1"
echo ')PAGE";'
echo '  return absl::string_view(kPage + 1, sizeof(kPage) - 2);'
echo '}'
echo '}  // namespace tilewright::tools'
