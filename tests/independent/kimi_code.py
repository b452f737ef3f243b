"""Independent count of Kimi Code wires: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV).

Every `usage.record` is one request; a wire that ends between a step and its record lacks the last."""
import json
import sys

for path in sys.argv[1:]:
    calls, waiting = [], None
    for line in open(path, encoding="utf-8", errors="replace"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        event = record.get("event") or {}
        if event.get("type") == "step.end" and event.get("usage"):
            waiting = event["usage"]
        if record.get("type") == "usage.record":
            calls.append(record["usage"])
            waiting = None
    calls += [waiting] if waiting else []
    prompts = [call["inputOther"] + call["inputCacheRead"] + call["inputCacheCreation"] for call in calls]
    print(path, len(calls), sum(prompts), sum(call["output"] for call in calls), max(prompts, default=0), sep="\t")
