// A conformant LRO memory server on the official TypeScript SDK: `node server.mjs [FAULT]`.
//
// Written from the text of the specification, in the manner of a server author who has never seen the suite. A fault is
// one override of the object below; it has the name of the fault of tests/servers/faults that errs in the same way.

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LIGHT = ["id", "title", "namespace", "memory_type", "tags", "status", "created"];
const FIELDS = { light: LIGHT, medium: [...LIGHT, "modified", "content", "entities"], full: null };
const RECIPES = [
  ["Titles with confidence", "jq -r '[.title, .provenance.confidence] | @tsv'"],
  ["By namespace prefix", "jq 'select(.namespace | startswith(\"_semantic\"))'"],
  ["By a keyword of the title", "jq 'select(.title | test(\"keyword\"; \"i\"))'"],
  ["By falling confidence", "jq -s 'sort_by(-.provenance.confidence)'"],
  ["Ids, titles and namespaces", "jq '{id, title, namespace}'"],
  ["By memory type", "jq 'select(.memory_type == \"semantic\")'"],
  ["With entities", "jq 'select(.entities | length > 0)'"],
  ["Count by namespace", "jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, count: length})'" +
    " | jq 'sort_by(-.count)'"],
  ["The ten best", "jq -s 'sort_by(-.provenance.confidence) | .[:10]'"],
  ["By a pattern in the content", "jq 'select(.content // \"\" | test(\"pattern\"; \"i\"))'"],
];

const setting = (name) => process.env[`ATLATL_PROMPT__OFFLOAD__${name}`] || undefined;

