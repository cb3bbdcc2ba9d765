import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RunningUpstream {
  /** Base address for the service's upstream. */
  readonly url: string
  close(): Promise<void>
}

const event = (delta: object) =>
  `data: ${JSON.stringify({ id: 'up-1', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`

/**
 * A server that begins every stream and never ends one: it shows what a service does with a request
 * that fails after it began.
 */
export async function breakingUpstream(): Promise<RunningUpstream> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(event({ role: 'assistant', content: 'One' }))
      // The first words must have been passed on, or the failure is a plain 5xx.
      setTimeout(() => response.destroy(), 30)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
