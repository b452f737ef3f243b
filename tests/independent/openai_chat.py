"""Independent count of OpenAI chat logs: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys


def usages(value):
    """Usage of the response of an exchange, or of single messages."""
    if isinstance(value, list):
        for element in value:
            yield from usages(element)
        return
    response = value.get("response")
    if isinstance(response, dict) and response.get("choices"):
        yield response.get("usage")
        return
    for message in value.get("messages", [value]):
        yield message.get("usage")


for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    try:
        values = [json.loads(text)]
    except ValueError:
        values = [json.loads(line) for line in text.splitlines() if line.strip()]
    found = [usage for value in values for usage in usages(value) if usage and usage.get("prompt_tokens")]
    prompts = [usage["prompt_tokens"] for usage in found]
    print(path, len(found), sum(prompts), sum(usage["completion_tokens"] for usage in found), max(prompts, default=0), sep="\t")
