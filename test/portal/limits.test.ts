import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeptAnswers } from '../../src/portal/api/kept-answers.ts'
import { Foreground, RequestLimit, rateLimitPolicy, Turns } from '../../src/portal/api/limits.ts'

const never = new AbortController().signal
/** Lets what waits go on. */
const settle = () => new Promise((done) => setImmediate(done))

test('an account that asks fifty questions leaves a turn to the others', async () => {
  const turns = new Turns(2, 1)
  const gates = Array.from({ length: 50 }, () => Promise.withResolvers<void>())
  const dear = gates.map(({ promise }) => turns.take('a', never, () => promise))
  await settle()
  const done = await turns.take('b', never, async () => 'cheap')
  expect(done).toBe('cheap')
  for (const { resolve } of gates) resolve()
  await Promise.all(dear)
})

test('a question that is given up frees its turn, and one that waits goes without', async () => {
  const turns = new Turns(1)
  const gate = Promise.withResolvers<void>()
  const first = turns.take('a', never, () => gate.promise)
  const stop = new AbortController()
  const second = turns.take('a', stop.signal, async () => 'second')
  const third = turns.take('a', never, async () => 'third')
  stop.abort(new Error('given up'))
  await expect(second).rejects.toThrow('given up')
  await expect(turns.take('a', stop.signal, async () => 'late')).rejects.toThrow('given up')
  gate.resolve()
  await first
  expect(await third).toBe('third')
})

test('accounts take turns: whoever waits gets one after at most one of each other account', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 }),
      async (askers) => {
        const turns = new Turns(1)
        const gate = Promise.withResolvers<void>()
        const all = [turns.take('first', never, () => gate.promise)]
        const order: string[] = []
        for (const account of askers) {
          all.push(
            turns.take(account, never, async () => {
              order.push(account)
              await settle()
            }),
          )
        }
        gate.resolve()
        await Promise.all(all)
        expect(order.toSorted()).toEqual(askers.toSorted())
        for (const [at, account] of order.entries()) {
          const before = order.lastIndexOf(account, at - 1)
          const between = order.slice(before + 1, at)
          expect(new Set(between).size).toBe(between.length)
        }
      },
    ),
  )
})

const asking = (account: string, question: string, signal = never, isLasting = true) => ({
  ...{ account, question, signal, isLasting },
})

test('an answer is made once, and given up only when nobody waits for it', async () => {
  const kept = new KeptAnswers()
  const [one, other] = [new AbortController(), new AbortController()]
  let stopped: AbortSignal | null = null
  let made = 0
  const gate = Promise.withResolvers<{ body: string; headers: Record<string, string> }>()
  const make = (signal: AbortSignal) => {
    made++
    stopped = signal
    return gate.promise
  }
  const asked = [one, other].map(({ signal }) => kept.take(asking('a', 'q', signal), make))
  one.abort()
  expect(stopped!.aborted).toBe(false)
  other.abort()
  expect(stopped!.aborted).toBe(true)
  // It is made anew for the next who asks.
  const again = kept.take(asking('a', 'q'), make)
  expect(made).toBe(2)
  gate.resolve({ body: 'b', headers: {} })
  expect(await Promise.all([again, ...asked])).toHaveLength(3)
  await kept.take(asking('a', 'q'), make)
  expect(made).toBe(2)
})

test('answers of one account do not push out those of another, and the least recently used go first', async () => {
  const kept = new KeptAnswers()
  const made: string[] = []
  const take = async (account: string, question: string) => {
    await kept.take(asking(account, question), async () => {
      made.push(`${account} ${question}`)
      return { body: 'x'.repeat(2 ** 20), headers: {} }
    })
    await settle()
  }
  await take('b', 'one')
  for (let at = 0; at < 100; at++) await take('a', `q${at}`)
  await take('b', 'one')
  await take('a', 'q99')
  expect(made.filter((each) => each === 'b one')).toHaveLength(1)
  expect(made.filter((each) => each === 'a q99')).toHaveLength(1)
  await take('a', 'q0')
  expect(made.filter((each) => each === 'a q0')).toHaveLength(2)
})

test('what gives way waits until all other work is over, and no longer than it says', async () => {
  const foreground = new Foreground()
  const order: string[] = []
  const [one, two] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const work = [foreground.during(() => one.promise), foreground.during(() => two.promise)]
  const patient = foreground.quiet(60_000).then(() => order.push('patient'))
  await foreground.quiet(1)
  order.push('hasty')
  one.resolve()
  await settle()
  order.push('one is over')
  two.resolve()
  await Promise.all([...work, patient])
  expect(order).toEqual(['hasty', 'one is over', 'patient'])
  await foreground.quiet(60_000)
})

test('a client that keeps to the policy is never refused, and one that sends more at once is', () => {
  const [q, w] = [...rateLimitPolicy.matchAll(/[qw]=(\d+)/g)].map(([, number]) => Number(number))
  const limit = new RequestLimit()
  for (let window = 0; window < 5; window++) {
    for (let nth = 0; nth < q!; nth++) limit.take('a', window * w! * 1000)
  }
  expect(() => limit.take('a', 4 * w! * 1000)).toThrow('Too many requests')
})

test('the field says how many requests are left at once, and when all are', () => {
  const limit = new RequestLimit()
  expect(limit.take('a', 0)).toBe('"token";r=19;t=1')
  expect(limit.take('a', 0)).toBe('"token";r=18;t=2')
  expect(limit.take('a', 1000)).toBe('"token";r=18;t=2')
  expect(limit.take('b', 1000)).toBe('"token";r=19;t=1')
})

test('a clock that is set back takes no request away, and no wait is longer than a second', () => {
  const limit = new RequestLimit()
  limit.take('a', 3_600_000)
  expect(limit.take('a', 0)).toBe('"token";r=18;t=2')
  for (let nth = 0; nth < 18; nth++) limit.take('a', 0)
  expect(() => limit.take('a', 0)).toThrow(
    expect.objectContaining({ retryAfterS: 1 }) as unknown as Error,
  )
})
