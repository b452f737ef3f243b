#!/usr/bin/env python3
"""What runs under several limits came to, and what a policy of one trigger predicts for them, beside `ctxsim validate --json`.

Usage: validate.py INDEX.tsv REPORT.json

REPORT.json is the answer of `ctxsim validate --index INDEX.tsv --arm context_limit --before 60000,80000,128000,200000 -p examples/policies/plugsuits.toml
--set as_logged=1 --set-by limit=context_limit --json`. Recorded figures are read from the logs: prompts of all calls, per task the mean over its runs,
summed over the tasks that both sides have. Predicted ones are simulated anew, on recorded prompts alone: where the prompt of a call reaches the
threshold, the next one is the first prompt (instructions and the user's message), a summary, the reply, and what came between. Where the reply behind
it still leaves the prompt above the threshold, nothing but the summary stays. Summaries in the background (limits of 40,000 and more) come two calls
later.
"""
import collections
import csv
import json
import math
import os
import sys

SUMMARY, BACKGROUND_CALLS = 630, 2


def prompts(path):
    """Prompt and output of each call."""
    return [(line["usage"]["prompt"], line["usage"]["output"]) for line in map(json.loads, open(path, encoding="utf-8")) if "usage" in line]


def limits(limit):
    """From which prompt on it waits for a summary, and from which on it makes one in the background."""
    percent = next(percent for most, percent in [(16_000, 45), (32_000, 50), (64_000, 55), (128_000, 60), (math.inf, 65)] if limit <= most)
    soft = max(1024, (limit - limit * 15 // 100) * 8 // 10)
    return math.ceil(min(limit * percent / 100, soft)), min(limit, max(512, soft * 75 // 100))


def simulate(calls, limit):
    """Prompts and compactions of a run under a limit."""
    threshold, background = limits(limit)
    first = calls[0][0]
    context, total, compactions, due = first, 0, 0, None
    for number, (prompt, output) in enumerate(calls):
        total += context
        grown = calls[number + 1][0] - prompt if number + 1 < len(calls) else output
        # Reasoning that is not sent back is no part of the next prompt.
        reply = max(0, min(output, grown))
        sent, context = context, context + reply
        if due is not None and number >= due[0]:
            context, due, compactions = context - due[1] + SUMMARY, None, compactions + 1
        elif due is None and sent >= threshold:
            # The user's message alone is nothing to summarise.
            if sent > first:
                context, compactions = first + SUMMARY + reply, compactions + 1
            if context >= threshold and reply:
                context, compactions = first + SUMMARY, compactions + 1
        elif due is None and sent >= background:
            due = (number + BACKGROUND_CALLS - 1, sent - first)
        # What a prompt lacks beside the one before is no growth.
        context += max(0, grown - reply)
    return total, compactions


def pooled(runs, tasks):
    """Sums of calls, prompts and compactions: per task the mean over its runs."""
    sums = [0.0, 0.0, 0.0]
    for task in tasks:
        for run in runs[task]:
            for place, value in enumerate(run):
                sums[place] += value / len(runs[task])
    return sums


def main(index, report):
    folder = os.path.dirname(index)
    rows = list(csv.DictReader(open(index, encoding="utf-8"), delimiter="\t"))
    report = json.load(open(report, encoding="utf-8"))
    arms = [arm["arm"] for arm in report["arms"]]
    runs = collections.defaultdict(lambda: collections.defaultdict(list))
    before = collections.defaultdict(list)
    for row in rows:
        calls = prompts(os.path.join(folder, row["file"]))
        sums = (len(calls), sum(prompt for prompt, _ in calls), int(row["compactions"]))
        if row["context_limit"] in arms:
            runs[row["context_limit"]][row["task"]].append(sums)
        else:
            before[row["task"]].append(calls)
    worst = 0.0
    for arm in report["arms"]:
        name = arm["arm"]
        tasks = sorted(set(before) & set(runs[name]))
        plain = {task: [(len(calls), sum(prompt for prompt, _ in calls), 0) for calls in before[task]] for task in tasks}
        policy = {task: [(len(calls), *simulate(calls, int(name))) for calls in before[task]] for task in tasks}
        for side, own in (("before", pooled(plain, tasks)), ("predicted", pooled(policy, tasks)), ("measured", pooled(runs[name], tasks))):
            figures = {
                "prompt_per_call": own[1] / own[0],
                "compactions_per_call": own[2] / own[0],
                "calls": own[0] / len(tasks),
                "prompt_tokens": own[1] / len(tasks),
            }
            for key, value in figures.items():
                found = next(measure for measure in arm["measures"] if measure["measure"] == key)[side]
                if found is None:
                    continue
                off = abs(found - value) / max(value, 1e-9) if value else abs(found)
                worst = max(worst, off) if side == "predicted" else worst
                allowed = 0.05 if side == "predicted" else 1e-4
                mark = "" if off <= allowed else "  DIFFERS"
                print(f"{name:>8} {side:<10} {key:<22} {value:>14.4f} {found:>14.4f}{mark}")
    print(f"predictions differ by {worst:.2%} at most")


if __name__ == "__main__":
    main(*sys.argv[1:])
