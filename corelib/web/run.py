# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a WebAssembly program with its arguments, as an emulator for CMake's tests."""

import sys
from pathlib import Path

import wasmtime

store = wasmtime.Store()
wasi = wasmtime.WasiConfig()
wasi.argv = sys.argv[1:]
wasi.inherit_stdout()
wasi.inherit_stderr()
for folder in {str(Path(each).parent) for each in sys.argv[2:]}:
    wasi.preopen_dir(folder, folder)
store.set_wasi(wasi)
linker = wasmtime.Linker(store.engine)
linker.define_wasi()
program = linker.instantiate(store, wasmtime.Module.from_file(store.engine, sys.argv[1]))
try:
    program.exports(store)["_start"](store)
except wasmtime.ExitTrap as end:
    sys.exit(end.code)
