"""Independent count of Kimi Code wires: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV).

Every `usage.record` is one request, before or behind the end of its step; a wire that ends between a step and its record lacks the last."""
import sys

from lines import records, report

for path in sys.argv[1:]:
    calls, waiting, told = [], None, False
    for record in records(path):
        event = record.get("event") or {}
        if event.get("type") == "step.begin":
            told = False
        if event.get("type") == "step.end" and event.get("usage"):
            waiting = None if told else event["usage"]
        if record.get("type") == "usage.record":
            calls.append(record["usage"])
            waiting, told = None, True
    calls += [waiting] if waiting else []
    report(path, [(call["inputOther"] + call["inputCacheRead"] + call["inputCacheCreation"], call["output"]) for call in calls])
