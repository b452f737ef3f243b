"""Independent count of Junie sessions: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import sys

from lines import records, report

for path in sys.argv[1:]:
    calls = []
    for record in records(path):
        for spent in record.get("event", {}).get("agentEvent", {}).get("modelUsage") or []:
            prompt = spent["inputTokens"] + spent["cacheInputTokens"] + spent["cacheCreateTokens"]
            if 0 < prompt < 1 << 40:
                calls.append((prompt, spent["outputTokens"]))
    report(path, calls)
