"""Makes every package of one built program; see build.sh. The same inputs give the same bytes."""

import base64
import gzip
import hashlib
import io
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]["version"]
PLATFORMS = json.loads((ROOT / "packaging/platforms.json").read_text())
# What whoever passes the program on passes on with it, and what its reader looks for first.
TERMS = ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.md"] + sorted(f"licences/{file.name}" for file in (ROOT / "licences").iterdir())
# The shells, and under which name each looks for its script.
COMPLETIONS = {"bash": "ctxsim.bash", "zsh": "_ctxsim", "fish": "ctxsim.fish", "elvish": "ctxsim.elv", "powershell": "_ctxsim.ps1"}
# 1 January 2020: a zip file cannot say 0.
WHEN = 1577836800
WHEN_PARTS = (2020, 1, 1, 0, 0, 0)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: packaging/build.sh BINARY OUT [TRIPLE]")
    binary, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    triple = sys.argv[3] if len(sys.argv) == 4 else own_triple()
    if triple not in PLATFORMS:
        sys.exit(f"no packages are made for {triple}; packaging/platforms.json has: {', '.join(PLATFORMS)}")
    said = run(binary, "--version").decode().strip()
    if said != f"ctxsim {VERSION}":
        sys.exit(f"{binary} says that it is `{said}`, Cargo.toml that it is `ctxsim {VERSION}`")
    out.mkdir(parents=True, exist_ok=True)
    print(f"{'program as built':58} {binary.stat().st_size:>11,} bytes")
    program = stripped(binary)
    print(f"{'program without symbols':58} {len(program):>11,} bytes")
    beside = texts(binary)
    made = [*archives(program, beside, triple, out), *npm(program, beside, triple, out), wheel(program, beside, triple, out)]
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(made))
    (out / f"SHA256SUMS-{triple}").write_text(sums, newline="\n")
    for file in made:
        print(f"{file.name:58} {file.stat().st_size:>11,} bytes")


def own_triple():
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine())
    musl = platform.system() == "Linux" and platform.libc_ver()[0] != "glibc"
    linux = "unknown-linux-musl" if musl else "unknown-linux-gnu"
    return f"{machine}-" + {"Linux": linux, "Darwin": "apple-darwin", "Windows": "pc-windows-msvc"}[platform.system()]


def run(binary, *arguments):
    # No settings of whoever builds get into what is built.
    return subprocess.run([binary, "--config", "", *arguments], check=True, stdout=subprocess.PIPE).stdout


def stripped(binary):
    """The program less its table of symbols. On macOS and Windows the linker has left it out already (profile `dist`)."""
    if not (binary.read_bytes()[:4] == b"\x7fELF" and shutil.which("strip")):
        return binary.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "ctxsim"
        subprocess.run(["strip", "-o", copy, binary], check=True)
        return copy.read_bytes()


def texts(binary):
    """What stands beside the program, by name: completions and manual pages, as the program writes them, and the terms."""
    found = {f"completions/{name}": run(binary, "completions", shell) for shell, name in COMPLETIONS.items()}
    with tempfile.TemporaryDirectory() as folder:
        run(binary, "man", "-o", folder)
        found |= {f"man/{page.name}": page.read_bytes() for page in sorted(pathlib.Path(folder).glob("*.1"))}
    return found | {name: (ROOT / name).read_bytes() for name in TERMS}


def program_name(triple):
    return "ctxsim.exe" if PLATFORMS[triple]["os"] == "win32" else "ctxsim"


def archives(program, beside, triple, out):
    folder = f"ctxsim-{VERSION}-{triple}"
    documents = {name: (ROOT / name).read_bytes() for name in ("README.md", "CHANGELOG.md")}
    files = {program_name(triple): program} | documents | beside
    return [
        tar(out / f"{folder}.tar.gz", {f"{folder}/{name}": content for name, content in files.items()}),
        zipped(out / f"{folder}.zip", {f"{folder}/{name}": content for name, content in files.items()}),
    ]


def npm_name(triple):
    own = PLATFORMS[triple]
    return f"@ctxsim/{own['os']}-{own['cpu']}" + ("-musl" if own.get("libc") == "musl" else "")


