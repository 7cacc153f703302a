// Every bloom and cuckoo call that node-redis has, against a server that has guestlist.so.
//
// Arguments: the folder of node_modules and the port. The server is filled; keys start with "js". Prints what failed,
// then `N passed, N failed`.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const [folder, port] = process.argv.slice(2);
const { createClient, RESP_TYPES } = createRequire(folder + "/")("redis");

const items = Array.from({ length: 5000 }, (_, number) => `item:${number}`);
const all = (answer) => items.map(() => answer);

/** INFO is an object, a Map or an array, as the protocol and the types asked for have it. */
const field = (info, name) => (info instanceof Map ? info.get(name) : info[name]);
/** Versions before 6 have no CF.MEXISTS. */
const existMany = (cf, key, asked) =>
  cf.mExists ? cf.mExists(key, asked) : Promise.all(asked.map((item) => cf.exists(key, item)));
const refuses = (text, call) => assert.rejects(call, { message: text });

async function copy(filters, from, to) {
  for (let iterator = 0; ; ) {
    const piece = await filters.scanDump(from, iterator);
    iterator = piece.iterator;
    if (iterator === 0) return;
    assert.equal((await filters.loadChunk(to, iterator, piece.chunk)).toString(), "OK");
  }
}

const bloomCalls = {
  async reserve({ bf }, key) {
    assert.equal(await bf.reserve(key, 0.001, 1000), "OK");
    await refuses("ERR item exists", bf.reserve(key, 0.001, 1000));
    assert.equal(await bf.reserve(key + " expansion", 0.01, 100, { EXPANSION: 4 }), "OK");
    assert.equal(field(await bf.info(key + " expansion"), "Expansion rate"), 4);
    assert.equal(await bf.reserve(key + " fixed", 0.01, 100, { NONSCALING: true }), "OK");
    assert.equal(field(await bf.info(key + " fixed"), "Expansion rate"), null);
  },
  async "add and exists"({ bf }, key) {
    assert.equal(await bf.add(key, "one"), true);
    assert.equal(await bf.add(key, "one"), false);
    assert.equal(await bf.exists(key, "one"), true);
    assert.equal(await bf.exists(key, "two"), false);
    assert.equal(await bf.exists(key + " missing", "one"), false);
  },
  async "mAdd and mExists"({ bf }, key) {
    assert.deepEqual(await bf.mAdd(key, ["a", "b", "a"]), [true, true, false]);
    assert.deepEqual(await bf.mExists(key, ["a", "z", "b"]), [true, false, true]);
    await bf.mAdd(key, items);
    assert.deepEqual(await bf.mExists(key, items), all(true));
  },
  async insert({ bf }, key) {
    await refuses("ERR not found", bf.insert(key, ["a"], { NOCREATE: true }));
    const options = { CAPACITY: 500, ERROR: 0.001, EXPANSION: 3 };
    assert.deepEqual(await bf.insert(key, ["a", "b"], options), [true, true]);
    assert.deepEqual(await bf.insert(key, ["b", "c"], { NOCREATE: true }), [false, true]);
    assert.equal(field(await bf.info(key), "Expansion rate"), 3);
    assert.deepEqual(await bf.insert(key + " fixed", "a", { CAPACITY: 10, NONSCALING: true }), [true]);
  },
  async "scanDump and loadChunk"({ bf, binary }, key) {
    await bf.mAdd(key, items);
    await copy(binary.bf, key, key + " copy");
    assert.deepEqual(await bf.mExists(key + " copy", items), all(true));
    assert.equal(await bf.card(key + " copy"), await bf.card(key));
  },
  async "info and card"({ bf }, key) {
    assert.equal(await bf.card(key), 0);
    await bf.reserve(key, 0.01, 1000);
    await bf.mAdd(key, ["a", "b", "a"]);
    assert.equal(await bf.card(key), 2);
    const info = await bf.info(key);
    const names = ["Capacity", "Number of filters", "Number of items inserted", "Expansion rate"];
    assert.deepEqual(names.map((name) => field(info, name)), [1000, 1, 2, 2]);
    assert.ok(field(info, "Size") > 1000);
    await refuses("ERR not found", bf.info(key + " missing"));
  },
};

