import { MessageChannel } from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import { type Checked, Checks, type ToCheck } from '../../../src/run/expect/checks.ts'
import { correct } from '../../../src/run/expect/judge.ts'

const answer = { step: 0, body: 'Yes.', isWhole: true, isText: false, completionTokens: null }

afterEach(() => {
  vi.useRealTimers()
})

test('each answer gets one verdict, those of one turn of the loop in one message', async () => {
  const { port1, port2 } = new MessageChannel()
  const got: string[] = []
  const checks = new Checks<string>(port1, (ticket, verdict) =>
    got.push(`${ticket} ${verdict.answer}`),
  )
  const asked = new Promise<readonly ToCheck[]>((resolve) => port2.once('message', resolve))
  for (const ticket of ['a', 'b']) checks.ask(ticket, answer)
  const batch = await asked
  expect(batch.map(({ id }) => id)).toEqual([0, 1])
  expect(checks.size).toBe(2)
  port2.postMessage(batch.map(({ id }): Checked => ({ id, verdict: correct, shown: '' })))
  await vi.waitFor(() => expect(got).toEqual(['a correct', 'b correct']))
  expect(checks.size).toBe(0)
  checks.close()
})

test('answers that the judge never returns are unchecked, and so are all later ones', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { port1 } = new MessageChannel()
  const why: string[] = []
  const checks = new Checks<string>(port1, (ticket, verdict) =>
    why.push(`${ticket}: ${'why' in verdict ? verdict.why : ''}`),
  )
  checks.ask('a', answer)
  vi.advanceTimersByTime(9_999)
  expect(why).toEqual([])
  vi.advanceTimersByTime(1)
  checks.ask('b', answer)
  expect(why).toEqual(['a: the checks did not answer', 'b: the checks did not answer'])
  expect(checks.size).toBe(0)
  checks.close()
})

test('a judge that returns late is asked again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { port1, port2 } = new MessageChannel()
  const got: string[] = []
  const checks = new Checks<string>(port1, (ticket, verdict) =>
    got.push(`${ticket} ${verdict.answer}`),
  )
  const judged = () =>
    new Promise<void>((resolve) =>
      port2.once('message', (batch: readonly ToCheck[]) => {
        port2.postMessage(batch.map(({ id }): Checked => ({ id, verdict: correct, shown: '' })))
        port1.once('message', () => resolve())
      }),
    )
  checks.ask('a', answer)
  vi.advanceTimersByTime(10_000)
  await judged()
  const again = judged()
  checks.ask('b', answer)
  await again
  expect(got).toEqual(['a unchecked', 'b correct'])
  checks.close()
})

test('answers that do not fit beside those that wait are unchecked at once', () => {
  const { port1 } = new MessageChannel()
  let refused = 0
  const checks = new Checks<number>(port1, (_, verdict) => {
    if ('why' in verdict && verdict.why === 'the checks fell behind the load') refused++
  })
  for (let nth = 0; nth < 10_003; nth++) checks.ask(nth, answer)
  expect(refused).toBe(3)
  expect(checks.size).toBe(10_000)
  checks.close()
})
