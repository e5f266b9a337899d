// The implementation under test, as small as it can be: put your own functions here, one for each kind.
import { spawnSync } from "node:child_process";
import { isValid } from "./reader.ts";
import { write } from "./writer.ts";

type Json = any;

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const NAME = /^atlatl-([A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*)-([0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25})\.jsonl$/;

function above(question: Json): boolean {
  const { enabled = true, threshold_tokens = 6400 } = question.settings ?? {};
  return enabled && question.estimated_tokens > threshold_tokens;
}

function name(question: Json): Json {
  const found = NAME.exec(question.name);
  if (!found) return null;
  const digits = [...found[2].slice(0, 10).toUpperCase()];
  return { operation: found[1], milliseconds: digits.reduce((value, digit) => value * 32 + CROCKFORD.indexOf(digit), 0) };
}

function cleanup(question: Json): string[] {
  const ttl = question.settings?.ttl_seconds ?? 3600;
  const due = (entry: Json) => {
    const found = name(entry);
    return found && entry.kind === "file" && found.milliseconds / 1000 + ttl < question.now;
  };
  return question.entries.filter(due).map((entry: Json) => entry.name).sort();
}

function file(question: Json): string {
  const bytes = "hex" in question ? Buffer.from(question.hex, "hex") : Buffer.from(question.text);
  return isValid(bytes) ? "valid" : "invalid";
}

function recipe(question: Json): Json[] {
  const options = ["-c", ...(question.slurp ? ["-s"] : []), ...(question.raw ? ["-r"] : [])];
  const input = question.lines.map((line: string) => line + "\n").join("");
  const done = spawnSync("jq", [...options, question.program], { input, encoding: "utf8" });
  if (done.error) throw done.error;
  const outputs = done.stdout.split("\n").slice(0, -1);
  return question.raw ? outputs : outputs.map((output) => JSON.parse(output));
}

export const KINDS: Record<string, (question: Json) => Json> = {
  decision: (question) => (above(question) ? "offloaded" : "inline"),
  estimate: (question) => Math.ceil([...question.text].length / 4),
  injection: (question) => ({
    result: above(question) ? "descriptor" : "text",
    records: above(question) ? question.found : 0,
    formatted: !above(question),
  }),
  name,
  cleanup,
  file,
  recipe,
  write,
};
