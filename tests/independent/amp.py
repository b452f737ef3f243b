"""Independent count of Amp's threads: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys


def sums(tokens, given, produced):
    parts = [tokens.get(key) or 0 for key in (given, "cacheReadInputTokens", "cacheCreationInputTokens", produced)]
    return (sum(parts[:3]), parts[3]) if min(parts) >= 0 and sum(parts[:3]) > 0 else None


for path in sys.argv[1:]:
    text = open(path, encoding="utf-8", errors="replace").read()
    try:
        thread = json.loads(text)
    except ValueError:
        # What stands whole before the end, one message a line.
        thread = {"messages": []}
        for line in text.splitlines():
            try:
                thread["messages"].append(json.loads(line.strip().rstrip(",")))
            except ValueError:
                pass
    listed = {event.get("toMessageId"): event["tokens"] for event in thread.get("usageLedger", {}).get("events", [])}
    calls = []
    for message in thread["messages"]:
        if message.get("role") != "assistant":
            continue
        if "usage" in message:
            calls.append(sums(message["usage"], "inputTokens", "outputTokens"))
        elif message.get("messageId") in listed:
            calls.append(sums(listed[message["messageId"]], "input", "output"))
    calls = [call for call in calls if call]
    print(path, len(calls), sum(p for p, _ in calls), sum(o for _, o in calls), max((p for p, _ in calls), default=0), sep="\t")
