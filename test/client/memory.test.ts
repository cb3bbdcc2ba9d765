import { expect, test } from 'vitest'
import { pageBytes, ResponseMemory } from '../../src/client/bytes/memory.ts'
import { AttemptClient } from '../../src/client/call/client.ts'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { StepCounters } from '../../src/run/count/attempt-counts.ts'
import { ask, noDeadlines, now } from './asking.ts'
import { chunk, scriptedServer, streamHead } from './scripted-server.ts'

test.each([
  ['bodies', streamHead.replace('text/event-stream', 'application/json'), '['],
  ['events', streamHead, 'data: ['],
])(
  '%s that are never whole hold no more than the memory of all answers',
  { tags: 'whole' },
  async (_what, head, begin) => {
    const answers = 8
    let begun = 0
    const sockets: (() => void)[] = []
    const { origin } = await scriptedServer((socket) => {
      socket.write(head + chunk(begin))
      sockets.push(() => socket.write(chunk('1,'.repeat(150_000))))
      // All hold something before any of them grows.
      if (++begun === answers) for (const grow of sockets) grow()
    })
    const transport = new Http1Transport({
      origin,
      maxConnections: Infinity,
      connectTimeoutMs: 5000,
    })
    const memory = new ResponseMemory(2 ** 20)
    const client = new AttemptClient({
      transport,
      contract: defaultContract,
      now,
      deadlines: { ...noDeadlines, idleUs: 300_000 },
      memory,
    })
    const reasons = await Promise.all(
      Array.from(
        { length: answers },
        () =>
          new Promise<string | null>((resolve) => {
            const onEnd = ({ reason }: { readonly reason: string | null }) => resolve(reason)
            client.start(ask({ stream: true }), { onItl: () => {}, onEnd }, 'always')
          }),
      ),
    )
    await transport.close()
    expect(memory.peakBytes).toBeLessThanOrEqual(2 ** 20)
    const lost = reasons.filter((reason) => reason === 'no-memory').length
    expect([lost, lost + reasons.filter((reason) => reason === 'idle').length]).toEqual([
      memory.givenUp,
      answers,
    ])
    expect(lost).toBeGreaterThanOrEqual(4)
    expect(memory.usedBytes).toBe(0)
  },
)

test('error codes are counted by kind, however many a service invents', () => {
  const counters = new StepCounters()
  counters.error('503 busy')
  for (let code = 0; code < 100_000; code++) counters.error(`400 ${code}`)
  counters.error('503 busy')
  expect(counters.errors.size).toBe(101)
  expect([counters.errors.get('503 busy'), counters.errors.get('others')]).toEqual([2, 99_901])
})

test('free pages give way to what is used, so both together stay within the bound', () => {
  const memory = new ResponseMemory(4 * pageBytes)
  const pages = [1, 2, 3, 4].map(() => memory.takePage()!)
  for (const page of pages) memory.givePage(page)
  expect(memory.heldBytes).toBe(4 * pageBytes)
  expect(memory.take(2 * pageBytes + 1)).toBe(true)
  expect(memory.heldBytes).toBe(3 * pageBytes + 1)
  expect(memory.takePage()).toBe(pages[0])
  expect(memory.takePage()).toBe(null)
  expect(memory.heldBytes).toBe(3 * pageBytes + 1)
})