const lro = {
  enabled: setting("ENABLED") !== "false",
  thresholdTokens: Number(setting("THRESHOLD_TOKENS") ?? 6400),
  ttlSeconds: Number(setting("TTL_SECONDS") ?? 3600),
  outputDir: path.resolve(setting("OUTPUT_DIR") ?? os.tmpdir()),
  memories: Array.from({ length: 180 }, (_, n) => memory(n)),

  find(operation, query) {
    const terms = (query === "*" ? "" : query).toLowerCase().split(/\s+/).filter(Boolean);
    const hits = this.memories
      .map((m) => {
        const text = `${m.title} ${m.namespace} ${m.content} ${m.id}`.toLowerCase();
        return [m, terms.length ? terms.filter((t) => text.includes(t)).length / terms.length : 1];
      })
      .filter(([, score]) => score > 0);
    if (operation !== "search") return hits.map(([m]) => m);
    return hits.sort((a, b) => b[1] - a[1]).map(([m, score]) => ({ ...m, score }));
  },

  atDetail(record, detail) {
    const fields = FIELDS[detail];
    if (fields === null) return record;
    const made = Object.fromEntries(fields.filter((f) => f in record).map((f) => [f, record[f]]));
    if (record.provenance?.confidence !== undefined) made.provenance = { confidence: record.provenance.confidence };
    if (record.score !== undefined) made.score = record.score;
    return made;
  },

  // A quarter of a token for each character, a whole one where scripts are wide.
  estimate: (records) =>
    Math.ceil(
      records
        .map((r) => JSON.stringify(r))
        .reduce((sum, text) => sum + text.length + 3 * (text.match(/[\u2e80-\uffff]/g) ?? []).length, 0) / 4,
    ),

  tokens(call) {
    return this.estimate(call.records);
  },

  exceeds: (tokens, threshold) => tokens > threshold,

  offer(operation, { query = "*", limit, detail, max_tokens: budget = 2000 }) {
    detail ??= operation === "inject" ? "medium" : "light";
    const found = this.find(operation, query).slice(0, limit);
    const call = { operation, query, detail, budget, found, records: found.map((r) => this.atDetail(r, detail)) };
    call.tokens = this.tokens(call);
    if (!this.enabled || !this.exceeds(call.tokens, this.thresholdTokens)) return this.inline(call);
    try {
      return answer(this.descriptor(call, this.write(call)), operation !== "inject");
    } catch (problem) {
      if (problem.code === undefined) throw problem;
      emit("warning", "OffloadWriteFailed", { operation, error: problem.message });
      return this.failed(call, problem);
    }
  },

  inline(call, warning) {
    if (call.operation === "inject") return { content: [{ type: "text", text: this.context(call, warning) }] };
    const told = warning === undefined ? {} : { truncated: true, warning };
    return answer({ count: call.records.length, results: call.records, ...told });
  },

  context(call, warning) {
    let text = warning === undefined ? "# Memories" : `Warning: ${warning}`;
    for (const { title, content = "" } of call.records) {
      const more = `\n\n## ${title}\n${content}`;
      if ((text.length + more.length) / 4 > call.budget) break;
      text += more;
    }
    return text;
  },

  failed(call, problem) {
    let kept = call.records.length;
    while (kept > 0 && this.estimate(call.records.slice(0, kept)) > this.thresholdTokens) kept -= 1;
    const warning = `could not be offloaded (${problem.code}): truncated to ${kept} of ${call.records.length} memories`;
    const budget = Math.min(call.budget, this.thresholdTokens);
    return this.inline({ ...call, budget, records: call.records.slice(0, kept) }, warning);
  },

  write(call) {
    const name = `atlatl-${call.operation}-${ulid()}.jsonl`;
    const header = {
      type: "lro_header",
      operation: call.operation,
      query: call.query,
      count: call.records.length,
      schema_version: "1.0.0",
      timestamp: new Date().toISOString(),
      estimated_tokens: call.tokens,
      detail: call.detail,
    };
    const file = path.join(this.outputDir, name);
    const part = path.join(this.outputDir, `.${name}.part`);
    try {
      const lines = [header, ...call.records].map((line) => `${JSON.stringify(line)}\n`);
      fs.writeFileSync(part, lines.join(""), { mode: 0o600, flag: "wx" });
      fs.renameSync(part, file);
    } catch (problem) {
      fs.rmSync(part, { force: true });
      throw problem;
    }
    return file;
  },

  summary(call) {
    const counts = new Map();
    for (const { namespace } of call.records) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
    const top = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 5);
    const scores = call.records
      .map((r) => (call.operation === "search" ? r.score : r.provenance?.confidence))
      .filter((score) => typeof score === "number");
    return {
      count: call.records.length,
      estimated_tokens: call.tokens,
      operation: call.operation,
      top_namespaces: top.map(([namespace]) => namespace),
      score_range: scores.length ? [Math.min(...scores), Math.max(...scores)] : null,
      detail: call.detail,
    };
  },

  recipes: () => RECIPES,

  descriptor(call, file) {
    const word = `'${file.replaceAll("'", "'\\''")}'`;
    const summary = this.summary(call);
    return {
      offloaded: true,
      summary,
      file_path: file,
      line_schema: lineSchema(call.detail),
      jq_recipes: this.recipes().map(([description, program]) => ({
        description,
        command: `tail -n +2 ${word} | ${program}`,
      })),
      guidance: [
        `${summary.count} memories were offloaded to a file (~${call.tokens} tokens saved).`,
        `File: ${file}`,
        `Detail level: ${call.detail}`,
        "Recipes: #1 to browse titles, #2 to filter by namespace, #3 by keyword, #8 to count by namespace.",
        "Read the whole file only when you need the complete set.",
        "Line 1 is a header with metadata; the memories begin at line 2.",
      ].join("\n"),
    };
  },

  cleanUp() {
    const mine = /^atlatl-.+-([0-7][0-9A-HJKMNP-TV-Z]{25})\.jsonl$/;
    let deleted = 0;
    for (const entry of fs.readdirSync(this.outputDir, { withFileTypes: true })) {
      const match = mine.exec(entry.name);
      if (!entry.isFile() || match === null) continue;
      const created = [...match[1].slice(0, 10)].reduce((ms, c) => ms * 32 + CROCKFORD.indexOf(c), 0);
      if (created + this.ttlSeconds * 1000 > Date.now()) continue;
      fs.rmSync(path.join(this.outputDir, entry.name));
      emit("info", "OffloadFileExpired", { path: path.join(this.outputDir, entry.name) });
      deleted += 1;
    }
    return deleted;
  },
};

