#!/bin/bash
# using_test.sh PAGE TILEWRIGHT LIBRARY HEADER MODEL DATA: runs the examples of
# docs/using.md, in order, in a folder of its own: what is in ```c and ```c++
# becomes the file that its first line names, what is in ```sh is run. A command
# that fails ends the test.
set -eu
page="$PWD/$1" data="$PWD/$6"
work="${TEST_TMPDIR:?}/using"
export TILEWRIGHT="$work/tilewright"
mkdir -p "$TILEWRIGHT" "$work/here"
cp "$2" "$3" "$4" "$TILEWRIGHT"
cp "$5" "$work/here/model.onnx"
cp -rL "$data" "$work/here/test_data_set_0"
cd "$work/here"

command -v cc >/dev/null && command -v c++ >/dev/null || {
  echo "SKIPPED: no C or C++ compiler is called cc and c++"
  exit 0
}

awk '
  /^```$/ { if (kind == "sh") commands = commands text
            else if (kind != "") printf "%s", text > name
            kind = ""; next }
  /^```/  { kind = substr($0, 4); text = ""; name = ""; next }
  kind != "" {
    if (kind != "sh" && name == "") { name = $2; sub(/:$/, "", name) }
    text = text $0 "\n"
  }
  END { printf "%s", commands > "commands.sh" }
' "$page"

[ "$(grep -c . commands.sh)" -ge 12 ] || { echo "the page has lost its commands"; exit 1; }
bash -euxo pipefail commands.sh
