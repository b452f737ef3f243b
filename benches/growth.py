#!/usr/bin/env python3
"""Doubles every dimension of a session, of a corpus and of a sweep, and prints how processor time and peak memory grow.

    benches/growth.py PROGRAM [COMMAND ...] [--size N] [--only NAME]
    benches/growth.py PROGRAM --window 200000 --policies all [--size N] [--only NAME]

Each row: the least seconds of the rounds at N, 2 N and 4 N, and the largest factor of one doubling. A factor above 2.2 is marked. The sessions are made here, in shapes
of several families of readers, with texts of a few words: what is measured is the work per message, not per byte. Native sessions name their window:
by default one that no policy fills, and with --window one in which policies act at each call. --policies replays each shape under each of these.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

WORDS = "read the file and mend the test before the next build of the parser runs again".split()


def words(number, count=6):
    return " ".join(WORDS[(number * 7 + place * 3) % len(WORDS)] + str(number % 997) for place in range(count))


def head(**more):
    return {"ctxsim": "native/1", "session": "made", "agent": "made", "model": "gpt-5", "window": 400_000_000, **more}


def usage(prompt):
    return {"prompt": prompt, "cache_read": max(0, prompt - 100), "output": 12}


def native(count, *, turns=1, tools=1, models=1, compactions=0, rewinds=0, copies=0, parts=1, lines=0, with_usage=True):
    """A session in the native shape of `count` messages."""
    yield head()
    prompt, kept = 1_000, []
    for number in range(count // 2):
        name = f"m{number}"
        if number % max(1, count // 2 // max(1, turns)) == 0:
            yield {"role": "user", "id": f"u{number}", "time": 1767323047000 + number * 9000, "text": words(number)}
            prompt += 20
        call = {"id": f"c{number}", "name": f"tool{number % tools}", "arguments": {"path": f"src/{number % 50}.rs"}}
        reply = {"role": "assistant", "id": name, "model": f"model-{number * models // max(1, count // 2)}" if models > 1 else "gpt-5",
                 "parts": [{"text": words(number + part)} for part in range(parts)] + [{"call": call}]}
        if with_usage:
            reply["usage"] = usage(prompt)
        if rewinds and number and number % max(1, count // 2 // rewinds) == 0:
            reply["rewind"] = f"r{number - 1}"
        yield reply
        text = "\n".join(words(number % 64 + line, 12) for line in range(lines)) if lines else words(number, 20)
        yield {"role": "tool", "id": f"r{number}", "parts": [{"result": {"id": call["id"], "text": text, "error": False}}]}
        prompt += 60
        kept.append(name)
        if copies and number and number % max(1, count // 2 // copies) == 0:
            yield {"role": "assistant", "id": f"k{number}", "copy_of": kept[number // 2], "text": words(number)}
        if compactions and number and number % max(1, count // 2 // compactions) == 0:
            yield {"compaction": {"kind": "compact", "automatic": True, "tokens_before": prompt, "tokens_after": 1_000, "summary": words(number)}}
            prompt = 1_000


def claude(count):
    parent = None
    for number in range(count // 2):
        stamp = f"2026-01-{1 + number // 86400 % 28:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
        base = {"sessionId": "made", "version": "2.1.0", "cwd": "/home/made", "timestamp": stamp, "isSidechain": False, "userType": "external"}
        content = words(number) if number == 0 else [{"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": words(number, 20)}]
        yield {**base, "type": "user", "uuid": f"u{number}", "parentUuid": parent, "message": {"role": "user", "content": content}}
        counts = {"input_tokens": 4, "cache_read_input_tokens": 1000 + number * 40, "cache_creation_input_tokens": 40, "output_tokens": 20}
        block = [{"type": "text", "text": words(number)}, {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": "a"}}]
        yield {**base, "type": "assistant", "uuid": f"a{number}", "parentUuid": f"u{number}", "requestId": f"q{number}",
               "message": {"id": f"msg{number}", "role": "assistant", "type": "message", "model": "claude-sonnet-4-5", "content": block, "usage": counts}}
        parent = f"a{number}"


def chat(count):
    messages = [{"role": "system", "content": "You are careful."}]
    for number in range(count // 2):
        messages.append({"role": "user", "content": words(number)})
        messages.append({"role": "assistant", "content": words(number, 20)})
    yield {"model": "gpt-4o", "messages": messages}


def codex(count):
    yield {"timestamp": "2026-01-02T00:00:00.000Z", "type": "session_meta", "payload": {"id": "made", "timestamp": "2026-01-02T00:00:00.000Z",
           "cwd": "/home/made", "originator": "codex_cli_rs", "cli_version": "0.94.0", "instructions": None}}
    for number in range(count // 3):
        at = {"timestamp": f"2026-01-02T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"}
        if number == 0:
            yield {**at, "type": "turn_context", "payload": {"cwd": "/home/made", "model": "gpt-5-codex"}}
            yield {**at, "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]}}
        yield {**at, "type": "response_item", "payload": {"type": "function_call", "name": "shell", "call_id": f"c{number}", "arguments": "{}"}}
        total = {"input_tokens": 1000 + number * 60, "cached_input_tokens": 900, "output_tokens": 12, "reasoning_output_tokens": 0, "total_tokens": 1012}
        info = {"total_token_usage": total, "last_token_usage": total, "model_context_window": 400000}
        yield {**at, "type": "event_msg", "payload": {"type": "token_count", "info": info}}
        yield {**at, "type": "response_item", "payload": {"type": "function_call_output", "call_id": f"c{number}", "output": words(number, 20)}}


def pi(count):
    yield {"type": "session", "version": 3, "id": "made", "timestamp": "2026-01-02T00:00:00.000Z", "cwd": "/home/made"}
    parent = None
    for number in range(count):
        user = number % 2 == 0
        body = {"role": "user", "content": words(number), "timestamp": 1767323047000 + number} if user else {
            "role": "assistant", "content": [{"type": "text", "text": words(number)}], "provider": "openai", "model": "gpt-5", "stopReason": "stop",
            "usage": {"input": 100, "output": 12, "cacheRead": 1000 + number * 20, "cacheWrite": 0, "totalTokens": 1112 + number * 20}}
        yield {"type": "message", "id": f"e{number}", "parentId": parent, "timestamp": "2026-01-02T00:00:00.000Z", "message": body}
        parent = f"e{number}"


# name: (records of a session of n messages)
SHAPES = {
    "messages, plain": lambda n: native(n),
    "messages, every second a turn": lambda n: native(n, turns=n),
    "messages without usage": lambda n: native(n, with_usage=False),
    "messages, tools in proportion": lambda n: native(n, tools=n // 4),
    "messages, models in proportion": lambda n: native(n, models=n // 20),
    "messages, two models in turn": lambda n: native(n, models=2),
    "messages, compactions in proportion": lambda n: native(n, compactions=n // 40),
    "messages, rewinds in proportion": lambda n: native(n, rewinds=n // 20),
    "messages, copies in proportion": lambda n: native(n, copies=n // 8),
    "parts of each message": lambda n: native(n // 8, parts=16),
    "lines that come again": lambda n: native(n // 4, lines=24),
    "Claude Code": claude,
    "Codex": codex,
    "pi": pi,
    "chat list": chat,
}


def measure(command):
    """Processor seconds and peak MB of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "CTXSIM_CONFIG": "", "RAYON_NUM_THREADS": "1"})
    peak = 0
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            peak = max([peak, *(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM"))])
            process.wait(0.02)
        except (subprocess.TimeoutExpired, FileNotFoundError):
            pass
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed: {process.stderr.read().decode()[:400]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak


def every_policy(program):
    """The names of all presets."""
    listed = subprocess.run([program, "policy", "list", "--json"], check=True, capture_output=True, env={**os.environ, "CTXSIM_CONFIG": ""})
    return [row["policy"] for row in json.loads(listed.stdout)["rows"]]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program")
    options.add_argument("command", nargs="*", default=["replay", "--policy", "opencode"])
    options.add_argument("--size", type=int, default=40_000, help="messages at the start")
    options.add_argument("--rounds", type=int, default=5, help="times that each is measured, in turn; the least counts")
    options.add_argument("--only", default="", help="shapes whose name holds this")
    options.add_argument("--window", type=int, help="tokens of the window of native sessions")
    options.add_argument("--policies", help="names with commas between them, or `all`")
    chosen, more = options.parse_known_args()
    commands = {"": [*chosen.command, *more]}
    if chosen.policies:
        commands = {name: ["replay", "--policy", name] for name in (every_policy(chosen.program) if chosen.policies == "all" else chosen.policies.split(","))}
    failed = False
    print(f"{'shape':38} {'N':>7} {'2N':>7} {'4N':>7}  factor  peak MB at 4N")
    for name, make in SHAPES.items():
        if chosen.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / f"{scale}.jsonl" for scale in (1, 2, 4)]
            for scale, path in zip((1, 2, 4), paths):
                with path.open("w") as file:
                    for record in make(chosen.size * scale):
                        if chosen.window and "window" in record:
                            record["window"] = chosen.window
                        file.write(json.dumps(record, separators=(",", ":")) + "\n")
            for policy, command in commands.items():
                rounds = [[measure([chosen.program, *command, str(path)]) for path in paths] for _ in range(chosen.rounds)]
                seconds, peaks = zip(*(map(min, zip(*measured)) for measured in zip(*rounds)))
                factor = max(seconds[1] / max(seconds[0], 0.05), seconds[2] / max(seconds[1], 0.05))
                failed |= factor > 2.2
                row = " ".join(f"{taken:7.2f}" for taken in seconds)
                print(f"{policy or name:38} {row}  {factor:5.2f}{'!' if factor > 2.2 else ' '} {peaks[2]:6}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
