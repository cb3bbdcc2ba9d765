import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import type { Prober } from '../../src/probe/prober.ts'
import { bandChange } from '../../src/probe/questions/bands.ts'

const everyS = 0.05
const answers = ['kept', 'reset', 'scaled'] as const

/**
 * A service that counts in minutes of the clock: 60 requests from 100 credits, 20 below.
 *
 * @param edgeBefore the request of the first walk that starts a new minute
 * @param isPaced shows zero remaining, like a limiter that admits one request at a time
 */
function service(change: (typeof answers)[number], { edgeBefore = 500, isPaced = false } = {}) {
  let nowS = 60_000 - 121 - everyS * (edgeBefore - 0.5)
  let [balance, used, lastLimit] = [0, 0, 60]
  return {
    contract: defaultContract,
    setBalance: async (credits: number) => {
      balance = credits
    },
    rest: async (us: number) => {
      nowS += us / 1e6
      used = 0
    },
    chat: async () => {
      const minute = Math.floor(nowS / 60)
      nowS += everyS
      if (Math.floor(nowS / 60) !== minute) used = 0
      const limit = balance >= 100 ? 60 : 20
      if (limit < lastLimit) used = { kept: used, reset: 0, scaled: Math.floor(used / 3) }[change]
      lastLimit = limit
      const isIn = isPaced || used < limit
      if (isIn) [used, balance] = [used + 1, balance - 1]
      return {
        status: isIn ? 200 : 429,
        columns: {
          rateLimit: limit,
          rateRemaining: isPaced ? 0 : limit - used,
          dateS: Math.floor(nowS),
        },
      }
    },
  }
}

async function told(prober: ReturnType<typeof service>) {
  const asked = await bandChange.ask(prober as unknown as Prober)
  return asked['G-23']
}

test.each(answers)('G-23: a %s count is recognised wherever a minute ends', async (change) => {
  for (let edgeBefore = 1; edgeBefore <= 35; edgeBefore++) {
    expect([edgeBefore, await told(service(change, { edgeBefore }))]).toMatchObject([
      edgeBefore,
      { status: 'answered', is: { counts: change } },
    ])
  }
})

test.each(answers)('G-23: a %s count stays open if remaining is not a count', async (change) => {
  expect(await told(service(change, { isPaced: true }))).toMatchObject({
    status: 'ambiguous',
    between: { counts: [...answers] },
  })
})
