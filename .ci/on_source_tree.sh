#!/bin/bash
# Runs a script on the source tree that the given WORKSPACE file belongs to.
set -euo pipefail
exec python3 "$1" "$(dirname "$(readlink -f "$2")")"
