"""Independent count of Codex rollouts: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys


def objects(path):
    decoder = json.JSONDecoder()
    for line in open(path, encoding="utf-8", errors="replace"):
        line = line.strip()
        while line:
            try:
                value, end = decoder.raw_decode(line)
            except ValueError:
                break
            yield value
            line = line[end:].lstrip()


for path in sys.argv[1:]:
    prompts, outputs, before = [], [], None
    for value in objects(path):
        payload = value.get("payload") or {}
        if value.get("type") != "event_msg" or payload.get("type") != "token_count" or not payload.get("info"):
            continue
        total, last = payload["info"]["total_token_usage"], payload["info"]["last_token_usage"]
        if total != before and last["input_tokens"] + last["output_tokens"] > 0:
            prompts.append(last["input_tokens"])
            outputs.append(last["output_tokens"])
        before = total
    print(path, len(prompts), sum(prompts), sum(outputs), max(prompts, default=0), sep="\t")
