"""Independent count of Factory Droid sessions: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import os
import sys

from lines import records

for path in sys.argv[1:]:
    replies = 0
    for record in records(path):
        message = record.get("message") or {}
        replies += record.get("type") == "message" and message.get("role") == "assistant" and message.get("visibility") != "user_only"
    beside = path[: -len(".jsonl")] + ".settings.json"
    prompt = output = 0
    if replies and os.path.exists(beside):
        try:
            settings = json.load(open(beside, encoding="utf-8"))
        except ValueError:
            settings = {}
        totals, last = settings.get("tokenUsage"), settings.get("lastCallTokenUsage")
        spent = (totals or last if replies == 1 else last) or {}
        prompt = sum(spent.get(key, 0) for key in ("inputTokens", "cacheReadTokens", "cacheCreationTokens"))
        output = spent.get("outputTokens", 0)
    known = prompt > 0
    print(path, int(known), prompt * known, output * known, prompt * known, sep="\t")
