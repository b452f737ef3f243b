#!/usr/bin/env python3
"""The advisories of RustSec for the packages of Cargo.lock, as a small dated table for machines without a network.
usage: advisories.py CLONE_OF_ADVISORY_DB > tests/data/advisories.tsv"""
import datetime, os, re, subprocess, sys, tomllib

database = sys.argv[1]
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
git = lambda *words: subprocess.run(["git", "-C", database, *words], capture_output=True, text=True, check=True).stdout
seconds = int(git("log", "-1", "--format=%ct"))
print("# RustSec's advisory-db of", datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).date())
print("# Made by tests/independent/advisories.py; licence of the data: CC0-1.0")
print("id\tpackage\tkind\tpatched\tunaffected\ttitle")
with open(os.path.join(root, "Cargo.lock"), "rb") as lock:
    packages = sorted({package["name"] for package in tomllib.load(lock)["package"]})
files = git("ls-tree", "-r", "--name-only", "HEAD", "crates").splitlines()
for package in packages:
    for name in sorted(name for name in files if name.startswith(f"crates/{package}/RUSTSEC-") and name.endswith(".md")):
        text = git("show", "HEAD:" + name)
        front = tomllib.loads(re.search(r"```toml\n(.*?)```", text, re.S).group(1))
        advisory, versions = front["advisory"], front.get("versions", {})
        if "withdrawn" in advisory:
            continue
        title = next((line[2:].strip() for line in text.splitlines() if line.startswith("# ")), "")
        listed = lambda key: " | ".join(versions.get(key, []))
        print(advisory["id"], package, advisory.get("informational", "vulnerability"), listed("patched"), listed("unaffected"), title, sep="\t")
