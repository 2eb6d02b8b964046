// A 2025-11-25 task server on the TypeScript SDK 1.30.0: Streamable HTTP without sessions, as its own
// examples are written. It prints its URL, and ends when stdin closes.
//
//   node server.mjs [port]     STEPS=5 STEP_MS=600
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore
} from '@modelcontextprotocol/sdk/experimental/tasks';
import { z } from 'zod';

const STEPS = Number(process.env.STEPS ?? 5);
const STEP_MS = Number(process.env.STEP_MS ?? 600);

// One store and one queue for the whole process, because every request gets a server of its own.
const taskStore = new InMemoryTaskStore();
const taskMessageQueue = new InMemoryTaskMessageQueue();

// The work runs on after a cancel and then fails to update its task. Node would end the process.
process.on('unhandledRejection', error => console.log('unhandled:', error?.message ?? error));

const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
const text = words => ({ content: [{ type: 'text', text: words }] });

async function work(taskId, steps) {
  for (let step = 1; step <= steps; step++) {
    await pause(STEP_MS);
    console.log(`step ${step} of ${taskId}`);
    if (step < steps) await taskStore.updateTaskStatus(taskId, 'working', `step ${step}/${steps}`);
  }
  await taskStore.storeTaskResult(taskId, 'completed', text(`finished ${steps} steps`));
}

function build() {
  const tasks = { requests: { tools: { call: {} } }, list: {}, cancel: {} };
  const server = new McpServer(
    { name: 'legacy-tasks', version: '1' },
    { capabilities: { tasks }, taskStore, taskMessageQueue }
  );
  server.registerTool(
    'quick',
    { description: 'Answers at once', inputSchema: { text: z.string().optional() } },
    async given => text(`quick: ${given.text ?? 'hi'}`)
  );
  server.experimental.tasks.registerToolTask(
    'long_job',
    {
      description: 'Takes a number of steps',
      inputSchema: { steps: z.number().int().optional() },
      execution: { taskSupport: 'required' }
    },
    {
      async createTask({ steps }, extra) {
        const ttl = extra.taskRequestedTtl ?? 60000;
        const task = await extra.taskStore.createTask({ ttl, pollInterval: 500 });
        work(task.taskId, steps ?? STEPS);
        return { task };
      },
      getTask: (_given, extra) => extra.taskStore.getTask(extra.taskId),
      getTaskResult: (_given, extra) => extra.taskStore.getTaskResult(extra.taskId)
    }
  );
  return server;
}

const app = createMcpExpressApp();
app.post('/mcp', async (request, response) => {
  const server = build();
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  response.on('close', () => {
    transport.close();
    server.close();
  });
  await transport.handleRequest(request, response, request.body);
});
for (const method of ['get', 'delete']) app[method]('/mcp', (_request, response) => response.sendStatus(405));

const listening = app.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${listening.address().port}/mcp`)
);
process.stdin.on('end', () => process.exit(0));
process.stdin.resume();
