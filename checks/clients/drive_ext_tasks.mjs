// Calls one tool with the official TypeScript Tasks client; prints what it saw as JSON.
//
//   node drive_ext_tasks.mjs URL TOOL JSON-ARGUMENTS ERA [CANCEL-AFTER-MS]
//
// ERA is "legacy", "modern" or "auto".
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  toolDeclarationFromMcpTool,
} from '@modelcontextprotocol/ext-tasks/client';

const [url, tool, json, era, cancelAfterMs] = process.argv.slice(2);
const REVISION = '2026-07-28';
const clientInfo = { name: 'ext-tasks', version: '0.2.2' };
const clientCapabilities = { elicitation: { form: {} } };
const seen = { asked: [], statuses: [] };

const client = new Client(clientInfo, {
  capabilities: clientCapabilities,
  versionNegotiation: { mode: era === 'modern' ? { pin: REVISION } : era },
});
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
seen.era = client.getProtocolEra();
const { tools } = await client.listTools();
const declared = new Map(tools.map((one) => [one.name, toolDeclarationFromMcpTool(one)]));

// In the modern era the client's own codecs take no result of the type "task", so ext-tasks wants
// a plain request function from its host.
let requests = 1000;
async function rawDispatch(request, { signal, context } = {}) {
  const id = ++requests;
  const name = request.params?.taskId ?? request.params?.name;
  // Headers.set and no spread: ext-tasks passes Mcp-Name itself, in a spelling of its own.
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': REVISION,
    'mcp-method': request.method,
  });
  if (name) headers.set('mcp-name', name);
  for (const [key, value] of Object.entries(context?.headers ?? {})) headers.set(key, value);
  const body = JSON.stringify({ jsonrpc: '2.0', id, ...request });
  const response = await fetch(url, { method: 'POST', signal, headers, body });
  const text = await response.text();
  const frames = (response.headers.get('content-type') ?? '').includes('event-stream')
    ? text.split(/\r?\n/).filter((line) => /^data:\s*\S/.test(line)).map((line) => line.slice(5))
    : [text];
  const answer = frames.map((one) => JSON.parse(one)).find((one) => one.id === id);
  return answer.error
    ? { kind: 'error', error: answer.error }
    : { kind: 'result', result: answer.result };
}

const session = createTaskSessionFromClient(client, {
  endpointId: `awhile:${url}`,
  tools: { currentTool: (name) => declared.get(name) },
  onInputRequest: async (request, { delivery }) => {
    seen.asked.push({ delivery, message: request.params?.message });
    return { action: 'accept', content: { database: 'sales' } };
  },
  ...(seen.era === 'modern'
    ? {
        rawDispatch,
        v2RequestFraming: { protocolVersion: REVISION, clientInfo, clientCapabilities },
      }
    : {}),
});
try {
  const task = { preference: 'prefer', retentionMs: 60_000 };
  const running = await session.callTool(tool, JSON.parse(json), { task });
  seen.kind = running.kind;
  if (cancelAfterMs) setTimeout(() => running.cancel(), Number(cancelAfterMs));
  const { outcome, lastTask } = await running.settle({
    onEvent: ({ type, task }) => {
      if (type === 'task') seen.statuses.push([task.status, task.statusMessage ?? null]);
    },
  });
  seen.outcome = outcome.status;
  seen.lastStatus = lastTask?.status;
  seen.result = resultFromTaskOutcome(outcome);
} catch (error) {
  seen.error = { name: error.name, message: error.message, code: error.code, data: error.data };
}
try {
  seen.listed = (await session.listTasks()).tasks.map((one) => one.status);
} catch (error) {
  seen.notListed = error.message;
}
await session.close();
await client.close();
process.stdout.write(JSON.stringify(seen));
process.exit(0);
