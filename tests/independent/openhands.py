"""Independent count of OpenHands runs: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys


def flat(events):
    for event in events:
        if isinstance(event, list):
            yield from flat(event)
        else:
            yield event


for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    try:
        runs = [json.loads(text)]
    except ValueError:
        runs = [json.loads(line) for line in text.splitlines() if line.strip()]
    found = []
    for run in runs:
        if isinstance(run, list):
            run = {"history": run}
        listed = (run.get("metrics") or {}).get("token_usages") or []
        responses = {}
        for event in flat(run.get("history") or run.get("events") or run.get("trajectory") or []):
            response = (event.get("tool_call_metadata") or {}).get("model_response") or {}
            if event.get("action") and response.get("usage"):
                responses.setdefault(response["id"], response["usage"])
        for usage in listed:
            responses.setdefault(usage["response_id"], usage)
        found += [usage for usage in responses.values() if usage.get("prompt_tokens")]
    prompts = [usage["prompt_tokens"] for usage in found]
    print(path, len(found), sum(prompts), sum(usage["completion_tokens"] for usage in found), max(prompts, default=0), sep="\t")
