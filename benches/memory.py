#!/usr/bin/env python3
"""Makes many small sessions, each a file of its own, and prints the peak memory and the processor seconds of each command over them.

    benches/memory.py PROGRAM [PROGRAM ...] [--sessions N] [--only COMMAND] [--keep FOLDER] [--most KB]

Each row: MiB over half of the sessions and over all of them, KB that each session of the second half adds, processor seconds. Several programs stand below
each other. The sessions are distinct Claude Code logs of eight messages with a few hundred words, two tools, three projects and two models.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import tempfile

WORDS = "read the file and mend the test before the next build of the parser runs again".split()
COMMANDS = {
    "inspect": ["inspect"],
    "replay": ["replay", "--policy", "opencode"],
    "replay --json": ["replay", "--policy", "opencode", "--json"],
    "replay --csv": ["replay", "--policy", "opencode", "--csv"],
    "cost": ["cost"],
    "cache": ["cache"],
    "idle": ["idle"],
    "report": ["report", "--policy", "opencode", "--force", "-o"],
    "drift": ["drift"],
    "sweep": ["sweep", "--policy", "opencode", "--vary", "preserve_recent_tokens=1k..10k:1k", "--minimise", "tokens"],
    "tune": ["tune", "--policy", "opencode", "--settings", "20"],
    "diff": ["diff", "--policy", "opencode", "--policy", "codex"],
    "backtest": ["backtest"],
    "gate": ["gate", "--policy", "opencode", "--update-baseline", "--baseline"],
}


def words(number, count):
    return " ".join(WORDS[(number * 7 + place * 3) % len(WORDS)] + str(number % 997) for place in range(count))


def session(number):
    """The lines of one log: two questions, two tool calls and their results."""
    parent, prompt = None, 9_000 + number % 500
    for step in range(4):
        at = f"2026-{1 + number // 28 % 9:02}-{1 + number % 28:02}T{number // 252 % 24:02}:{number // 7 % 60:02}:{step * 9:02}.000Z"
        base = {"sessionId": f"s{number}", "version": "2.1.0", "cwd": f"/home/made/{number % 3}", "timestamp": at, "isSidechain": False}
        asks = step % 2 == 0
        content = words(number, 40) if asks else [{"type": "tool_result", "tool_use_id": f"t{number}-{step - 1}", "content": words(number + step, 160)}]
        yield {**base, "type": "user", "uuid": f"u{number}-{step}", "parentUuid": parent, "message": {"role": "user", "content": content}}
        block = [{"type": "text", "text": words(number + 3 + step, 30)}]
        if asks:
            block.append({"type": "tool_use", "id": f"t{number}-{step}", "name": "Read" if step else "Bash", "input": {"file_path": f"src/{number % 90}.rs"}})
        usage = {"input_tokens": 4, "cache_read_input_tokens": prompt, "cache_creation_input_tokens": 400, "output_tokens": 120}
        model = "claude-sonnet-4-5" if number % 2 else "claude-opus-4-5"
        message = {"id": f"m{number}-{step}", "role": "assistant", "type": "message", "model": model, "content": block, "usage": usage}
        parent = f"a{number}-{step}"
        yield {**base, "type": "assistant", "uuid": parent, "parentUuid": f"u{number}-{step}", "requestId": f"q{number}-{step}", "message": message}
        prompt += 404


def make(folder, numbers):
    for number in numbers:
        place = folder / f"{number // 1000}"
        place.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(record, separators=(",", ":")) for record in session(number))
        (place / f"{number}.jsonl").write_text("\n".join(lines) + "\n")


def measure(command):
    """Processor seconds and peak MiB of a command."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "CTXSIM_CONFIG": ""}) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("programs", nargs="+")
    options.add_argument("--sessions", type=int, default=20_000)
    options.add_argument("--only", default="", help="commands that begin with this")
    options.add_argument("--keep", help="a folder for the sessions, which are made once")
    options.add_argument("--most", type=float, default=float("inf"), help="fail where a session adds more KB than this")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(chosen.keep or scratch)
        halves = [folder / "first", folder / "second"]
        for which, half in enumerate(halves):
            if not half.exists():
                make(half, range(which * chosen.sessions // 2, (which + 1) * chosen.sessions // 2))
        print(f"{'command':16} {'MiB, half':>10} {'MiB, all':>10} {'KB a session':>13} {'seconds':>9}")
        for name, command in COMMANDS.items():
            for program in chosen.programs if name.startswith(chosen.only) else []:
                page = {"report": [f"{scratch}/page/"], "gate": [f"{scratch}/baseline.json"]}.get(name, [])
                (_, small), (seconds, large) = (measure([program, *command, *page, *map(str, logs)]) for logs in (halves[:1], halves))
                each = (large - small) * 1024 / (chosen.sessions / 2)
                print(f"{name:16} {small:10.0f} {large:10.0f} {each:13.2f} {seconds:9.2f}  {program}", flush=True)
                if each > chosen.most:
                    raise SystemExit(f"{name}: each session takes {each:.2f} KB")


if __name__ == "__main__":
    main()
