// The implementation under test, as small as it can be: put your own functions here, one for each kind.
import { spawnSync } from "node:child_process";
import { isValid } from "./reader.ts";
import { write } from "./writer.ts";

type Json = any;

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const NAME = /^atlatl-([A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*)-([0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25})\.jsonl$/;

function above(asked: Json): boolean {
  const { enabled = true, threshold_tokens = 6400 } = asked.settings ?? {};
  return enabled && asked.estimated_tokens > threshold_tokens;
}

function name(asked: Json): Json {
  const found = NAME.exec(asked.name);
  if (!found) return null;
  const digits = [...found[2].slice(0, 10).toUpperCase()];
  return { operation: found[1], milliseconds: digits.reduce((value, digit) => value * 32 + CROCKFORD.indexOf(digit), 0) };
}

function cleanup(asked: Json): string[] {
  const lives = asked.settings?.ttl_seconds ?? 3600;
  const due = (entry: Json) => {
    const found = name(entry);
    return found && entry.kind === "file" && found.milliseconds / 1000 + lives < asked.now;
  };
  return asked.entries.filter(due).map((entry: Json) => entry.name).sort();
}

function file(asked: Json): string {
  const bytes = "hex" in asked ? Buffer.from(asked.hex, "hex") : Buffer.from(asked.text);
  return isValid(bytes) ? "valid" : "invalid";
}

function recipe(asked: Json): Json[] {
  const options = ["-c", ...(asked.slurp ? ["-s"] : []), ...(asked.raw ? ["-r"] : [])];
  const input = asked.lines.map((line: string) => line + "\n").join("");
  const done = spawnSync("jq", [...options, asked.program], { input, encoding: "utf8" });
  if (done.error) throw done.error;
  const outputs = done.stdout.split("\n").slice(0, -1);
  return asked.raw ? outputs : outputs.map((output) => JSON.parse(output));
}

export const KINDS: Record<string, (asked: Json) => Json> = {
  decision: (asked) => (above(asked) ? "offloaded" : "inline"),
  estimate: (asked) => Math.ceil([...asked.text].length / 4),
  injection: (asked) => ({
    result: above(asked) ? "descriptor" : "text",
    records: above(asked) ? asked.found : 0,
    formatted: !above(asked),
  }),
  name,
  cleanup,
  file,
  recipe,
  write,
};
