#!/usr/bin/env bash
# Fuzzes all targets in slices, the one with the least time first, and goes on where it was stopped. Needs a Rust toolchain and a C++ compiler, no cargo-fuzz.
#   fuzz/run.sh [MINUTES=10] [SECONDS=120] [JOBS=1]   so many minutes in all, in slices of so many seconds, so many at a time
#   fuzz/run.sh report                                what was run so far, one line per target
# An input may take 10 seconds by the clock, or CTXSIM_FUZZ_TIMEOUT where other work takes the processor.
# What counts is the processor time of a slice. fuzz/progress.tsv keeps a line a target, fuzz/corpus the inputs, fuzz/artifacts what was found.
# It ends with 1 at the first finding.
set -euo pipefail
cd "$(dirname "$0")"
progress=progress.tsv
[ -f $progress ] || printf 'target\tseconds\tinputs\tpeak_mb\tslowest_s\n' >$progress

if [ "${1:-}" = report ]; then
    awk -F'\t' 'NR == 1 { print "target\tminutes\tinputs\tpeak MB\tslowest s"; next }
        { printf "%s\t%.1f\t%d\t%d\t%d\n", $1, $2 / 60, $3, $4, $5; all += $2; inputs += $3 }
        END { printf "in all\t%.1f\t%d\n", all / 60, inputs }' $progress
    exit
fi

minutes=${1:-10}
slice=${2:-120}
jobs=${3:-1}
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

# The target that has had the least time and that no other job has at this moment.
least() {
    for name in $targets; do
        [ -e "artifacts/$name.taken" ] || awk -F'\t' -v name="$name" 'NR > 1 && $1 == name { sum = $2 } END { printf "%d %s\n", sum, name }' $progress
    done | sort -n | head -1 | cut -d' ' -f2
}
# count TARGET SECONDS INPUTS PEAK SLOWEST: adds a slice to the line of its target.
count() {
    awk -F'\t' -v OFS='\t' -v target="$1" -v seconds="$2" -v inputs="$3" -v peak="$4" -v slowest="$5" '
        function more(a, b) { return a > b ? a : b }
        NR == 1 { print; next }
        $1 == target { $2 += seconds; $3 += inputs; $4 = more($4 + 0, peak + 0); $5 = more($5 + 0, slowest + 0); known = 1 }
        { print | "sort" }
        END { if (!known) print target, seconds, inputs, peak, slowest | "sort" }' $progress >artifacts/progress
    mv artifacts/progress $progress
}
# run TARGET: a slice. Counts its processor seconds, for on a busy machine it gets less than its time.
run() {
    local target=$1 log=artifacts/$1.log
    mkdir -p "corpus/$target" "artifacts/$target"
    if ! "$built/$target" "corpus/$target" -artifact_prefix="artifacts/$target/" -max_total_time="$slice" -max_len=65536 -timeout="${CTXSIM_FUZZ_TIMEOUT:-10}" \
        -rss_limit_mb=2048 -print_final_stats=1 >"$log" 2>&1; then
        echo "$target found something: see $log and artifacts/$target" >&2
        return 1
    fi
    # This process and what it waited for; nothing else runs in it.
    times >"artifacts/$target.times"
    local spent
    spent=$(awk 'NR == 2 { for (n = 1; n <= 2; n++) { split($n, at, "m"); sum += at[1] * 60 + at[2] } printf "%d\n", sum }' "artifacts/$target.times")
    stat() { sed -n "s/^stat::$1: *//p" "$log"; }
    exec 9>artifacts/lock && flock 9
    count "$target" "$spent" "$(stat number_of_executed_units)" "$(stat peak_rss_mb)" "$(stat slowest_unit_time_sec)"
}
mkdir -p artifacts
rm -f artifacts/*.taken
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
while [ "$(date +%s)" -lt $end ]; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
        wait -n
    done
    target=$(least)
    touch "artifacts/$target.taken"
    (trap 'rm -f "artifacts/$target.taken"' EXIT && run "$target") &
done
for job in $(jobs -p); do
    wait "$job"
done
exec ./run.sh report