const cuckooCalls = {
  async reserve({ cf }, key) {
    assert.equal(await cf.reserve(key, 1000), "OK");
    await refuses("ERR item exists", cf.reserve(key, 1000));
    const options = { BUCKETSIZE: 8, MAXITERATIONS: 50, EXPANSION: 4 };
    assert.equal(await cf.reserve(key + " chosen", 1000, options), "OK");
    const info = await cf.info(key + " chosen");
    assert.deepEqual(["Bucket size", "Max iterations", "Expansion rate"].map((name) => field(info, name)), [8, 50, 4]);
  },
  async "add, addNX, count, exists, mExists"({ cf }, key) {
    assert.equal(await cf.add(key, "one"), true);
    assert.equal(await cf.add(key, "one"), true);
    assert.equal(await cf.addNX(key, "one"), false);
    assert.equal(await cf.addNX(key, "two"), true);
    assert.equal(await cf.count(key, "one"), 2);
    assert.equal(await cf.count(key, "three"), 0);
    assert.equal(await cf.exists(key, "one"), true);
    assert.equal(await cf.exists(key, "three"), false);
    assert.deepEqual(await existMany(cf, key, ["one", "three", "two"]), [true, false, true]);
  },
  async "insert and insertNX"({ cf }, key) {
    await refuses("ERR not found", cf.insert(key, ["a"], { NOCREATE: true }));
    assert.deepEqual(await cf.insert(key, ["a", "a"], { CAPACITY: 500 }), [true, true]);
    // Versions before 6 make booleans of RESP2's numbers.
    assert.deepEqual((await cf.insertNX(key, ["a", "b"], { NOCREATE: true })).map(Number), [0, 1]);
    assert.equal(await cf.count(key, "a"), 2);
  },
  async del({ cf }, key) {
    await cf.add(key, "one");
    assert.equal(await cf.del(key, "one"), true);
    assert.equal(await cf.del(key, "one"), false);
    assert.equal(await cf.exists(key, "one"), false);
    await refuses("Not found", cf.del(key + " missing", "one"));
  },
  async "scanDump and loadChunk"({ cf, binary }, key) {
    await cf.insert(key, items);
    await copy(binary.cf, key, key + " copy");
    assert.deepEqual(await existMany(cf, key + " copy", items), all(true));
  },
  async info({ cf }, key) {
    await cf.reserve(key, 1000);
    await cf.insert(key, ["a", "b", "c"]);
    await cf.del(key, "c");
    const info = await cf.info(key);
    const names = ["Number of filters", "Number of items inserted", "Number of items deleted"];
    assert.deepEqual(names.map((name) => field(info, name)), [1, 2, 1]);
    assert.ok(field(info, "Number of buckets") >= 512);
    await refuses("ERR not found", cf.info(key + " missing"));
  },
};

let passed = 0;
let failed = 0;
for (const protocol of [2, 3]) {
  const client = createClient({ RESP: protocol, socket: { host: "127.0.0.1", port: Number(port) } });
  client.on("error", () => {});
  await client.connect();
  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  for (const [family, calls] of Object.entries({ bf: bloomCalls, cf: cuckooCalls })) {
    for (const [name, call] of Object.entries(calls)) {
      try {
        await call({ bf: client.bf, cf: client.cf, binary }, `js${protocol}:${family}:${name}`);
        ++passed;
      } catch (reason) {
        ++failed;
        console.log(`FAILED: RESP${protocol}, ${family}.${name}: ${reason.stack.split("\n").slice(0, 3).join(" ")}`);
      }
    }
  }
  client.destroy();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
