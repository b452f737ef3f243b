"""Counts the calls of LangSmith runs, straight from the raw JSON: a list, `{"runs": [...]}`, or a run a line.

Prints one tab-separated line for each file: name, calls with usage, sum of prompt tokens, sum of output tokens, largest prompt.
An llm run within another one is the same request, told once more by a wrapper: the innermost one counts.
"""

import json
import sys

from lines import records, report


def runs(path):
    try:
        with open(path, encoding="utf-8") as export:
            found = json.load(export)
        return found.get("runs", [found]) if isinstance(found, dict) else found
    except ValueError:
        return list(records(path))


def main():
    for path in sys.argv[1:]:
        found = [run for run in runs(path) if run.get("run_type") == "llm" and not run.get("error")]
        around = {run.get("parent_run_id") for run in found}
        innermost = [run for run in found if run["id"] not in around]
        calls = [(run.get("prompt_tokens") or 0, run.get("completion_tokens") or 0) for run in innermost]
        report(path, [call for call in calls if call[0]])


main()
