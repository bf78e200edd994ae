// SPDX-License-Identifier: GPL-2.0-or-later
// The C core in WebAssembly: a classic script for pages, Blob workers and node.
//
//   const core = swapsim.core(bytes, layout);           // core.wasm and core.json
//   const rows = core.run(swapsim.models.machine, setting);
//
// A model calls functions of the core by their names, core.call("sws_machine_now", machine). A
// struct that a function returns comes as an object, an error code as an exception. What a model
// allocates, and what core.create creates, is freed at the end of core.run.
(function (root) {
  "use strict";
  const swapsim = (root.swapsim = root.swapsim || { models: {} });

  const KINDS = {
    bool: ["Uint8", 1], u8: ["Uint8", 1], i8: ["Int8", 1], u16: ["Uint16", 2], i16: ["Int16", 2],
    u32: ["Uint32", 4], i32: ["Int32", 4], u64: ["BigUint64", 8], i64: ["BigInt64", 8],
    pointer: ["Uint32", 4],
  };

  // Return a count as a number; one that a number cannot hold is an error and is never rounded.
  function exact(value) {
    const number = Number(value);
    if (!Number.isSafeInteger(number)) throw new RangeError(`${value} has more than 53 bits`);
    return number;
  }

  swapsim.core = function (bytes, layout) {
    const { functions, structs, enums, constants } = layout;
    const wasm = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
    if (wasm._initialize) wasm._initialize();
    let cached = new DataView(wasm.memory.buffer);
    let cleanup = [];
    const known = new Map();

    // The memory's view; the buffer is another one after the memory has grown.
    function view() {
      if (cached.buffer !== wasm.memory.buffer) cached = new DataView(wasm.memory.buffer);
      return cached;
    }

    const sizeOf = (kind) => (kind in structs ? structs[kind].size : KINDS[kind][1]);

    // Return a value: a number, a boolean, an object with the fields of a struct; several are an array.
    function get(kind, at, count = 1) {
      if (count > 1) return Array.from({ length: count }, (_, n) => get(kind, at + n * sizeOf(kind)));
      if (kind in structs) return read(kind, at);
      const value = view()[`get${KINDS[kind][0]}`](at, true);
      return kind === "bool" ? value !== 0 : typeof value === "bigint" ? exact(value) : value;
    }

    function set(kind, at, value) {
      if (Array.isArray(value)) return value.forEach((each, n) => set(kind, at + n * sizeOf(kind), each));
      if (kind in structs) return write(kind, at, value);
      const given = KINDS[kind][1] === 8 ? BigInt(value) : Number(value);
      view()[`set${KINDS[kind][0]}`](at, given, true);
    }

    function field(struct, at, name) {
      const [offset, kind, count] = structs[struct].fields[name];
      return get(kind, at + offset, count);
    }

    const read = (struct, at) => Object.fromEntries(
      Object.keys(structs[struct].fields).map((name) => [name, field(struct, at, name)]));

    // Set the fields that the object has; null and undefined leave a field as it is.
    function write(struct, at, values) {
      for (const [name, value] of Object.entries(values)) {
        if (!(name in structs[struct].fields)) throw new Error(`${struct} has no field ${name}`);
        const [offset, kind] = structs[struct].fields[name];
        if (value != null) set(kind, at + offset, value);
      }
    }

    function text(at) {
      if (!at) return null;
      const memory = new Uint8Array(wasm.memory.buffer);
      return new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at)));
    }

    // Return zeroed memory for so many values, or for one with these fields.
    function alloc(kind, count = 1) {
      const size = Math.max(sizeOf(kind) * count, 1);
      const at = wasm.malloc(size);
      if (!at) throw new Error(text(wasm.sws_strerror(constants.SWS_ERROR_NO_MEMORY)));
      cleanup.push(() => wasm.free(at));
      new Uint8Array(wasm.memory.buffer, at, size).fill(0);
      return at;
    }

    function call(name, ...given) {
      const [result, ...kinds] = functions[name];
      if (kinds.length !== given.length) throw new Error(`${name} takes ${kinds.length} arguments`);
      const values = given.map((value, n) => (kinds[n].endsWith("64") ? BigInt(value) : value));
      if (result in structs) {
        const at = alloc(result);
        wasm[name](at, ...values);
        return read(result, at);
      }
      const value = wasm[name](...values);
      if (result === "error" && value < 0) throw new Error(text(wasm.sws_strerror(value)));
      if (result === "text") return text(value);
      if (result === "bool") return value !== 0;
      if (result === "u64") return exact(BigInt.asUintN(64, value));
      return result === "i64" ? exact(value) : result === "u32" ? value >>> 0 : value;
    }

    // Return a config with its defaults and these values.
    function config(struct, init, values) {
      const at = alloc(struct);
      if (init) call(init, at);
      write(struct, at, values);
      return at;
    }

    // Return the handle that a function sws_X_new creates; sws_X_free frees it.
    function create(make, free, ...given) {
      const out = alloc("pointer");
      call(make, ...given, out);
      const handle = get("pointer", out);
      cleanup.push(() => call(free, handle));
      return handle;
    }

    // Return the names that a function gives to 0, 1, 2 ...
    function names(name) {
      const found = known.get(name) ?? [];
      if (!found.length) for (let each; (each = call(name, found.length)) !== null;) found.push(each);
      known.set(name, found);
      return found;
    }

    // Return the constants of an enum as words, in the order of their values.
    function words(name, prefix) {
      const found = [];
      for (const [value, word] of Object.entries(enums[name]))
        if (word.startsWith(prefix))
          found[value] = word.slice(prefix.length).toLowerCase().replaceAll("_", "-");
      return found;
    }

    // Return the number of a name; an unknown one is an error.
    function indexOf(list, word) {
      const at = list.indexOf(word);
      if (at < 0) throw new Error(`${word}: choose one of ${list.join(", ")}`);
      return at;
    }

    // Return the rows of a model; a model may run another one.
    function run(model, setting) {
      const outer = cleanup;
      cleanup = [];
      try {
        return model(core, setting);
      } finally {
        for (const each of cleanup.reverse()) each();
        cleanup = outer;
      }
    }

    const core = {
      alloc, call, config, constants, create, field, get, indexOf, names, read, run, set, words, write,
    };
    return core;
  };
})(globalThis);
