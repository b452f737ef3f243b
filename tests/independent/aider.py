"""Independent count of aider's histories: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import re
import sys


def number(text):
    text = text.replace(",", "")
    return round(float(text[:-1]) * 1000) if text.endswith("k") else int(text)


for path in sys.argv[1:]:
    text = open(path, encoding="utf-8", errors="replace").read()
    found = re.findall(r"^> Tokens: ([\d.,]+k?) sent,(?: .*?,)? ?([\d.,]+k?) received", text, re.M)
    calls = [(number(sent), number(received)) for sent, received in found]
    print(path, len(calls), sum(p for p, _ in calls), sum(o for _, o in calls), max((p for p, _ in calls), default=0), sep="\t")
