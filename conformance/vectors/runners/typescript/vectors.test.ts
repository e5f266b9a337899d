// Runner for node:test: it needs exceptions.json, and KINDS, with your function for each kind of vector.
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { KINDS } from "./implementation.ts";

type Json = any;

const folder = new URL("../../", import.meta.url); // of the vectors
const fail = (text: string) => { throw Object.assign(new Error(text), { stack: "" }); };
const normal = (value: Json): Json => JSON.parse(JSON.stringify(value ?? null));

function read(name: string, where: URL): Json {
  try {
    return JSON.parse(readFileSync(new URL(name, where), "utf8"));
  } catch (problem) {
    throw new Error(`${name}: ${problem}`);
  }
}

function holds({ at, is, has, between }: Json, answer: Json): boolean {
  const value = at.split("/").slice(1).reduce((whole: Json, name: string) => whole?.[name], answer) ?? null;
  if (between) return typeof value === "number" && between[0] <= value && value <= between[1];
  if (has) return typeof value === "string" && has.some((part: string) => value.toLowerCase().includes(part));
  return is.some((one: Json) => isDeepStrictEqual(normal(one), value));
}

function difference({ kind, about, why, requirements, mistake, input, expect }: Json): string {
  let got: Json;
  try {
    got = normal(KINDS[kind](input));
  } catch (problem) {
    got = String(problem);
  }
  const expected = expect.find((rule: Json) => !holds(rule, got));
  const lines = [about, `  why: ${why}`];
  if (mistake && isDeepStrictEqual(normal(mistake.answer), got)) lines.push(`  common mistake: ${mistake.why}`);
  for (const [name, value] of Object.entries({ requirements, expected, got, input }))
    lines.push(`  ${name}: ${JSON.stringify(value)}`.slice(0, 500));
  return expected ? lines.join("\n") : "";
}

const index = read("index.json", folder);
const { version, edition, exceptions } = read("exceptions.json", new URL(import.meta.url));
const isUsable = index.version.startsWith(`${version}.`) && edition in index.editions;
const failing = new Set<string>(); // ids of vectors, and kinds without a function

for (const file of isUsable ? index.files : []) {
  const { chapter, vectors } = read(file.name, folder);
  const problems = new Map<string, string>();
  let [passed, skipped] = [0, 0];
  for (const vector of vectors.filter((one: Json) => one.editions.includes(edition))) {
    const [subject, problem] = vector.kind in KINDS ? [vector.id, difference(vector)]
      : [vector.kind, "no function, and no reason in exceptions.json, for this kind of vectors"];
    if (!problem) passed++;
    else if (exceptions[subject] || failing.has(subject)) skipped++;
    else problems.set(subject, problem);
    if (problem) failing.add(subject);
  }
  test(`${chapter}: ${passed} passed, ${skipped} skipped, ${problems.size} failed`, async (t) => {
    for (const [subject, problem] of problems) await t.test(subject, () => fail(`${subject}: ${problem}`));
  });
}

test("exceptions.json", () => {
  if (!isUsable) fail(`it is for vectors ${version} and has the edition "${edition}"; `
    + `these are ${index.version} with ${JSON.stringify(index.editions)}: read CHANGELOG.md`);
  const unused = Object.keys(exceptions).filter((name) => !failing.has(name));
  if (unused.length) fail(`it excuses ${unused}, which does not fail, or is not there`);
});
