#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Checks of the C core that take longer than make test-c, or need more tools: make analyse. A part
# whose tool is not installed is skipped with a message.
#
#   threads    ThreadSanitizer on two threads, each with its own objects
#   tidy       clang-tidy on all C, with the checks of .clang-tidy
#   fanalyzer  gcc -fanalyzer on the library
#   compilers  all C tests and examples, built by gcc and clang with -O0 and -O2
#   aarch64    all C tests and examples on an emulated aarch64
#   memcheck   all C tests and examples under valgrind
#   wasm       all C tests and examples in WebAssembly, by the compiler of make wasm
set -euo pipefail
cd "$(dirname "$0")/.."

ALL=(threads tidy fanalyzer compilers aarch64 memcheck wasm)
FLAGS=(-std=c11 -Icorelib/include -Icorelib/src)

are_here() {
    local tool
    for tool; do
        command -v "$tool" > /dev/null || { echo "skipped: $tool is not installed"; return 1; }
    done
}

build() { # folder, options of cmake ...
    cmake -S corelib -B "build/analyse/$1" -G Ninja "${@:2}" > /dev/null
    cmake --build "build/analyse/$1" -- --quiet
}

run() { # folder, options of ctest ...
    ctest --test-dir "build/analyse/$1" --parallel "$(nproc)" --output-on-failure \
        --no-tests=error "${@:2}"
}

threads() {
    build threads -DSWAPCORE_THREADS=ON
    run threads -R '^example_(two_threads|same_everywhere)$'
}

tidy() {
    are_here clang-tidy || return 0
    clang-tidy --quiet corelib/{src/*,tests,examples,fuzz}/*.c -- "${FLAGS[@]}" 2>&1 |
        sed '/^[0-9]* warnings\? generated\.$/d'
}

# False positives of gcc 12.
false_positives() { # source
    case $1 in
        # A pointer that a callback returned is set; its bytes are copied.
        */core/memory.c) echo -Wno-analyzer-use-of-uninitialized-value ;;
        # The second search for the same rules cannot fail.
        */mapping/mapping.c) echo -Wno-analyzer-null-dereference ;;
        # SETTLE follows PUT_NEXT only, which found a page.
        */machine/remove.c) echo -Wno-analyzer-null-dereference ;;
    esac
}

fanalyzer() {
    are_here gcc || return 0
    local source level
    for source in corelib/src/*/*.c; do
        for level in -O0 -O2; do # each level analyses other paths
            # shellcheck disable=SC2046 # unquoted: no argument if there are no false positives
            gcc "${FLAGS[@]}" "$level" -Werror -fanalyzer $(false_positives "$source") -c "$source" \
                -o /dev/null
        done
    done
}

compilers() {
    local compiler level
    for compiler in gcc clang; do
        are_here "$compiler" || continue
        for level in -O0 -O2; do
            build "$compiler$level" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=None \
                -DCMAKE_C_FLAGS="$level"
            run "$compiler$level"
        done
    done
}

aarch64() {
    are_here aarch64-linux-gnu-gcc qemu-aarch64 || return 0
    build aarch64 -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
        -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_EXE_LINKER_FLAGS=-static \
        -DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64
    run aarch64
}

# CMake runs tests through an emulator only when it cross-compiles, hence the system name.
memcheck() {
    are_here valgrind || return 0
    build memcheck -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS='-O1 -g' \
        -DCMAKE_CROSSCOMPILING_EMULATOR=valgrind
    VALGRIND_OPTS='--quiet --error-exitcode=1 --leak-check=full' run memcheck
}

# The core has warnings for 32 bits only: counts of 64 bits that limits and memory keep small. The
# threads of WebAssembly are stubs, so that the example with threads cannot run.
wasm() {
    local zig emulator="$PWD/build/wasm-env/bin/run-wasm"
    zig=$(echo "$PWD"/build/wasm-env/lib/python3*/site-packages/ziglang/zig)
    [ -x "$zig" ] || { echo "skipped: make wasm has not installed the compiler"; return 0; }
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "${emulator%/*}/python" "$PWD/corelib/web/run.py" > "$emulator"
    chmod +x "$emulator"
    build wasm -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=wasm32 -DCMAKE_C_COMPILER="$zig" \
        -DCMAKE_C_COMPILER_ARG1=cc -DCMAKE_C_FLAGS='--target=wasm32-wasi -w' \
        -DCMAKE_CROSSCOMPILING_EMULATOR="$emulator"
    run wasm -E example_two_threads
}

for part in "${@:-${ALL[@]}}"; do
    case " ${ALL[*]} " in
        *" $part "*) printf '\n== %s\n' "$part"; "$part" ;;
        *) echo "$part is not one of: ${ALL[*]}" >&2; exit 2 ;;
    esac
done
