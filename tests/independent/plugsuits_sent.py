#!/usr/bin/env python3
"""Which prompts the runs of plugsuits really sent, beside those that their logs hold.

Usage: plugsuits_sent.py CLONE INDEX.tsv

CLONE is a clone of minpeter/plugsuits. Before each request that agent sends the same prompt with one token of output (a probe), and compacts by the
provider's count of it. The prompts of the table's logs are those of the probes. `results/*-metrics.log` has both: `usage_probe`, and `turn_complete`
with the prompt of the request itself. By limit, over the five tasks of the benchmark: tokens of probes and of requests per call.
"""
import collections
import csv
import json
import subprocess
import sys

TASKS = {"bug-trace", "explore", "multi-file-refactor", "single-edit", "write-heavy"}
MARK = "[compaction-metric] "


def main(clone, index):
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for row in csv.DictReader(open(index, encoding="utf-8"), delimiter="\t"):
        if row["task"] not in TASKS:
            continue
        name = row["path"].replace("-trajectory.jsonl", "-metrics.log")
        shown = subprocess.run(["git", "-C", clone, "show", f"{row['commit']}:results/{name}"], capture_output=True, text=True, check=True)
        events = [json.loads(line[len(MARK):]) for line in shown.stdout.splitlines() if line.startswith(MARK)]
        probes = [event["promptTokens"] for event in events if event["event"] == "usage_probe"]
        sent = [event["estimatedTokens"] for event in events if event["event"] == "turn_complete"]
        assert sum(probes) == int(row["prompt_tokens"]), row["file"]
        own = sums[int(row["context_limit"])]
        own[0] += len(probes)
        own[1] += sum(probes)
        own[2] += len(sent)
        own[3] += sum(sent)
    for limit, (probes, probed, requests, sent) in sorted(sums.items()):
        print(f"{limit:>7}  {probed / probes:>8.0f} a probe  {sent / requests:>8.0f} a request")


if __name__ == "__main__":
    main(*sys.argv[1:])
