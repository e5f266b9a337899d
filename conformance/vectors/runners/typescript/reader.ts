// A reader of offloaded files, as small as it can be: "valid" or "invalid".
type Json = any;

const isObject = (value: Json): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: Json): boolean => typeof value === "string";
const isNatural = (value: Json): boolean => Number.isInteger(value) && value >= 0;
const isTime = (value: Json): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$/i.test(value) && !isNaN(Date.parse(value));
const isId = (value: Json): boolean => (isText(value) && value !== "") || typeof value === "number";

const HEADER: [string, (value: Json) => boolean][] = [
  ["type", (value) => value === "lro_header"],
  ["operation", isText],
  ["count", isNatural],
  ["schema_version", (value) => isText(value) && value !== ""],
  ["timestamp", (value) => isText(value) && isTime(value)],
  ["estimated_tokens", isNatural],
  ["detail", isText],
  ["query", (value) => value == null || isText(value)],
];
const RECORD: [string, (value: Json) => boolean][] = [
  ["title", isText],
  ["namespace", isText],
  ["memory_type", isText],
  ["status", isText],
  ["created", isText],
  ["modified", isText],
  ["content", isText],
  ["tags", (value) => Array.isArray(value) && value.every(isText)],
  ["provenance", isObject],
];

export function isValid(bytes: Uint8Array): boolean {
  let lines: Json[];
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    lines = text.replace(/\n$/, "").split("\n").map((line) => JSON.parse(line));
  } catch {
    return false;
  }
  const [header, ...records] = lines;
  if (!lines.every(isObject) || !HEADER.every(([name, fits]) => fits(header[name]))) return false;
  if (header.count !== records.length || records.some((one) => one.type === "lro_header")) return false;
  if ("extra" in header) return true; // the records of a proxy have any form
  const ids = new Set(records.map((one) => one.id));
  const fits = (record: Json) => isId(record.id) && RECORD.every(([name, is]) => record[name] == null || is(record[name]));
  return ids.size === records.length && records.every(fits);
}
