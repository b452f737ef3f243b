"""Independent count of Inspect logs: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys
import zipfile


def samples(path):
    if not zipfile.is_zipfile(path):
        with open(path, encoding="utf-8") as file:
            yield from json.load(file)["samples"]
        return
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith("samples/"):
                yield json.loads(archive.read(name))


for path in sys.argv[1:]:
    prompts, outputs = [], []
    for sample in samples(path):
        for event in sample.get("events") or []:
            usage = event.get("output", {}).get("usage") if event["event"] == "model" else None
            if not usage:
                continue
            cached = (usage.get("input_tokens_cache_read") or 0) + (usage.get("input_tokens_cache_write") or 0)
            total = usage.get("total_tokens") or 0
            prompt = usage["input_tokens"]
            # The total tells whether the input holds what was cached.
            if cached and total != prompt + usage["output_tokens"]:
                prompt += cached
            if prompt:
                prompts.append(prompt)
                outputs.append(usage["output_tokens"])
    print(path, len(prompts), sum(prompts), sum(outputs), max(prompts, default=0), sep="\t")
