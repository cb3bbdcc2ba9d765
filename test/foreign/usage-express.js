import { getRequestListener } from '@hono/node-server'
import { openExistingStore, usageHandler } from 'assay'
import express from 'express'

const store = await openExistingStore('assay.duckdb')
const usage = usageHandler(store, 'usage.yaml')
await usage.ready
const app = express()
app.use('/usage', getRequestListener(usage, { overrideGlobalObjects: false }))
export const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1')
server.on('close', async () => {
  await usage.close()
  store.close()
})
