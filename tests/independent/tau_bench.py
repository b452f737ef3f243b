"""Independent count of tau-bench runs, which record no usage: file, calls with usage, sums, largest prompt (TSV)."""
import json
import sys

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        runs = json.load(file)
    runs = runs if isinstance(runs, list) else [runs]
    assert not any(message.get("usage") for run in runs for message in run.get("traj") or run.get("messages") or [])
    print(path, 0, 0, 0, 0, sep="\t")
