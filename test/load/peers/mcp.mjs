import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { freePort } from '../../../src/launch/port.mjs';
import { MCP_DIRECT } from '../names.mjs';
import { INPUT } from '../workload.mjs';

const TOOL = {
  name: 'echo',
  description: 'Answers the text it is sent',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};

/**
 * A tool call of the Model Context Protocol over Streamable HTTP, from the client straight to the server: both of its own
 * SDK, one session, its defaults. Nothing is kept.
 */
export const peers = [
  {
    file: import.meta.url,
    name: MCP_DIRECT,
    open: async () => ({ context: { port: await freePort() }, processes: {} }),
    roles: { handler, caller },
  },
];

async function handler({ port }) {
  const { Server } = await import('@modelcontextprotocol/sdk/server/index.js');
  const { StreamableHTTPServerTransport } =
    await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const { CallToolRequestSchema, ListToolsRequestSchema } =
    await import('@modelcontextprotocol/sdk/types.js');
  const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [TOOL] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: 'text', text: params.arguments.text }],
  }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  await server.connect(transport);
  const http = createServer((request, response) => void transport.handleRequest(request, response));
  await new Promise((resolve) => http.listen(port, '127.0.0.1', resolve));
}

async function caller({ port }) {
  // the client's calls leave listeners at its one signal until they are collected, and Node says so for each of them
  process.removeAllListeners('warning');
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } =
    await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
  return {
    async call() {
      const { content } = await client.callTool({ name: TOOL.name, arguments: INPUT });
      if (content[0].text !== INPUT.text) throw new Error(JSON.stringify(content));
    },
  };
}
