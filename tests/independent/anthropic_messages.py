"""Counts the calls of recorded Anthropic exchanges, straight from the raw lines.

Prints one tab-separated line for each file: name, calls with usage, sum of prompt tokens, sum of output tokens, largest prompt.
A response of several passes has the context of its last message pass.
"""

import json
import os
import sys


def prompt_tokens(usage):
    return sum(
        usage.get(key) or 0
        for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )


def main():
    for path in sys.argv[1:]:
        prompts, outputs = [], []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                try:
                    exchange = json.loads(line)
                except ValueError:
                    continue
                usage = (exchange.get("response") or {}).get("usage")
                if exchange.get("api") != "anthropic_messages" or not usage:
                    continue
                passes = [item for item in usage.get("iterations") or [] if item.get("type") == "message"]
                prompts.append(prompt_tokens(passes[-1] if passes else usage))
                outputs.append(usage["output_tokens"])
                # A compaction that the provider made within the call is a call of its own.
                for item in usage.get("iterations") or []:
                    if item.get("type") == "compaction":
                        prompts.append(prompt_tokens(item))
                        outputs.append(item["output_tokens"])
        print(os.path.basename(path), len(prompts), sum(prompts), sum(outputs), max(prompts, default=0), sep="\t")


main()
