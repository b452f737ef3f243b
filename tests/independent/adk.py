"""Independent count of sessions of the Agent Development Kit: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

from lines import records, report


def number(usage, camel, snake):
    return usage.get(camel, usage.get(snake)) or 0


for path in sys.argv[1:]:
    text = open(path, encoding="utf-8", errors="replace").read()
    try:
        document = json.loads(text)
        events = document if isinstance(document, list) else document.get("events", [])
    except ValueError:
        events = list(records(path))
    calls = []
    for event in events:
        usage = event.get("usageMetadata") or event.get("usage_metadata")
        if event.get("partial") or not usage:
            continue
        prompt = number(usage, "promptTokenCount", "prompt_token_count")
        thoughts = number(usage, "thoughtsTokenCount", "thoughts_token_count")
        if isinstance(prompt, int) and prompt > 0:
            calls.append((prompt, number(usage, "candidatesTokenCount", "candidates_token_count") + thoughts))
    report(path, calls)
