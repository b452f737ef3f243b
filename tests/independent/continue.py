"""Independent count of sessions of Continue: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys


def number(record, *names):
    return next((record[name] for name in names if isinstance(record.get(name), int) and record[name] >= 0), 0)


def call(spent):
    prompt, output = number(spent, "prompt_tokens", "promptTokens"), number(spent, "completion_tokens", "completionTokens")
    details = spent.get("prompt_tokens_details") or spent.get("promptTokensDetails") or {}
    cached = number(details, "cached_tokens", "cachedTokens") + number(details, "cache_write_tokens", "cacheWriteTokens")
    total = number(spent, "total_tokens", "totalTokens")
    # Thoughts of Google's models are in the total alone.
    return prompt if cached <= prompt else prompt + cached, max(output, total - prompt)


for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    try:
        history = json.loads(text).get("history", [])
    except ValueError:
        history = []
    calls = [call(entry["message"]["usage"]) for entry in history if isinstance(entry.get("message"), dict) and entry["message"].get("usage")]
    calls = [(prompt, output) for prompt, output in calls if prompt]
    print(path, len(calls), sum(p for p, _ in calls), sum(o for _, o in calls), max((p for p, _ in calls), default=0), sep="\t")
