import { expect, test } from 'vitest'
import type { SendOptions } from '../../src/probe/prober.ts'
import { chargeTime } from '../../src/probe/questions/credits.ts'
import { answeredBy, told } from './answering.ts'

/** A stream with events at these times, and a balance that is read at its first event. */
async function asked(eventsMs: readonly number[], readMs: number) {
  let nowUs = 0
  const balance = 10
  const prober = answeredBy(() => 200, {
    now: () => nowUs,
    idleBalance: async () => balance,
    balances: {
      read: async () => {
        nowUs = readMs * 1000
        return 9
      },
    } as never,
  })
  Object.assign(prober, {
    chat: async (_: unknown, { onEvent }: SendOptions) => {
      onEvent?.({ atUs: eventsMs[0]! * 1000, data: '' })
      const events = eventsMs.map((ms) => ({ atUs: ms * 1000, data: '' }))
      return { status: 200, events, columns: { outcome: 'ok', doneUs: eventsMs.at(-1)! * 1000 } }
    },
  })
  return told(chargeTime, 'G-13', prober)
}

test('a balance that fell while events were still arriving was charged at the start', async () => {
  expect(await asked([20, 30, 40, 50, 60, 70, 80], 35)).toMatchObject({ is: { charge: 'start' } })
})

test('a stream whose rest came late and at once may have ended before the balance was read', async () => {
  expect(await asked([20, 30, 430, 430, 430, 430], 35)).toMatchObject({ status: 'not-askable' })
})
