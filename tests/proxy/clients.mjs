// The official TypeScript client against a server: argv is its command, stdin the calls as JSON; prints what came back.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";

const [modules, ...command] = process.argv.slice(2);
const sdk = createRequire(modules + "/");
const load = (name) => import(pathToFileURL(sdk.resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

const client = new Client({ name: "interoperability", version: "1" }, { capabilities: {} });
const errors = [];
client.onerror = (error) => errors.push(String(error));
await client.connect(new StdioClientTransport({ command: command[0], args: command.slice(1), env: process.env }));
const listed = await client.listTools();
const results = [];
for (const call of JSON.parse(readFileSync(0, "utf8"))) results.push(await client.callTool(call));
await client.close();
console.log(JSON.stringify({ tools: listed.tools.length, capabilities: client.getServerCapabilities(), results, errors }));
