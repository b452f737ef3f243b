#!/usr/bin/env bash
# Writes what every command prints into a folder, so that two versions of the program can be compared: diff -r BEFORE AFTER
#   tests/outputs.sh PROGRAM FOLDER [LOGS...]     without LOGS: transcripts/, and $CTXSIM_SHARED/transcripts where it stands
set -euo pipefail
program=$(realpath "$1")
out=$2
shift 2
cd "$(dirname "$0")/.."
shared=${CTXSIM_SHARED:-../shared}/transcripts
[ $# -gt 0 ] || { set -- transcripts/; [ ! -d "$shared" ] || set -- "$@" "$shared"; }
mkdir -p "$out"
out=$(realpath "$out")
export CTXSIM_CONFIG='' COLUMNS=120 NO_COLOR=1 SOURCE_DATE_EPOCH=0

# keep NAME ARGUMENT...: stdout, stderr and the exit code, with the folder of this run and the program's path taken out.
keep() {
    local name=$1 code=0
    shift
    "$program" "$@" >"$out/$name.out" 2>"$out/$name.err" || code=$?
    echo "exit code $code" >>"$out/$name.err"
}
# forms NAME ARGUMENT...: the same in all four forms.
forms() {
    local name=$1
    shift
    keep "$name.text" "$@"
    keep "$name.json" "$@" --json
    keep "$name.csv" "$@" --csv
    keep "$name.md" "$@" --markdown
}

n=0
for logs in "$@"; do
    n=$((n + 1))
    forms "$n-inspect" inspect "$logs"
    forms "$n-replay" replay "$logs"
    forms "$n-replay-all" replay "$logs" --policy none --policy codex --policy opencode --policy pi --policy baseagent --policy picoclaw --policy mycoder
    for by in session tool rule region reference; do
        forms "$n-replay-$by" replay "$logs" --policy opencode --policy codex --by $by
    done
    forms "$n-cost-modelled" cost "$logs" --policy opencode --cache modelled
    forms "$n-replay-refetch" replay "$logs" --policy opencode --refetch
    forms "$n-cost" cost "$logs" --policy opencode --policy codex
    forms "$n-cache" cache "$logs"
    forms "$n-idle" idle "$logs"
    forms "$n-drift" drift "$logs"
    forms "$n-backtest" backtest "$logs"
    forms "$n-backtest-free" backtest "$logs" --free
    forms "$n-diff" diff "$logs" --policy codex --policy opencode
    forms "$n-curve" curve "$logs"
    forms "$n-sweep" sweep "$logs" --policy opencode --vary prune_protect=10k..80k:10k --vary prune_minimum=10k,20k
    forms "$n-tune" tune "$logs" --policy baseagent
    forms "$n-explain" explain "$("$program" replay "$logs" --policy opencode --by session --json --quiet 2>/dev/null | grep -o '"session": *"[^"]*"' | head -1 | sed 's/.*: *"//; s/"$//')" --policy opencode "$logs"
    for kind in $("$program" chart list | awk '/^[a-z]/ && NR > 2 { print $1 }'); do
        options=(--policy opencode --policy codex)
        case $kind in
            overflows | stages) options=(--policy opencode) ;;
            reuse) options=() ;;
            sweep) options=(--policy opencode --vary prune_protect=10k..80k:10k) ;;
            sweep-map) options=(--policy opencode --vary prune_protect=10k..80k:10k --vary prune_minimum=10k,20k) ;;
        esac
        keep "$n-chart-$kind" chart "$kind" "$logs" "${options[@]}" -o "$out/$n-chart-$kind.svg" --force
    done
    keep "$n-report" report "$logs" -o "$out/$n-report.html" --force
    keep "$n-trace" trace build "$logs" -o "$out/$n.ctxtrace" --force
    forms "$n-trace-replay" replay "$out/$n.ctxtrace" --policy opencode
    keep "$n-convert" convert "$logs" --redact -o "$out/$n-convert.jsonl" --force
done
for policy in $("$program" policy list | awk '/^[a-z]/ && NR > 2 { print $1 }'); do
    keep "policy-show-$policy" policy show "$policy"
    keep "policy-check-$policy" policy check "$policy"
done
keep policy-list policy list
keep policy-diff policy diff codex opencode
keep formats formats
keep models models
keep help help
keep man man
for command in $("$program" --help | sed -n '/^Commands:/,/^Options:/s/^  \([a-z]*\) .*/\1/p'); do
    keep "help-$command" help "$command"
done
# The place of this run stands in what was asked for.
find "$out" -name '*.err' -exec sed -i "s|$out|OUT|g; s|$program|PROGRAM|g" {} +
