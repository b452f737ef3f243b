"""Counts the calls of models in OTLP JSON, straight from the raw lines.

Prints one tab-separated line for each file: name, calls with usage, sum of prompt tokens, sum of output tokens, largest prompt.
Spans of agents and tools repeat what they hold; spans of models alone count.
"""

import sys

from lines import records, report


def spans(export):
    for resource in export.get("resourceSpans", []):
        for scope in resource.get("scopeSpans", []):
            yield from scope.get("spans", [])


def main():
    for path in sys.argv[1:]:
        calls = []
        for export in records(path):
            for span in spans(export):
                held = {item["key"]: list(item["value"].values())[0] for item in span.get("attributes", [])}
                if held.get("gen_ai.operation.name", "chat") != "chat":
                    continue
                names = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
                prompt = next((int(held[name]) for name in names if name in held), 0)
                names = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
                if prompt:
                    calls.append((prompt, next((int(held[name]) for name in names if name in held), 0)))
        report(path, calls)


main()
