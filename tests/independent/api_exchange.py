"""Counts the calls of recorded exchanges with several providers, straight from the raw lines.

Prints one tab-separated line for each file: name, calls with usage, sum of prompt tokens, sum of output tokens, largest prompt.
A response of several passes has the context of its last message pass; a compaction within it is a call of its own.
"""

import sys

from lines import records, report


def anthropic_prompt(usage):
    keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(usage.get(key) or 0 for key in keys)


def calls_of(response):
    """(prompt, output) of each call that the response reports, whichever provider sent it."""
    if not isinstance(response, dict):
        return []
    if "usageMetadata" in response:
        usage = response["usageMetadata"]
        if not usage.get("promptTokenCount"):
            return []
        prompt = usage["promptTokenCount"] + (usage.get("toolUsePromptTokenCount") or 0)
        return [(prompt, (usage.get("candidatesTokenCount") or 0) + (usage.get("thoughtsTokenCount") or 0))]
    usage = response.get("usage")
    if not usage:
        return []
    if "inputTokens" in usage:
        # Bedrock's Converse: what was cached is no part of the input.
        names = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
        return [(sum(usage.get(name) or 0 for name in names), usage["outputTokens"])]
    if "prompt_tokens" in usage:
        return [(usage["prompt_tokens"], usage["completion_tokens"])]
    if response.get("type") != "message":
        # Zeros are no measurement.
        if not usage["input_tokens"]:
            return []
        return [(usage["input_tokens"], usage["output_tokens"])]
    passes = usage.get("iterations") or []
    messages = [item for item in passes if item.get("type") == "message"]
    found = [(anthropic_prompt(messages[-1] if messages else usage), usage["output_tokens"])]
    found += [(anthropic_prompt(item), item["output_tokens"]) for item in passes if item.get("type") == "compaction"]
    return found


def main():
    for path in sys.argv[1:]:
        report(path, [call for exchange in records(path) for call in calls_of(exchange.get("response"))])


if __name__ == "__main__":
    main()
