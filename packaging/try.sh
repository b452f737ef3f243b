#!/usr/bin/env bash
# packaging/try.sh OUT: tries what build.sh made for this machine's platform, each package in an empty folder with an empty environment, and without any registry.
set -euo pipefail
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
node=$(dirname "$(command -v node)")
# Not a launcher of several versions that asks the environment which one is meant.
python=$(python3 -c 'import sys; print(sys.executable)')
tmp=$(mktemp -d)
registry=
trap '[ -z "$registry" ] || kill "$registry"; rm -rf "$tmp"' EXIT

# in_empty NAME COMMAND...: runs the command in an empty folder, with a search path, a home in that folder and nothing else; keeps what it prints.
in_empty() {
    local name=$1 start=$SECONDS
    shift
    mkdir -p "$tmp/$name/home"
    (cd "$tmp/$name" && env -i PATH="$node:/usr/bin:/bin" HOME="$tmp/$name/home" "$@") >"$tmp/$name.said" || {
        echo "$name failed: $*" >&2
        exit 1
    }
    echo "$name: $((SECONDS - start)) s, $(du -sm "$tmp/$name" | cut -f1) MB"
}
# same NAME: what the package's demo printed is what that of the archive printed.
same() {
    cmp "$tmp/archive.said" "$tmp/$1.said"
}

(cd "$out" && sha256sum --check --quiet SHA256SUMS-*)
# Nothing listens there: whatever asks a registry fails.
nowhere=http://127.0.0.1:9/

archive=$(ls "$out"/*.tar.gz)
in_empty archive sh -c "tar xzf '$archive' && ./ctxsim-*/ctxsim demo"
grep -q 'demo' "$tmp/archive.said"
in_empty zip "$python" -c "
import glob, subprocess, sys, zipfile
zipfile.ZipFile(sys.argv[1]).extractall()
program = glob.glob('ctxsim-*/ctxsim*')[0]
# The module does not restore modes, which the archive has; every unpacker does.
__import__('os').chmod(program, 0o755)
sys.exit(subprocess.run([program, 'demo']).returncode)" "$(ls "$out"/*.zip)"
same zip

# One file with launcher and program.
in_empty npx env npm_config_registry=$nowhere npx --yes --package "$(ls "$out"/ctxsim-npm-with-*.tgz)" ctxsim demo
same npx
# As it is published: the launcher, which takes the platform's package from a registry, here one on this machine that lacks all other platforms.
node "$here/npm/registry.js" "$out" >"$tmp/address" &
registry=$!
until [ -s "$tmp/address" ]; do sleep 0.1; done
in_empty published env npm_config_registry="$(cat "$tmp/address")" npx --yes ctxsim demo
same published
# Without the platform's package the launcher says so.
mkdir "$tmp/alone" && tar xzf "$out"/ctxsim-npm-[0-9]*.tgz -C "$tmp/alone"
if (cd "$tmp/alone" && node package/bin/ctxsim.js demo) 2>"$tmp/alone.said"; then exit 1; fi
grep -q 'there is no package @ctxsim/' "$tmp/alone.said"
# It passes on how the program ended.
for arguments in "replay nothing-here" "replay --no-such-flag"; do
    code=0 && (cd "$tmp/npx" && "$tmp"/archive/ctxsim-*/ctxsim $arguments >/dev/null 2>&1) || code=$?
    launched=0 && (CTXSIM_PROGRAM=$(ls "$tmp"/archive/ctxsim-*/ctxsim) node "$here/npm/ctxsim.js" $arguments >/dev/null 2>&1) || launched=$?
    [ "$code" != 0 ] && [ "$code" = "$launched" ] || { echo "$arguments: $code, launched $launched" >&2; exit 1; }
done

in_empty pip sh -c "'$python' -m venv env >/dev/null && env/bin/pip install --quiet --no-index --disable-pip-version-check '$(ls "$out"/*.whl)' && env/bin/ctxsim demo"
same pip
# What the wheel says about itself holds: pip finds all its files, and the package finds the program.
(cd "$tmp/pip" && env -i PATH=/usr/bin:/bin HOME="$tmp/pip/home" env/bin/python -c "
import ctxsim, importlib.metadata as m
assert all(f.locate().exists() for f in m.files('ctxsim')), 'a file is missing'
assert ctxsim.program().endswith('env/bin/ctxsim'), ctxsim.program()")
ls "$tmp"/pip/env/share/man/man1/ctxsim.1 "$tmp"/archive/ctxsim-*/completions/_ctxsim >/dev/null
echo "all packages work"
