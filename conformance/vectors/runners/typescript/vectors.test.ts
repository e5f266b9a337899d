// Runner for node:test: each vector is a test. Put your own code into implementation.ts, and run `npm test`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { KINDS } from "./implementation.ts";

type Json = any;
type Rule = { at: string; is?: Json[]; has?: string[]; between?: [number, number] };
type Vector = { id: string; kind: string; why: string; requirements: string[]; editions: string[]; input: Json; expect: Rule[] };

const here = new URL(".", import.meta.url);
const folder = new URL("../../", here); // of the vectors
const read = (name: string, where: URL): Json => JSON.parse(readFileSync(new URL(name, where), "utf8"));
const index = read("index.json", folder);
const exceptions = read("exceptions.json", here);
const every: Vector[] = index.files.flatMap((file: Json) => read(file.name, folder).vectors);

const normal = (value: Json): Json => JSON.parse(JSON.stringify(value));

function holds(rule: Rule, answer: Json): boolean {
  const value = rule.at.split("/").slice(1).reduce((whole, name) => whole?.[name], answer) ?? null;
  if (rule.between) return typeof value === "number" && rule.between[0] <= value && value <= rule.between[1];
  if (rule.has) return typeof value === "string" && rule.has.some((part) => value.toLowerCase().includes(part));
  return rule.is!.some((one) => isDeepStrictEqual(normal(one), normal(value)));
}

test("exceptions are up to date", () => {
  const { version } = index;
  assert.equal(version.split(".")[0], exceptions.vectors, `version ${version}: read CHANGELOG.md of the vectors`);
  const unknown = Object.keys(exceptions.known_failures).filter((id) => !every.some((vector) => vector.id === id));
  assert.deepEqual(unknown, [], "there are no such vectors");
});

for (const vector of every.filter((one) => one.editions.includes(exceptions.edition))) {
  test(vector.id, (t) => {
    if (vector.kind in exceptions.kinds) return t.skip(exceptions.kinds[vector.kind]);
    assert.ok(vector.kind in KINDS, `no answer to the kind ${vector.kind}, and no reason in exceptions.json`);
    const answer = KINDS[vector.kind](vector.input);
    const broken = vector.expect.find((rule) => !holds(rule, answer));
    if (vector.id in exceptions.known_failures) {
      assert.ok(broken, `${vector.id} passes: remove it from exceptions.json`);
      return t.skip(exceptions.known_failures[vector.id]);
    }
    const difference = `expected ${JSON.stringify(broken)}\ngot ${JSON.stringify(answer)}`;
    assert.ok(!broken, `${vector.why} ${vector.requirements}\n${difference}`);
  });
}
