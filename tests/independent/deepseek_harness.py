"""Independent count of DeepSeek Harness sessions: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import sys

from lines import records, report

for path in sys.argv[1:]:
    calls = []
    for event in records(path):
        # Chunks carry the same usage once more.
        if event["type"] in ("assistant/message", "compact/summary"):
            usage = event["data"].get("usage") or {}
            numbers = [usage.get(key, 0) for key in ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")]
            if min(numbers) >= 0 and sum(numbers[:3]) > 0:
                calls.append((sum(numbers[:3]), numbers[3]))
    report(path, calls)
