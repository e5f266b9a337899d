// Runner for node:test: it needs exceptions.json, and KINDS, with your function for each kind of vector.
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { KINDS } from "./implementation.ts";

type Json = any;

const here = new URL(".", import.meta.url);
const folder = new URL("../../", here); // of the vectors
const read = (name: string, where: URL): Json => JSON.parse(readFileSync(new URL(name, where), "utf8"));
const normal = (value: Json): Json => JSON.parse(JSON.stringify(value ?? null));
const fail = (text: string) => { throw Object.assign(new Error(text), { stack: "" }); };

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
  const lines = [about, `  why: ${why} ${requirements}`];
  if (mistake && isDeepStrictEqual(normal(mistake.answer), got)) lines.push(`  common mistake: ${mistake.why}`);
  for (const [name, value] of Object.entries({ expected, got, input }))
    lines.push(`  ${name}: ${JSON.stringify(value)}`.slice(0, 500));
  return expected ? lines.join("\n") : "";
}

const index = read("index.json", folder);
const { version, edition, exceptions } = read("exceptions.json", here);
const lacking = new Set<string>(); // kinds without a function, and known failures
const unusable = !index.version.startsWith(`${version}.`)
  ? `it is for vectors ${version}, these are ${index.version}: read CHANGELOG.md`
  : !(edition in index.editions) && `it has the edition ${edition}, the vectors have ${Object.keys(index.editions)}`;

for (const file of unusable ? [] : index.files) {
  const { chapter, vectors } = read(file.name, folder);
  const problems = new Map<string, string>();
  let [passed, skipped] = [0, 0];
  for (const vector of vectors.filter((one: Json) => one.editions.includes(edition))) {
    const [subject, problem] = vector.kind in KINDS ? [vector.id, difference(vector)] : [vector.kind, "no function"];
    if (!problem) passed++;
    else if (subject === vector.kind || exceptions[subject]) lacking.add(subject) && skipped++;
    else problems.set(subject, problem);
  }
  test(`${chapter}: ${passed} passed, ${skipped} skipped, ${problems.size} failed`, async (t) => {
    for (const [id, text] of problems) await t.test(id, () => fail(text));
  });
}

test("exceptions.json", () => {
  if (unusable) fail(unusable);
  const missing = [...lacking].filter((name) => !exceptions[name]);
  const unused = Object.keys(exceptions).filter((name) => !lacking.has(name));
  const lines = missing.length ? [`no function, and no reason here, for these kinds of vectors: ${missing}`] : [];
  if (unused.length) lines.push(`it excuses what does not fail, or is not there: ${unused}`);
  if (lines.length) fail(lines.join("\n"));
});
