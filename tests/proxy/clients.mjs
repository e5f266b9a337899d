// An official TypeScript client against a server: argv is the folder of packages, the client's generation (sdk, the
// first, or client, the second) and the server's command; stdin has the calls as JSON. Prints what came back.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";

const [modules, generation, ...command] = process.argv.slice(2);
const packages = createRequire(modules + "/");
const load = (name) => import(pathToFileURL(packages.resolve(`@modelcontextprotocol/${name}`)));
const [main, stdio] = generation === "sdk" ? ["sdk/client/index.js", "sdk/client/stdio.js"] : ["client", "client/stdio"];
const { Client } = await load(main);
const { StdioClientTransport } = await load(stdio);

const client = new Client({ name: "interoperability", version: "1" }, { capabilities: {} });
const errors = [];
client.onerror = (error) => errors.push(String(error));
await client.connect(new StdioClientTransport({ command: command[0], args: command.slice(1), env: process.env }));
const listed = await client.listTools();
const results = [];
for (const call of JSON.parse(readFileSync(0, "utf8"))) results.push(await client.callTool(call));
const capabilities = client.getServerCapabilities();
await client.close();
console.log(JSON.stringify({ tools: listed.tools.length, capabilities, results, errors }));
