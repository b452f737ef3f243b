#!/usr/bin/env bash
# ctxsim beside what people use otherwise, on the same files in one run: the script that a user would write, a log reader, `cat`.
#
#     CTXSIM_SHARED=../shared benches/versus.sh [MEGABYTES]
#
# Needs Python 3 with its package index in reach for tiktoken; a log reader is measured where npm can be asked for it. What is missing is
# named and left out. Every figure is a ratio within this run; rates say more about the machine than about the program.
set -euo pipefail
cd "$(dirname "$0")/.."

shared="${CTXSIM_SHARED:-../shared}"
if [ ! -d "$shared/transcripts/claude-code" ]; then
    echo "skipped: $shared/transcripts/claude-code is no folder (set CTXSIM_SHARED)"
    exit 0
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cargo build --release --quiet
target="${CARGO_TARGET_DIR:-target}"

# The script counts with tiktoken, whose vocabulary is taken from the crate that ships it: nothing is downloaded for it.
python=python3
if ! python3 -c 'import tiktoken' 2>/dev/null; then
    python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet tiktoken && python="$work/venv/bin/python" ||
        echo "left out: tiktoken for Python cannot be installed"
fi
vocabulary="$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -path '*tiktoken-rs-*/assets/o200k_base.tiktoken' 2>/dev/null | sort | tail -1)"
mkdir "$work/vocabulary"
# The name under which tiktoken looks for the file: the SHA-1 of the address that it would be downloaded from.
cp "$vocabulary" "$work/vocabulary/fb374d419588a4632f3f557e76b4b70aebbca790"

reader=""
# Its program is a package of its own for each system; it is started by itself, without Node in front of it.
native="$work/reader/node_modules/@ccusage/ccusage-linux-x64/bin/ccusage"
if npm install --silent --no-fund --no-audit --prefix "$work/reader" @ccusage/ccusage-linux-x64 >/dev/null 2>&1 && chmod +x "$native" &&
    "$native" --version >/dev/null 2>&1; then
    reader="$native"
else
    echo "left out: ccusage cannot be installed from npm"
fi

TIKTOKEN_CACHE_DIR="$work/vocabulary" CCUSAGE="$reader" \
    "$python" benches/versus/measure.py "$target/release/ctxsim" "$shared/transcripts/claude-code" "$work" "${1:-200}"
