"""Independent count of Qwen Code chats: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import sys

from lines import records, report


def numbers(prompt, candidates, thoughts, total):
    values = [prompt or 0, candidates or 0, thoughts or 0, total or 0]
    if any(not isinstance(value, int) or value < 0 for value in values) or values[0] == 0:
        return None
    prompt, candidates, thoughts, total = values
    # Prompt and output together are the total, whoever counts thoughts within the candidates.
    within = total == prompt + candidates if total else thoughts <= candidates
    return prompt, candidates + (0 if within else thoughts)


for path in sys.argv[1:]:
    replies, reports, seen = {}, {}, set()
    for record in records(path):
        if record["uuid"] in seen:
            continue
        seen.add(record["uuid"])
        agent = record.get("agentId")
        usage = record.get("usageMetadata")
        event = ((record.get("systemPayload") or {}).get("uiEvent") or {}) if record.get("subtype") == "ui_telemetry" else {}
        if record["type"] == "assistant" and usage:
            found = numbers(*map(usage.get, ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount")))
            replies.setdefault(agent, []).append(found)
        if event.get("event.name", "").endswith("api_response"):
            keys = ("input_token_count", "output_token_count", "thoughts_token_count", "total_token_count")
            reports.setdefault(agent, []).append(numbers(*map(event.get, keys)))
    calls = []
    for agent in replies.keys() | reports.keys():
        own, told = [list(filter(None, which.get(agent, []))) for which in (replies, reports)]
        calls += own
        for reply in own:
            if reply in told:
                told.remove(reply)
        calls += told
    report(path, calls)
