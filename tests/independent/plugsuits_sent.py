#!/usr/bin/env python3
"""Which prompts the runs of plugsuits really sent and what their replies took, beside what their logs hold.

Usage: plugsuits_sent.py CLONE INDEX.tsv [FOLDER]

CLONE is a clone of minpeter/plugsuits. Before each request that agent sends the same prompt with one token of output (a probe), and compacts by the
provider's count of it. The prompts of the table's logs are those of the probes, their outputs what the request took in all less that prompt, and one at
least. `results/*-metrics.log` has both: `usage_probe`, and `turn_complete` with the prompt of the request itself and its total. By limit, over the five
tasks of the benchmark: tokens of probes and of requests per call, and outputs as logged and as the metrics have them. FOLDER gets the logs with prompts
and outputs of the requests, and their index, for `ctxsim validate` without `as_logged`.
"""
import collections
import csv
import json
import os
import shutil
import subprocess
import sys

TASKS = {"bug-trace", "explore", "multi-file-refactor", "single-edit", "write-heavy"}
MARK = "[compaction-metric] "


def requests(events):
    """Of each call its probe, and the prompt and total of its request; `None` where none was completed."""
    probe = None
    for event in events:
        if event["event"] == "usage_probe":
            if probe is not None:
                yield probe, None, None
            probe = event["promptTokens"]
        elif event["event"] == "turn_complete" and probe is not None:
            yield probe, event["estimatedTokens"], event["actualTokens"]
            probe = None
    if probe is not None:
        yield probe, None, None


def main(clone, index, folder=None):
    sums = collections.defaultdict(lambda: [0] * 6)
    source = os.path.dirname(index)
    if folder:
        os.makedirs(folder, exist_ok=True)
        shutil.copy(index, folder)
    for row in csv.DictReader(open(index, encoding="utf-8"), delimiter="\t"):
        lines = [json.loads(line) for line in open(os.path.join(source, row["file"]), encoding="utf-8")]
        usages = [line["usage"] for line in lines if line.get("role") == "assistant" and line.get("usage")]
        name = row["path"].replace("-trajectory.jsonl", "-metrics.log")
        shown = subprocess.run(["git", "-C", clone, "show", f"{row['commit']}:results/{name}"], capture_output=True, text=True)
        if shown.returncode == 0:
            events = [json.loads(line[len(MARK):]) for line in shown.stdout.splitlines() if line.startswith(MARK)]
            own = sums[int(row["context_limit"])]
            calls = list(requests(events))
            assert len(calls) == len(usages), row["file"]
            for usage, (probe, prompt, total) in zip(usages, calls):
                assert usage["prompt"] == probe and (total is None or usage["output"] == max(1, total - probe)), row["file"]
                if row["task"] in TASKS:
                    own[0] += 1
                    own[1] += probe
                    if total is not None:
                        own[2] += 1
                        own[3] += prompt
                        own[4] += usage["output"]
                        own[5] += total - prompt
                if total is not None:
                    usage.update(prompt=prompt, output=total - prompt)
        else:
            assert row["task"] not in TASKS, row["file"]
        if folder:
            with open(os.path.join(folder, row["file"]), "w", encoding="utf-8") as out:
                out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    for limit, (probes, probed, requested, sent, logged, replied) in sorted(sums.items()):
        print(
            f"{limit:>7}  {probed / probes:>8.0f} a probe  {sent / requested:>8.0f} a request"
            f"  {logged / requested:>6.0f} output as logged  {replied / requested:>6.0f} of replies"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