def npm(program, beside, triple, out):
    """The platform's package, the launcher that chooses among those of all platforms, and both in one file that needs no registry."""
    own, common = PLATFORMS[triple], {"version": VERSION, "license": PROJECT["license"], "engines": {"node": ">=18"}}
    platform_package = {"name": npm_name(triple), "description": f"The program ctxsim for {triple}", **common}
    platform_package |= {"os": [own["os"]], "cpu": [own["cpu"]], "preferUnplugged": True}
    if "libc" in own:
        platform_package["libc"] = [own["libc"]]
    program_files = {"package.json": as_json(platform_package), f"bin/{program_name(triple)}": program} | beside
    launcher = {"name": "ctxsim", "description": PROJECT["description"], **common}
    launcher |= {"keywords": PROJECT["keywords"], "bin": {"ctxsim": "bin/ctxsim.js"}}
    launched = {
        name: (ROOT / place).read_bytes() for name, place in {"bin/ctxsim.js": "packaging/npm/ctxsim.js", "README.md": "README.md"}.items()
    }
    launched |= {name: content for name, content in beside.items() if name in TERMS}
    whole = launcher | {"dependencies": {npm_name(triple): VERSION}, "bundleDependencies": [npm_name(triple)]}
    bundled = {f"node_modules/{npm_name(triple)}/{name}": content for name, content in program_files.items()}
    all_platforms = launcher | {"optionalDependencies": {npm_name(each): VERSION for each in PLATFORMS}}
    short = npm_name(triple).removeprefix("@ctxsim/")

    def pack(name, manifest, files):
        files = {"package.json": as_json(manifest)} | files
        return tar(out / name, {f"package/{name}": content for name, content in files.items()})

    return [
        pack(f"ctxsim-npm-{VERSION}.tgz", all_platforms, launched),
        pack(f"ctxsim-npm-{short}-{VERSION}.tgz", platform_package, program_files),
        pack(f"ctxsim-npm-with-{short}-{VERSION}.tgz", whole, launched | bundled),
    ]


def wheel(program, beside, triple, out):
    """The Python package with the program among its scripts, as `pip` puts it on the path."""
    newest = max(re.findall(rb"GLIBC_2\.(\d+)\0", program), key=int, default=b"17").decode()
    tag = "py3-none-" + PLATFORMS[triple]["wheel"].format(glibc=f"2_{newest}")
    data, info = f"ctxsim-{VERSION}.data", f"ctxsim-{VERSION}.dist-info"
    modules = sorted(file for file in (ROOT / "python/ctxsim").rglob("*") if file.suffix in (".py", ".typed"))
    files = {file.relative_to(ROOT / "python").as_posix(): file.read_bytes() for file in modules}
    files[f"{data}/scripts/{program_name(triple)}"] = program
    shared = {
        "bash": "bash-completion/completions/ctxsim",
        "zsh": "zsh/site-functions/_ctxsim",
        "fish": "fish/vendor_completions.d/ctxsim.fish",
    }
    for shell, place in shared.items():
        files[f"{data}/data/share/{place}"] = beside[f"completions/{COMPLETIONS[shell]}"]
    for name in beside:
        if name.startswith("man/"):
            files[f"{data}/data/share/man/man1/{name.removeprefix('man/')}"] = beside[name]
    files |= {f"{info}/licenses/{name}": beside[name] for name in TERMS}
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: ctxsim packaging\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    return zipped(out / f"ctxsim-{VERSION}-{tag}.whl", files)


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def metadata():
    lines = ["Metadata-Version: 2.4", "Name: ctxsim", f"Version: {VERSION}", f"Summary: {PROJECT['description']}"]
    lines += [f"License-Expression: {PROJECT['license']}", *(f"License-File: {name}" for name in TERMS)]
    lines += [f"Keywords: {','.join(PROJECT['keywords'])}", f"Requires-Python: {PROJECT['requires-python']}"]
    lines += [f"Classifier: {line}" for line in PROJECT["classifiers"]]
    for extra, needed in PROJECT.get("optional-dependencies", {}).items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {each}; extra == "{extra}"' for each in needed)]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", (ROOT / "README.md").read_text()])


def as_json(value):
    return (json.dumps(value, indent=2) + "\n").encode()


def is_program(name):
    return name.endswith(("/ctxsim", "/ctxsim.exe", "/ctxsim.js")) and "/completions/" not in name


def tar(place, files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(content), 0o755 if is_program(name) else 0o644, WHEN
            archive.addfile(entry, io.BytesIO(content))
    place.write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return place


def zipped(place, files):
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, WHEN_PARTS)
            entry.external_attr, entry.create_system = (0o100755 if is_program(name) else 0o100644) << 16, 3
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return place


main()
