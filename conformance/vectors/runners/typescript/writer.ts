// A writer of offloaded files and their descriptors, as small as it can be: an example of what the vectors test.
type Json = any;

const RECIPES: [string, string][] = [
  ["Every title beside its confidence", "jq -r '[.title, .provenance.confidence] | @tsv'"],
  ["Memories under a namespace prefix", "jq 'select(.namespace | startswith(\"_semantic\"))'"],
  ["Memories with a keyword in the title", "jq 'select(.title | test(\"keyword\"; \"i\"))'"],
  ["All memories, most confident first", "jq -s 'sort_by(-.provenance.confidence)'"],
  ["Ids, titles and namespaces alone", "jq '{id, title, namespace}'"],
  ["Memories of one type", "jq 'select(.memory_type == \"semantic\")'"],
  ["Memories that mention entities", "jq 'select(.entities | length > 0)'"],
  ["How many memories each namespace holds", "jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, count: length}) | sort_by(-.count)'"],
  ["The most confident memories", "jq -s 'sort_by(-.provenance.confidence) | .[:10]'"],
  ["Memories with a pattern in the content", "jq 'select(.content | test(\"pattern\"; \"i\"))'"],
];

export const quote = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;

export type Question = {
  call: { operation: string; query?: string; detail?: string };
  records: Json[];
  output_dir: string;
  ulid: string;
  timestamp: string;
  estimated_tokens: number;
};

export function write(question: Question): Json {
  const { call, records, estimated_tokens } = question;
  const detail = call.detail ?? (call.operation === "inject" ? "medium" : "light");
  const about = { operation: call.operation, count: records.length, estimated_tokens, detail };
  const header = { type: "lro_header", ...about, query: call.query, schema_version: "1.0.0", timestamp: question.timestamp };
  const file = [header, ...records].map((line) => JSON.stringify(line) + "\n").join("");
  const file_path = `${question.output_dir}/atlatl-${call.operation}-${question.ulid}.jsonl`;
  const counts = new Map<string, number>();
  for (const { namespace } of records) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  const top_namespaces = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([name]) => name);
  const scores = records.map((r) => (call.operation === "search" ? r.score : r.provenance?.confidence)).filter((s) => s !== undefined);
  const score_range = scores.length ? [Math.min(...scores), Math.max(...scores)] : null;
  const guidance =
    `${records.length} memories were offloaded to a JSONL file (~${estimated_tokens} tokens saved).\nFile: ${file_path}\n` +
    `Detail level: ${detail}\nUse the jq recipes above to extract what is needed.\n` +
    "The header is line 1; memories start at line 2.";
  const line_schema = {
    type: "object",
    properties: { id: { type: ["string", "integer"] }, title: { type: "string" }, namespace: { type: "string" } },
    required: ["id", "title", "namespace"],
  };
  const jq_recipes = RECIPES.map(([description, jq]) => ({ description, command: `tail -n +2 ${quote(file_path)} | ${jq}` }));
  const summary = { ...about, top_namespaces, score_range };
  const descriptor = { offloaded: true, summary, file_path, line_schema, jq_recipes, guidance };
  const [first, ...others] = file.trimEnd().split("\n").map((line) => JSON.parse(line));
  return { descriptor, file, header: first, records: others };
}
