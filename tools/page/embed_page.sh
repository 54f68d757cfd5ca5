#!/bin/bash
# embed_page.sh PAGE HEAD STYLE SCRIPT HEADER FUNCTION: prints C++ that defines
# FUNCTION(), declared in HEADER, as the page. Its line "@HEAD@ TITLE" becomes
# HEAD with that title and the shared style; "@SCRIPT@" the shared script.
set -euo pipefail
title=$(sed -n 's/^@HEAD@ //p' "$1")
echo "#include \"$5\""
echo 'namespace tilewright::tools {'
echo "absl::string_view $6() {"
echo '  static constexpr char kPage[] = R"PAGE('
sed -e "/^@HEAD@ /{
r $2
d
}" "$1" | sed -e "s|@TITLE@|$title|" -e "/^@STYLE@\$/{
r $3
d
}" -e "/^@SCRIPT@\$/{
r $4
d
}"
echo ')PAGE";'
echo '  return absl::string_view(kPage + 1, sizeof(kPage) - 2);'
echo '}'
echo '}  // namespace tilewright::tools'
