// Runner for node:test: each vector is a test. Copy this file, and write implementation.ts and exceptions.json beside it.
// Run: npm install && npm test. LRO_VECTORS: the folder of the vectors (default: two above).
// LRO_ADAPTER: a command to ask in place of implementation.ts, as `lro vectors run` does.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { KINDS } from "./implementation.ts";

type Json = any;
type Vector = { id: string; kind: string; why: string; requirements: string[]; editions: string[]; input: Json; expect: Json };

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = process.env.LRO_VECTORS ?? join(here, "..", "..");
const read = (path: string): Json => JSON.parse(readFileSync(path, "utf8"));
const exceptions = read(process.env.LRO_EXCEPTIONS ?? join(here, "exceptions.json"));
const index = read(join(folder, "index.json"));
const every: Vector[] = index.files.flatMap((f: Json) => read(join(folder, f.name)).vectors);
const vectors = every.filter((v) => v.editions.includes(exceptions.edition));

const isObject = (value: Json): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

// With `part`, objects of `b` may have further members.
function equal(a: Json, b: Json, part = false): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, n) => equal(one, b[n], part));
  if (!isObject(a) || !isObject(b)) return a === b;
  if (!part && Object.keys(a).length !== Object.keys(b).length) return false;
  return Object.keys(a).every((key) => Object.hasOwn(b, key) && equal(a[key], b[key], part));
}

const same = (wanted: Json[], got: Json): boolean =>
  Array.isArray(got) && got.length === wanted.length && wanted.every((w) => got.some((g: Json) => equal(w, g)));

const match: Record<string, (wanted: Json, got: Json) => boolean> = {
  equals: (wanted, got) => equal(wanted, got ?? null),
  same,
  contains: (wanted, got) => equal(wanted, got, true),
  between: ([low, high], got) => typeof got === "number" && low <= got && got <= high,
  any: (wanted, got) => wanted.some((one: Json) => equal(one, got)),
  breaks: (wanted, got) => (typeof got === "string" ? got === (wanted.length ? "invalid" : "valid") : same(wanted, got)),
  mentions: (wanted, got) =>
    typeof got === "string" && wanted.every((one: string[]) => one.some((word) => got.toLowerCase().includes(word.toLowerCase()))),
  members: (wanted, got) => isObject(got) && Object.entries(wanted).every(([name, expect]) => matches(expect, got[name])),
};

function matches(expect: Json, answer: Json): boolean {
  const [[comparison, wanted]] = Object.entries(expect);
  return match[comparison](wanted, answer);
}

function answers(): Map<string, Json> {
  if (!process.env.LRO_ADAPTER) {
    const known = vectors.filter((v) => v.kind in KINDS);
    return new Map(known.map((v) => [v.id, KINDS[v.kind](v.input)]));
  }
  const params = (v: Vector) => ({ vector: v.id, edition: exceptions.edition, input: v.input });
  const input = vectors.map((v, id) => JSON.stringify({ jsonrpc: "2.0", id, method: v.kind, params: params(v) }) + "\n").join("");
  const [command, ...words] = process.env.LRO_ADAPTER.split(" ");
  const done = spawnSync(command, words, { input, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["pipe", "pipe", "inherit"] });
  const replies: Json[] = done.stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return new Map(replies.filter((r) => r.result).map((r) => [vectors[r.id].id, r.result.answer]));
}

const answered = answers();

test("the version is the one that this runner was written for", () => {
  assert.equal(index.version.split(".")[0], exceptions.vectors, "read CHANGELOG.md of the vectors, then exceptions.json");
});

test("exceptions name vectors that exist", () => {
  const ids = new Set(every.map((v) => v.id));
  assert.deepEqual(Object.keys(exceptions.known_failures).filter((id) => !ids.has(id)), []);
});

for (const vector of vectors) {
  test(vector.id, (t) => {
    if (!answered.has(vector.id)) {
      assert.ok(vector.kind in exceptions.kinds, `no answer to kind ${vector.kind}, and no reason in exceptions.json`);
      return t.skip(exceptions.kinds[vector.kind]);
    }
    let answer = answered.get(vector.id);
    if (vector.kind === "write") {
      const lines = answer.file.replace(/\n$/, "").split("\n").map((line: string) => JSON.parse(line));
      answer = { ...answer, lines }; // compared by its parsed lines
    }
    const known = exceptions.known_failures[vector.id];
    const fits = matches(vector.expect, answer);
    if (known !== undefined) {
      assert.ok(!fits, `${vector.id} passes: remove it from exceptions.json`);
      return t.skip(known);
    }
    const got = JSON.stringify(answer);
    assert.ok(fits, `${vector.why} ${vector.requirements}\nexpected ${JSON.stringify(vector.expect)}\ngot ${got}`);
  });
}
