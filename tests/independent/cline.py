"""Independent count of Cline tasks: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import os
import re
import sys

# Clients that leave what was cached in the prompt.
WHOLE = "openai openai-codex litellm lmstudio hicap oca fireworks doubao aihubmix qwen".split()


def prompt(given, cached, is_within):
    return given if is_within and given >= cached else given + cached


def listed(text):
    # Each request's numbers stand in a JSON string of their own; a list that breaks off has whole ones before its end.
    for found in re.finditer(r'"api_req_started"\s*,\s*"text"\s*:\s*("(?:[^"\\]|\\.)*")', text):
        started = json.loads(json.loads(found.group(1)))
        given, *cached = (started.get(key, 0) for key in ("tokensIn", "cacheReads", "cacheWrites"))
        yield prompt(given, sum(cached), started.get("apiProtocol") in ("openai", "anthropic")), started.get("tokensOut", 0)


def replied(text):
    for entry in json.loads(text):
        tokens = entry.get("metrics", {}).get("tokens", {})
        is_within = entry.get("modelInfo", {}).get("providerId") in WHOLE
        yield prompt(tokens.get("prompt", 0), tokens.get("cached", 0), is_within), tokens.get("completion", 0)


for path in sys.argv[1:]:
    beside = os.path.join(os.path.dirname(path), "ui_messages.json")
    read, path_read = (listed, beside) if os.path.exists(beside) else (replied, path)
    calls = [call for call in read(open(path_read, encoding="utf-8", errors="replace").read()) if call[0] > 0]
    print(path, len(calls), sum(p for p, _ in calls), sum(o for _, o in calls), max((p for p, _ in calls), default=0), sep="\t")
