import { createServer } from 'node:http'
import { makeReport, openExistingStore } from 'assay'

const store = await openExistingStore('assay.duckdb')
export const server = createServer(async (request, response) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const timeZone = searchParams.get('zone') ?? 'UTC'
  try {
    const { html } = await makeReport(store, { page: 'usage', timeZone })
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html)
  } catch {
    response.writeHead(400).end('This page cannot be made: is the zone right?')
  }
})
server.on('close', () => store.close())
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1')
