"""Independent count of LangChain's messages: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

from lines import records, report


def usage_of(message):
    """Prompt and output of a reply, by LangChain's own words or the provider's; nothing for any other message."""
    inner = message.get("kwargs") or message.get("data") or message
    if inner.get("type", message.get("type")) != "ai":
        return None
    own, metadata = inner.get("usage_metadata"), inner.get("response_metadata") or {}
    if own:
        return own["input_tokens"], own["output_tokens"]
    openai = metadata.get("token_usage")
    return (openai["prompt_tokens"], openai["completion_tokens"]) if openai else None


for path in sys.argv[1:]:
    text = open(path, encoding="utf-8", errors="replace").read()
    try:
        document = json.loads(text)
        messages = document if isinstance(document, list) else document.get("messages") or document["values"]["messages"]
    except ValueError:
        messages = list(records(path))
    calls = [usage for usage in map(usage_of, messages) if usage and usage[0] > 0]
    report(path, calls)
