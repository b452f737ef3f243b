"""Independent count of Cline tasks: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import os
import re
import sys

for path in sys.argv[1:]:
    text = open(os.path.join(os.path.dirname(path), "ui_messages.json"), encoding="utf-8", errors="replace").read()
    calls = []
    # Each request's numbers stand in a JSON string of their own; a list that breaks off has whole ones before its end.
    for found in re.finditer(r'"api_req_started"\s*,\s*"text"\s*:\s*("(?:[^"\\]|\\.)*")', text):
        started = json.loads(json.loads(found.group(1)))
        parts = [started.get(key, 0) for key in ("tokensIn", "cacheReads", "cacheWrites")]
        protocol = started.get("apiProtocol", "")
        within = protocol == "openai" or (protocol == "anthropic" and parts[0] >= parts[1] + parts[2])
        prompt = parts[0] if within else sum(parts)
        if prompt > 0:
            calls.append((prompt, started.get("tokensOut", 0)))
    print(path, len(calls), sum(p for p, _ in calls), sum(o for _, o in calls), max((p for p, _ in calls), default=0), sep="\t")
