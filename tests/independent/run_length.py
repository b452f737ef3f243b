#!/usr/bin/env python3
"""How much longer runs got under another policy: catalog/run_length.toml, from complexity-trap-costs.csv and plugsuits/index.tsv.

Usage: run_length.py complexity-trap-costs.csv plugsuits/index.tsv > catalog/run_length.toml

The table (The Complexity Trap, auxiliary-data/experiment_instance_costs_combined.csv) has a row per experiment and task, with the number of turns.
Runs of one task by the same model in the same scaffold, under a policy and without one, make a pair. A ratio is the sum of turns with over the sum
without, over the pairs; its interval of 90 % follows from the spread of the pairs (the delta method), by Student's distribution with one degree less than
there are pairs. Cells with fewer than 100 pairs are left out.

The index of plugsuits has a row per run: five tasks under limits of the context. Runs at 60,000 tokens and more never compacted: their mean makes a pair
with the mean of the runs of the same task under a limit at which they did.
"""
import collections
import csv
import math
import re
import statistics
import sys

SOURCE = "The Complexity Trap, auxiliary-data/experiment_instance_costs_combined.csv (MIT)"
PLUGSUITS = "plugsuits, results/ at a09f6b0e5c03 and 14 older commits (MIT)"
TASKS = ("bug-trace", "explore", "multi-file-refactor", "single-edit", "write-heavy")
UNCUT = 60_000
FEWEST = 100
LEVEL = 0.9


def model(experiment):
    name = re.match(r"(?:local-)?(gemini[-_]2\.5[-_]flash(?:_thinking)?|qwen3-coder_480b|qwen3-32b(?:_thinking)?)", experiment, re.I).group(1)
    return name.lower().replace("_", "-")


def setting(experiment, strategy):
    if strategy == "LLM-Summary":
        head, tail = re.search(r"N_(\d+)_M_(\d+)", experiment).groups()
        return f"the oldest {head} of {int(head) + int(tail)} turns become a summary"
    masked = re.search(r"M[-_](\d+)", experiment)
    return f"results of the newest {masked.group(1) if masked else 10} turns stay"


def student(degrees):
    """How many standard errors LEVEL lies within, by Student's distribution: its density summed by Simpson's rule, and halved into place."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    density = lambda at: scale * (1 + at * at / degrees) ** (-(degrees + 1) / 2)

    def within(end, steps=400):
        step = end / steps
        return 2 * step / 3 * sum((1 if place in (0, steps) else 4 if place % 2 else 2) * density(place * step) for place in range(steps + 1))

    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) < LEVEL else (low, middle)
    return (low + high) / 2


def ratio(pairs):
    """Sum over sum, with its interval."""
    with_policy, without = (sum(pair[side] for pair in pairs) for side in (0, 1))
    found, mean, count = with_policy / without, without / len(pairs), len(pairs)
    spread = sum((one - found * other) ** 2 for one, other in pairs) / (count - 1)
    reach = student(count - 1) * math.sqrt(spread / count) / mean
    return found, found - reach, found + reach


def limited(path):
    """Cells of plugsuits, the tightest limit first."""
    calls = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in csv.DictReader(open(path, encoding="utf-8"), delimiter="\t"):
        if row["task"] in TASKS:
            limit = int(row["context_limit"])
            calls[None if limit >= UNCUT else limit][row["task"]].append(int(row["calls"]))
    free = calls.pop(None)
    for limit, tasks in sorted(calls.items()):
        pairs = [(statistics.mean(counts), statistics.mean(free[task])) for task, counts in tasks.items() if task in free]
        if len(pairs) == len(TASKS):
            yield "summary", "plugsuits", "MiniMax-M2.5", f"the agent compacts at a limit of {limit} tokens", ratio(pairs), len(pairs), PLUGSUITS, "2026-03"


def main(path, index):
    turns = collections.defaultdict(dict)
    kinds = {}
    for row in csv.DictReader(open(path, encoding="utf-8")):
        if row["turn_count"] and float(row["turn_count"]) > 0:
            turns[row["experiment"]][row["instance_id"]] = float(row["turn_count"])
        kinds[row["experiment"]] = (row["scaffold"], row["strategy"])
    # Of several experiments without a policy the one over all tasks counts.
    raw = {}
    for experiment, (scaffold, strategy) in sorted(kinds.items()):
        if strategy == "Raw Agent":
            known = raw.setdefault((scaffold, model(experiment)), experiment)
            if len(turns[experiment]) > len(turns[known]):
                raw[(scaffold, model(experiment))] = experiment
    print("# How much longer runs got under another policy, of recorded experiments: turns with the policy over turns without, over pairs of runs of one task.")
    print("# Made by tests/independent/run_length.py; `low` and `high` hold 90 of 100. Totals of a replay hold if runs stay as long: these say how far they may be off.")
    cells = []
    for experiment, (scaffold, strategy) in kinds.items():
        if strategy == "Raw Agent":
            continue
        without = turns[raw[(scaffold, model(experiment))]]
        pairs = [(count, without[task]) for task, count in turns[experiment].items() if task in without]
        if len(pairs) >= FEWEST:
            kind = "summary" if strategy == "LLM-Summary" else "masking"
            name = {"openhands": "OpenHands", "sweagent": "SWE-agent"}[scaffold]
            cells.append((kind, name, model(experiment), setting(experiment, strategy), ratio(pairs), len(pairs), SOURCE, "2025-08"))
    for kind, name, who, how, (found, low, high), count, source, date in [*sorted(cells), *limited(index)]:
        print(f'\n[[scenario]]\nstrategy = "{kind}"\nscaffold = "{name}"\nmodel = "{who}"\nsetting = "{how}"')
        print(f"ratio = {found:.3f}\nlow = {low:.3f}\nhigh = {high:.3f}\npairs = {count}")
        print(f'source = "{source}"\ndate = "{date}"')


if __name__ == "__main__":
    main(*sys.argv[1:])
