# SPDX-License-Identifier: GPL-2.0-or-later
"""Build swapsim/live/core.wasm and core.json: the part of the C core that the live models use.

Usage: build.py ZIG FOLDER, where ZIG is the command of the compiler.
"""

import hashlib
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

CORELIB = Path(__file__).parents[1]
sys.path.insert(0, str(CORELIB))

import layout  # noqa: E402

MEMORY_MAX = 256 << 20
FLAGS = (
    "--target=wasm32-wasi -mexec-model=reactor -std=c11 -Os -DNDEBUG -Wall -Wextra -Werror "
    f"-Iinclude -Isrc -Wl,--strip-all -Wl,--max-memory={MEMORY_MAX} -Wl,-z,stack-size=262144"
)
EXPORTS = ("malloc", "free")
SYSTEM = re.compile(r"^#\s*include <(.+)>", re.MULTILINE)


def sources() -> list[str]:
    """Return the C files that are linked."""
    return sorted(str(path.relative_to(CORELIB)) for path in CORELIB.glob("src/**/*.c"))


def digest() -> str:
    """Return the digest of the sources as the preprocessor leaves them, without comments.

    System headers are empty here, since they differ between machines.
    """
    code = {path: path.read_text(encoding="utf-8") for path in CORELIB.rglob("*.[ch]")}
    system = {name for text in code.values() for name in SYSTEM.findall(text)}
    with TemporaryDirectory() as empty:
        for name in system:
            Path(empty, name).touch()
        command = ["cc", "-E", "-P", "-undef", "-nostdinc", "-DNDEBUG", "-Iinclude", "-Isrc"]
        plain = subprocess.run(
            [*command, f"-I{empty}", *sources()], cwd=CORELIB, check=True, capture_output=True
        ).stdout
    used = f"{FLAGS} {EXPORTS} {sorted(layout.used())}"
    return hashlib.sha256(used.encode() + b" ".join(plain.split())).hexdigest()[:32]


def build(zig: str, folder: Path) -> None:
    """Write core.wasm and core.json."""
    made = layout.layout(layout.used())
    exports = [f"-Wl,--export={name}" for name in (*EXPORTS, *made["functions"])]
    wasm = folder.absolute() / "core.wasm"
    with TemporaryDirectory() as temporary:
        checks = Path(temporary, "layout.c")
        checks.write_text(layout.assertions(made), encoding="utf-8")
        compiler = [*shlex.split(zig), "cc", *FLAGS.split(), *exports]
        subprocess.run(
            [*compiler, *sources(), str(checks), "-o", str(wasm)], cwd=CORELIB, check=True
        )
    wasm.chmod(0o644)
    text = json.dumps({"digest": digest(), **made}, indent=1)
    (folder / "core.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    build(sys.argv[1], Path(sys.argv[2]))
