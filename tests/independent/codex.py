"""Independent count of Codex rollouts: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import sys

from lines import records, report


for path in sys.argv[1:]:
    calls, before = [], None
    for value in records(path):
        payload = value.get("payload") or {}
        if value.get("type") != "event_msg" or payload.get("type") != "token_count" or not payload.get("info"):
            continue
        total, last = payload["info"]["total_token_usage"], payload["info"]["last_token_usage"]
        if total != before and last["input_tokens"] + last["output_tokens"] > 0:
            calls.append((last["input_tokens"], last["output_tokens"]))
        before = total
    report(path, calls)
