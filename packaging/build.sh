#!/usr/bin/env bash
# packaging/build.sh BINARY OUT [TRIPLE]: makes every package of one built program: archives, npm, a wheel, and their sums.
# Needs Python 3.11 and nothing from a registry. The platform is that of this machine where no triple is named.
set -euo pipefail
exec "${PYTHON:-python3}" "$(dirname "$0")/build.py" "$@"
