"""Independent count of Junie sessions: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

for path in sys.argv[1:]:
    calls = []
    for line in open(path, encoding="utf-8", errors="replace"):
        try:
            event = json.loads(line)["event"]["agentEvent"]
        except (ValueError, KeyError):
            continue
        for spent in event.get("modelUsage") or []:
            prompt = spent["inputTokens"] + spent["cacheInputTokens"] + spent["cacheCreateTokens"]
            if 0 < prompt < 1 << 40:
                calls.append((prompt, spent["outputTokens"]))
    print(path, len(calls), sum(p for p, _ in calls), sum(o for _, o in calls), max((p for p, _ in calls), default=0), sep="\t")
