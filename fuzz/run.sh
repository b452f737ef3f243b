#!/usr/bin/env bash
# Fuzzes all targets in slices, the one with the least time first, and goes on where it was stopped. Needs a Rust toolchain and a C++ compiler, no cargo-fuzz.
#   fuzz/run.sh [MINUTES=10] [SECONDS=120]   so many minutes in all, in slices of so many seconds; what counts is the processor time of a slice
#   fuzz/run.sh report                       what was run so far, one line per target
# fuzz/progress.tsv keeps the slices, fuzz/corpus the inputs, fuzz/artifacts what was found. It ends with 1 at the first finding.
set -euo pipefail
cd "$(dirname "$0")"
progress=progress.tsv
[ -f $progress ] || printf 'target\tseconds\tinputs\tpeak_mb\tslowest_s\tdate\n' >$progress

if [ "${1:-}" = report ]; then
    awk -F'\t' 'NR > 1 { seconds[$1] += $2; inputs[$1] += $3; if ($4 > peak[$1]) peak[$1] = $4; if ($5 > slowest[$1]) slowest[$1] = $5; all += $2 }
        END { print "target\tminutes\tinputs\tpeak MB\tslowest s"
              for (target in seconds) printf "%s\t%.1f\t%d\t%d\t%d\n", target, seconds[target] / 60, inputs[target], peak[target], slowest[target] | "sort"
              close("sort"); printf "in all\t%.1f\n", all / 60 }' $progress
    exit
fi

minutes=${1:-10}
slice=${2:-120}
targets=$(sed -n 's/^path = "fuzz_targets\/\(.*\)\.rs"/\1/p' Cargo.toml)

# What cargo-fuzz does: counters at every branch, and checks that a release leaves out. Flags of a stable toolchain.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
coverage="$coverage -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing"
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="$coverage" cargo build --release --quiet --target "$host"
built=${CARGO_TARGET_DIR:-target}/$host/release

for target in $targets; do
    [ -d "corpus/$target" ] || { ./seed.sh; break; }
done
end=$(($(date +%s) + minutes * 60))
# Processor seconds of all slices so far, for on a busy machine a slice gets less than its time. Not in a subshell, which has none.
mkdir -p artifacts
cpu() {
    times >artifacts/times
    awk 'NR == 2 { for (n = 1; n <= 2; n++) { split($n, at, "m"); sum += at[1] * 60 + at[2] } printf "%d\n", sum }' artifacts/times
}
while [ "$(date +%s)" -lt $end ]; do
    # The target that has had the least time.
    target=$(for name in $targets; do
        awk -F'\t' -v name="$name" 'NR > 1 && $1 == name { sum += $2 } END { printf "%d %s\n", sum, name }' $progress
    done | sort -n | head -1 | cut -d' ' -f2)
    mkdir -p "corpus/$target" "artifacts/$target"
    log=artifacts/$target.log
    cpu >artifacts/start
    if ! "$built/$target" "corpus/$target" -artifact_prefix="artifacts/$target/" -max_total_time="$slice" -max_len=65536 -timeout=10 \
        -rss_limit_mb=2048 -print_final_stats=1 >"$log" 2>&1; then
        echo "$target found something: see $log and artifacts/$target" >&2
        exit 1
    fi
    cpu >artifacts/end
    stat() { sed -n "s/^stat::$1: *//p" "$log"; }
    printf '%s\t%d\t%d\t%d\t%d\t%s\n' "$target" $(($(cat artifacts/end) - $(cat artifacts/start))) "$(stat number_of_executed_units)" "$(stat peak_rss_mb)" \
        "$(stat slowest_unit_time_sec)" "$(date +%F)" >>$progress
done
exec ./run.sh report
