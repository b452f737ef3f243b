"""Independent count of Gemini CLI chats: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    try:
        records = [json.loads(text)]
    except ValueError:
        records = [json.loads(line) for line in text.splitlines() if line.strip()]
    # Whatever was once answered was paid for, also if it was taken back later; the same id is the same answer.
    answers = {}
    for record in records:
        record = record.get("$set", record)
        for message in record.get("messages", []) + [record]:
            if message.get("type") == "gemini":
                answers[message["id"]] = message.get("tokens") or {}
    calls = [tokens for tokens in answers.values() if tokens.get("input")]
    prompts = [tokens["input"] + tokens.get("tool", 0) for tokens in calls]
    outputs = [tokens["output"] + tokens.get("thoughts", 0) for tokens in calls]
    print(path, len(calls), sum(prompts), sum(outputs), max(prompts, default=0), sep="\t")
