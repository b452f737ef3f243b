"""Runs ctxsim and what it is compared with in turn on the same files, and prints ratios of medians. Called by versus.sh."""

import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import time

ROUNDS = 3
FURTHER = 10
# A further setting takes so little, and the script's further policy so much less than its start, that many of them are measured.
SCRIPT_FURTHER = 100
SETTINGS = 800
IDS = re.compile(rb"(msg_|req_|toolu_)(..)|([0-9a-f]{6})([0-9a-f]{2})(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-)")
# Words within texts: keys, ids and names of types stand between quotes or hold other characters.
WORDS = re.compile(rb"(?<=[ (.,])[a-z]{4,}(?=[ ).,:;])")
LETTERS = b"abcdefghijklmnopqrstuvwxyz"
HERE = pathlib.Path(__file__).parent


def copies(source, folder, megabytes):
    """Copies of the files until they are large enough, the ids and words of each copy its own: none is a duplicate, and no text is known from another."""
    files = [(path.name, path.read_bytes()) for path in sorted(source.rglob("*.jsonl"))]
    size, copy = 0, 0
    while size < megabytes * 1e6:
        mark = b"%02x" % (copy % 256)
        turned = bytes.maketrans(LETTERS, LETTERS[copy % 26:] + LETTERS[:copy % 26])
        for name, content in files:
            own = IDS.sub(lambda found: found[1] + mark if found[1] else found[3] + mark, content)
            own = WORDS.sub(lambda found: found[0].translate(turned), own)
            place = folder / "projects" / f"p{copy}" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(own)
            size += len(own)
        copy += 1
    return sorted(str(path) for path in folder.rglob("*.jsonl")), size


def run(command, **environment):
    """Processor seconds and seconds on the wall of a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **environment})
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed: {done.stderr.decode(errors='replace')[-500:]}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall


def rounds(**candidates):
    """Median processor and wall seconds of each candidate, measured in turn."""
    taken = {name: [] for name in candidates}
    for _ in range(ROUNDS):
        for name, candidate in candidates.items():
            taken[name].append(candidate())
    return {name: tuple(map(statistics.median, zip(*times))) for name, times in taken.items()}


def main():
    program, source, work, megabytes = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), float(sys.argv[4])
    files, size = copies(source, work / "logs", megabytes)
    print(f"{len(files)} Claude Code files, {size / 1e6:.0f} MB; medians of {ROUNDS} rounds in turn, start-up included")
    names = [str(path) for path in files]
    policy = ["--policy", "baseagent"]
    # Further policies that differ from the first one as the script's do.
    further = []
    for index in range(FURTHER):
        place = work / f"policy{index}.toml"
        text = f'name = "p{index}"\nextends = "baseagent"\n[params]\nprune_protect = {20000 + 2000 * index}\n'
        place.write_text(text)
        further += ["--policy", str(place)]

    def ctxsim(*arguments):
        return lambda: run([program, *arguments, str(work / "logs"), "--quiet", "--csv"])

    candidates = {
        "one": ctxsim("replay", *policy, "--threads", "1"),
        "two": ctxsim("replay", *policy, "--threads", "2"),
        "eleven": ctxsim("replay", *policy, *further, "--threads", "1"),
        # What a user types to see many settings of one policy.
        "sweep": ctxsim("sweep", *policy, "--vary", "prune_protect=20000", "--threads", "1"),
        "sweep_many": ctxsim("sweep", *policy, "--vary", f"prune_protect=20000..{20000 + 50 * SETTINGS}:50", "--threads", "1"),
        "inspect": ctxsim("inspect", "--threads", "1"),
        "cat": lambda: run(["cat", *names]),
    }
    script = [sys.executable, str(HERE / "script.py")]
    try:
        import tiktoken  # noqa: F401
        candidates["script"] = lambda: run([*script, "1", *names])
        candidates["script_many"] = lambda: run([*script, str(1 + SCRIPT_FURTHER), *names])
    except ImportError:
        print("left out: the Python script, for want of tiktoken")
    reader = os.environ.get("CCUSAGE")
    if reader:
        candidates["ccusage"] = lambda: run([reader, "claude", "daily", "--json", "--offline"], CLAUDE_CONFIG_DIR=str(work / "logs"))
    taken = rounds(**candidates)
    for name, (processor, wall) in taken.items():
        print(f"  {name:14} {processor:8.2f} s processor {wall:8.2f} s wall {size / 1e6 / max(processor, 1e-3):8.0f} MB per processor second")
    if "script" in taken:
        one, many = taken["script"], taken["script_many"]
        print(f"one policy, one core against the script: {one[0] / taken['one'][0]:.1f} x (aim 6)")
        print(f"one policy, two threads against the script, on the wall: {one[1] / taken['two'][1]:.1f} x (aim 6)")
        own = max(taken["eleven"][0] - taken["one"][0], 0.005) / FURTHER
        script_own = (many[0] - one[0]) / SCRIPT_FURTHER
        swept = max(taken["sweep_many"][0] - taken["sweep"][0], 0.005) / SETTINGS
        print(f"each further setting in a sweep against the script: {script_own / swept:.0f} x (aim 50)")
        print(f"each further policy in a replay, with references, hindsight and cost, against the script: {script_own / own:.1f} x")
    print(f"inspect: {size / 1e6 / taken['inspect'][0]:.0f} MB per processor second (aim 500); {taken['inspect'][0] / max(taken['cat'][0], 0.01):.0f} times what cat takes")
    if "ccusage" in taken:
        print(f"inspect against ccusage, MB per processor second: {taken['ccusage'][0] / taken['inspect'][0]:.2f} x (aim 1.5)")


main()
