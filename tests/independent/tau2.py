"""Independent count of tau2-bench files: file, calls with usage (agent and simulated user), sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import os
import sys


def simulations(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if "simulations" not in document and "info" not in document:
        return [document]
    found = document.get("simulations") or []
    folder = os.path.join(os.path.dirname(path), "simulations")
    if not found and os.path.isdir(folder):
        found = [json.load(open(os.path.join(folder, name), encoding="utf-8")) for name in sorted(os.listdir(folder))]
    return found


for path in sys.argv[1:]:
    usages = [m["usage"] for s in simulations(path) for m in s.get("messages") or [] if m["role"] in ("assistant", "user") and m.get("usage")]
    usages = [usage for usage in usages if usage.get("prompt_tokens")]
    outputs = []
    for usage in usages:
        output = usage["completion_tokens"]
        reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
        # Thoughts that the completion does not contain show in the total.
        if reasoning and usage.get("total_tokens") == usage["prompt_tokens"] + output + reasoning:
            output += reasoning
        outputs.append(output)
    prompts = [usage["prompt_tokens"] for usage in usages]
    print(path, len(usages), sum(prompts), sum(outputs), max(prompts, default=0), sep="\t")
