"""Independent count of ATIF trajectories: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        steps = json.load(file)["steps"]
    found = [step["metrics"] for step in steps if step["source"] == "agent" and (step.get("metrics") or {}).get("prompt_tokens")]
    prompts = [metrics["prompt_tokens"] for metrics in found]
    print(path, len(found), sum(prompts), sum(metrics["completion_tokens"] for metrics in found), max(prompts, default=0), sep="\t")
