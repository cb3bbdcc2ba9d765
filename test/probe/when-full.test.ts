import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { probe } from '../../src/probe/probe.ts'
import type { ProbeResponse } from '../../src/probe/probe-response.ts'
import { askWhenFull, seenFirst } from '../../src/probe/questions/when-full.ts'
import { openStore } from '../../src/store/session/open.ts'
import { answeredBy } from './answering.ts'
import { probeService } from './probing.ts'

const met = (status: number | null, ms: number) => ({
  status,
  sentUs: ms * 1000,
  closedUs: (ms + 5) * 1000,
})
const open = { oneOf: ['429', '400'] }

test.each([
  ['a 429 decides, whatever came before and after', [200, 429, 400, 200], 1000, '429'],
  ['two answers between rejections decide', [429, 400, 400, 429], 1000, '400'],
  ['a service may refuse a wrong body with another status', [429, 422, 422, 429], 1000, '422'],
  ['nothing is decided if the limit had room before', [200, 400, 400, 429], 1000, open],
  ['nothing is decided if the limit had room after', [429, 400, 400, 200], 1000, open],
  ['nothing is decided if wrong requests may have used freed room', [429, 400, 400, 429], 25, open],
  ['a served answer decides nothing', [429, 200, 200, 429], 1000, open],
  ['a missing answer decides nothing', [429, null, null, 429], 1000, open],
] as const)('with a limit used up, %s', (_, statuses, freesMs, told) => {
  const [before, first, second, after] = statuses.map((status, nth) => met(status, nth * 10))
  expect(seenFirst(before!, [first!, second!], after!, freesMs * 1000)).toEqual(told)
})

test('answers with a stall between two rejections are asked again while the limit is still full', async () => {
  let ms = 0
  const prober = answeredBy(({ body }, nth) => {
    ms += nth === 1 ? 400 : 10
    const { sentUs, closedUs } = met(null, ms)
    return { status: body === undefined ? 429 : 400, columns: { sentUs, closedUs } }
  })
  const before = { columns: met(429, 0) } as unknown as ProbeResponse
  expect(await askWhenFull(prober, before, 300_000)).toBe('400')
  expect(prober.responses).toHaveLength(6)
})

/** A service that checks the rate first, and whose limit has room again after two rejections. */
async function soonFree(): Promise<string> {
  let served = 0
  let rejections = 0
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (bytes) => {
      text += bytes
    })
    request.on('end', () => {
      const { temperature } = JSON.parse(text || '{}')
      const isFull = served >= 20 && rejections < 2
      const status = isFull ? 429 : temperature > 2 ? 400 : 200
      if (isFull) rejections++
      else if (status === 200) served++
      response.writeHead(status, { 'content-type': 'application/json', 'x-ratelimit-limit': '20' })
      const message = { role: 'assistant', content: 'hi' }
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      response.end(
        JSON.stringify(
          status === 200
            ? {
                ...{ id: 'x', object: 'chat.completion', created: 1, model: 'svc-k2', usage },
                choices: [{ index: 0, message, finish_reason: 'stop' }],
              }
            : { error: { message: 'no', type: 'x', code: status === 429 ? 'rate' : 'invalid' } },
        ),
      )
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a 400 right after a rejection leaves the order open if a plain request is then admitted', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  onTestFinished(() => store.close())
  const { profile } = await probe({
    ...{ store, contract: defaultContract, baseUrl: await soonFree(), runId: 'a', apiKey: 'k' },
    ...{ secondKey: null, operator: null, maxCredits: 2_000, timeScale: 1 },
    ...{ only: ['G-21', 'G-22', 'G-26'], startedAt: new Date(0) },
    ...{ now: () => performance.now() * 1000, sleep: async () => {} },
    ...{ signal: new AbortController().signal },
  })
  expect(profile.answers['G-26']).toMatchObject({
    status: 'ambiguous',
    between: { '429 or 400': ['429', '400'] },
  })
})

test.each([
  ['429', ['key', 'rate', 'request', 'credits']],
  ['400', ['key', 'request', 'rate', 'credits']],
] as const)(
  'with a full limit and a wrong body, %s comes first',
  { tags: 'whole' },
  async (first, precedence) => {
    const { profile } = await probeService({
      profile: { algorithm: 'fixed-anchored', precedence: [...precedence] },
      only: ['G-22', 'G-26'],
    })
    expect(profile.answers['G-26']).toMatchObject({ is: { '429 or 400': first } })
  },
)
