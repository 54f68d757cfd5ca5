#!/bin/bash
# Runs layers_test.py on the source tree that the given WORKSPACE file belongs to.
set -euo pipefail
exec python3 .ci/layers_test.py "$(dirname "$(readlink -f "$1")")"
