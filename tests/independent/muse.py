"""Independent count of Muse Code sessions: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

for path in sys.argv[1:]:
    calls = []
    for line in open(path, encoding="utf-8", errors="replace"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        event = (record.get("payload") or {}).get("event")
        if isinstance(event, dict) and event.get("kind") == "model_completed" and (event.get("usage") or {}).get("input_tokens", 0) > 0:
            calls.append((event["usage"]["input_tokens"], event["usage"]["output_tokens"]))
    print(path, len(calls), sum(p for p, _ in calls), sum(o for _, o in calls), max((p for p, _ in calls), default=0), sep="\t")
