"""Independent count of mini-swe-agent runs: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

for path in sys.argv[1:]:
    run = json.load(open(path, encoding="utf-8"))
    messages = run if isinstance(run, list) else run["messages"]
    usages = [((message.get("extra") or {}).get("response") or {}).get("usage") for message in messages]
    usages = [usage for usage in usages if usage]
    prompts = [usage["prompt_tokens"] for usage in usages]
    print(path, len(usages), sum(prompts), sum(usage["completion_tokens"] for usage in usages), max(prompts, default=0), sep="\t")
