"""Independent count of Cline CLI sessions: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

for path in sys.argv[1:]:
    messages = json.load(open(path, encoding="utf-8"))["messages"]
    spent = [message["metrics"] for message in messages if message.get("role") == "assistant" and message.get("metrics")]
    # More from the cache than in all: then it is counted beside the input.
    beside = [call["inputTokens"] < call["cacheReadTokens"] for call in spent]
    prompts = [
        call["inputTokens"] + (call["cacheReadTokens"] + call["cacheWriteTokens"]) * apart for call, apart in zip(spent, beside)
    ]
    print(path, len(spent), sum(prompts), sum(call["outputTokens"] for call in spent), max(prompts, default=0), sep="\t")
