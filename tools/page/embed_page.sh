#!/bin/bash
# embed_page.sh PAGE HEAD STYLE SCRIPT: prints a C++ header that defines kPage
# as the page, for FillPage. Its line "@HEAD@ TITLE" becomes HEAD with that
# title and the shared style; "@SCRIPT@" the shared script.
set -euo pipefail
title=$(sed -n 's/^@HEAD@ //p' "$1")
echo 'namespace tilewright::tools {'
echo -n 'constexpr char kPage[] = R"PAGE('
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
echo '}  // namespace tilewright::tools'
