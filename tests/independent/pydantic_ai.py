"""Independent count of pydantic-ai's message lists: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

from lines import records, report

for path in sys.argv[1:]:
    text = open(path, encoding="utf-8", errors="replace").read()
    try:
        document = json.loads(text)
        messages = document if isinstance(document, list) else document["messages"]
    except ValueError:
        messages = list(records(path))
    calls = []
    for message in messages:
        usage = message.get("usage") or {}
        prompt = usage.get("input_tokens", usage.get("request_tokens"))
        if message.get("kind") == "response" and isinstance(prompt, int) and prompt > 0:
            calls.append((prompt, usage.get("output_tokens", usage.get("response_tokens", 0))))
    report(path, calls)
