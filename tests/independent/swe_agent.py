"""Independent count of SWE-agent trajectories: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV).

Usage is summed over a run: it is one call's only where the run made just one."""
import json
import sys

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    found = []
    for run in document.get("attempts") or [document]:
        stats = (run.get("info") or {}).get("model_stats") or {}
        replies = [m for m in run.get("history") or [] if m["role"] == "assistant" and not m.get("is_demo")]
        if stats.get("api_calls") == 1 and len(replies) == 1 and stats.get("tokens_sent"):
            found.append((stats["tokens_sent"], stats["tokens_received"]))
    prompts = [sent for sent, _ in found]
    print(path, len(found), sum(prompts), sum(received for _, received in found), max(prompts, default=0), sep="\t")
