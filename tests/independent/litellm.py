"""Independent count of LiteLLM logs: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    try:
        exchanges = [json.loads(text)]
    except ValueError:
        exchanges = [json.loads(line) for line in text.splitlines() if line.strip()]
    usages = [exchange["response"].get("usage") for exchange in exchanges if (exchange.get("response") or {}).get("choices")]
    usages = [usage for usage in usages if usage and usage.get("prompt_tokens")]
    prompts = [usage["prompt_tokens"] for usage in usages]
    print(path, len(usages), sum(prompts), sum(usage["completion_tokens"] for usage in usages), max(prompts, default=0), sep="\t")
