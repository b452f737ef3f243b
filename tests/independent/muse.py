"""Independent count of Muse Code sessions: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import sys

from lines import records, report

for path in sys.argv[1:]:
    calls = []
    for record in records(path):
        event = (record.get("payload") or {}).get("event")
        if isinstance(event, dict) and event.get("kind") == "model_completed" and (event.get("usage") or {}).get("input_tokens", 0) > 0:
            calls.append((event["usage"]["input_tokens"], event["usage"]["output_tokens"]))
    report(path, calls)