const FAULTS = {
  offloads_at_equal_threshold: { exceeds: (tokens, threshold) => tokens >= threshold },
  estimates_at_full_detail: {
    tokens(call) {
      return this.estimate(call.found);
    },
  },
  summary_count_includes_the_header: {
    summary(call) {
      const told = plain.summary.call(this, call);
      return { ...told, count: told.count + 1 };
    },
  },
  recipe_4_sorts_upwards: {
    recipes: () => RECIPES.map(([about, program], n) => [about, n === 3 ? program.replace("(-", "(") : program]),
  },
  write_failure_is_a_tool_error: {
    failed: (_call, problem) => ({ content: [{ type: "text", text: problem.message }], isError: true }),
  },
};

function memory(n) {
  const places = ["_semantic/decisions", "_semantic/knowledge", "_episodic/incidents", "_procedural/runbooks", "project"];
  const place = places[Math.floor(Math.sqrt((n * 25) / 180))];
  const words = ["rotate keys", "cache Keyword", "retry pattern", "設定を統一する", 'a "quoted" café 🚀', "index\u2028rebuild"];
  return {
    id: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
    title: `${words[n % words.length]} ${n}`,
    namespace: place,
    memory_type: ["semantic", "episodic", "procedural"][n % 3],
    tags: n % 2 ? ["ops"] : [],
    status: "active",
    created: new Date(Date.UTC(2026, n % 12, 1 + (n % 28))).toISOString(),
    modified: new Date(Date.UTC(2026, n % 12, 2 + (n % 28))).toISOString(),
    content: `${"A memory of what was agreed, and why; the Pattern held.\n".repeat(1 + (n % 9))}${words[(n + 1) % words.length]}`,
    entities: n % 3 ? [{ name: `service-${n % 7}`, type: "service" }] : [],
    provenance: { confidence: ((n * 37) % 97) / 100, source_type: "observation" },
    extensions: { rank: n / 8 },
  };
}

function lineSchema(detail) {
  const text = { type: "string" };
  const properties = {
    id: text,
    title: text,
    namespace: text,
    memory_type: text,
    tags: { type: "array", items: text },
    provenance: { type: "object", properties: { confidence: { type: "number" } } },
    ...(detail === "light" ? {} : { content: text, entities: { type: "array" } }),
  };
  return { type: "object", properties, required: ["id", "title", "namespace", "memory_type"] };
}

function ulid() {
  let value = (BigInt(Date.now()) << 80n) | BigInt(`0x${randomBytes(10).toString("hex")}`);
  let text = "";
  for (let place = 0; place < 26; place += 1, value >>= 5n) text = CROCKFORD[Number(value & 31n)] + text;
  return text;
}

function answer(value, structured = true) {
  const content = [{ type: "text", text: JSON.stringify(value) }];
  return structured ? { content, structuredContent: value } : { content };
}

function emit(level, event, data) {
  server.sendLoggingMessage({ level, logger: "prompt.offload", data: { event, ...data } });
}

const plain = { ...lro };
Object.assign(lro, FAULTS[process.argv[2]]);

const server = new McpServer({ name: "typescript-memory", version: "1.0.0" }, { capabilities: { logging: {} } });
const asked = {
  query: z.string().optional(),
  limit: z.number().int().min(0).optional(),
  detail: z.enum(["light", "medium", "full"]).optional(),
};
for (const [operation, name, more] of [
  ["recall", "recall_memories", {}],
  ["search", "search_memories", {}],
  ["inject", "inject_context", { max_tokens: z.number().int().min(0).optional() }],
]) {
  server.registerTool(
    name,
    { description: `${operation} memories`, inputSchema: z.object({ ...asked, ...more }) },
    async (given) => lro.offer(operation, given),
  );
}
server.registerTool(
  "store_memory",
  { description: "Store a memory", inputSchema: z.object({ memory: z.record(z.string(), z.unknown()) }) },
  async ({ memory: given }) => {
    lro.memories.push({ tags: [], status: "active", content: "", entities: [], ...given });
    return answer({ id: given.id });
  },
);
server.registerTool(
  "run_custodial_task",
  { description: "Clean up", inputSchema: z.object({ task: z.literal("offload_cleanup") }) },
  async () => answer({ deleted: lro.cleanUp() }),
);

await server.connect(new StdioServerTransport());
