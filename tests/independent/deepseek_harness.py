"""Independent count of DeepSeek Harness sessions: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

for path in sys.argv[1:]:
    calls = []
    for line in open(path, encoding="utf-8", errors="replace"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        # Chunks carry the same usage once more.
        if event["type"] in ("assistant/message", "compact/summary"):
            usage = event["data"].get("usage") or {}
            numbers = [usage.get(key, 0) for key in ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")]
            if min(numbers) >= 0 and sum(numbers[:3]) > 0:
                calls.append((sum(numbers[:3]), numbers[3]))
    print(path, len(calls), sum(p for p, _ in calls), sum(o for _, o in calls), max((p for p, _ in calls), default=0), sep="\t")
