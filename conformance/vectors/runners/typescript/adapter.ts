// The adapter for `lro vectors run -- npx tsx adapter.ts`: one request on each line of stdin, one response on stdout.
import { createInterface } from "node:readline";
import { KINDS } from "./implementation.ts";

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const missing = { error: { code: -32601, message: `no ${method} here` } };
  const outcome = method in KINDS ? { result: { answer: KINDS[method](params.input) } } : missing;
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }) + "\n");
}
