#!/bin/bash
# Runs the check that a script of .ci/ has of itself.
set -euo pipefail
exec python3 "$1" --self
