import { serve } from '@hono/node-server'
import { openExistingStore, usageHandler } from 'assay'
import { Hono } from 'hono'

const store = await openExistingStore('assay.duckdb')
const usage = usageHandler(store, 'usage.yaml')
await usage.ready
const app = new Hono().mount('/usage', usage)
export const server = serve({
  fetch: app.fetch,
  hostname: '127.0.0.1',
  port: Number(process.env.PORT ?? 8080),
})
server.on('close', async () => {
  await usage.close()
  store.close()
})
