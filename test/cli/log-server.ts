import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { readPriceLog } from '../../src/audit/evidence/prices/log.ts'
import { fetchLog } from '../../src/cli/usage/fetch-log.ts'
import type { Store } from '../../src/store/session/open.ts'

/** What a service answers to one read of its log. */
export interface LogAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** How the answer ends otherwise: never, or in the middle of its body. */
  readonly ends?: 'never' | 'cut'
}

/** A service that shows a log, and what it was asked. */
export async function logServer(
  answerOf: (path: string, nth: number, headers: IncomingHttpHeaders) => LogAnswer | string,
) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = request.url!
    const said = answerOf(path, asked.length, request.headers)
    asked.push(path)
    send(response, typeof said === 'string' ? { body: said } : said)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

function send(
  response: ServerResponse,
  { status = 200, headers = {}, body = '', ends }: LogAnswer,
): void {
  if (ends === 'never') return
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.statusCode = status
  if (ends === undefined) {
    response.end(body)
    return
  }
  response.setHeader('content-length', Buffer.byteLength(body) + 100)
  response.write(body)
  setTimeout(() => response.destroy(), 20)
}

/** A store whose answers have these ids. */
export const answered = (...ids: readonly string[]) =>
  ({ rows: async () => ids.map((id) => ({ id })) }) as unknown as Store

/** The ids of the rows that a log has at a place. */
export async function idsAt(
  base: string,
  get: string,
  { ids = [], patienceMs }: { ids?: readonly string[]; patienceMs?: number } = {},
): Promise<readonly (string | null)[]> {
  const text = await fetchLog(
    answered(...ids),
    ['r'],
    { get } as never,
    base,
    ...(patienceMs === undefined ? [] : [patienceMs]),
  )
  return readPriceLog(text, 'log', null).map(({ id }) => id)
}

export const rowOf = (id: string | number) => `{"id": "${id}", "cost": 1, "model": "big"}`
