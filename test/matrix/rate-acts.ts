import type { FullContract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { type Act, act } from './act.ts'
import type { Sender, Stage } from './stage.ts'

/** Accounts for the traffic below: one in each band, and one above the lowest edge. */
const rateAccounts = [
  { name: 'lowest', balance: 95 },
  { name: 'second', balance: 900 },
  { name: 'third', balance: 9_000 },
  { name: 'highest', balance: 50_000 },
  { name: 'edge', balance: 103 },
]

/**
 * Traffic that exercises every rate rule: more than twice the limit in a row, again at another
 * phase, a single request after a bucket would have refilled some, polling until the window is
 * over, concurrent bursts at two phases, both endpoints and several keys in turn, errors and reads
 * in between, and a slow walk over the lowest edge that continues after a minute's rest.
 */
async function allRateTraffic(stage: Stage): Promise<void> {
  const [lowest, second, third, highest, edge] = rateAccounts.map(({ name }) =>
    stage.sender(name),
  ) as [Sender, Sender, Sender, Sender, Sender]
  const messages = { endpoint: 'messages' } as const
  const sibling = stage.sibling('second')
  const beganUs = stage.now()
  await sequence(stage, lowest, 45, 0.02)
  // Begins 38 tokens and a half later, for any answer times: no tick of a bucket falls into both.
  stage.rest(115.5 - (stage.now() - beganUs) / 1e6)
  await sequence(stage, lowest, 22, 0.02)
  stage.rest(137)
  await sequence(stage, lowest, 22, 0.05)
  stage.rest(12)
  await stage.send(lowest)
  await sequence(stage, lowest, 28, 2)
  stage.rest(133)
  await stage.together(150, () => stage.send(second))
  stage.rest(80)
  await stage.send(second)
  stage.rest(151)
  await stage.together(150, () => stage.send(second, messages))
  stage.rest(143)
  for (let nth = 0; nth < 6; nth++) {
    await stage.send(second)
    await stage.send(third)
    await stage.send(second, messages)
    stage.rest(0.3)
  }
  await stage.send(second, { wrong: 'invalid-parameter' })
  await stage.send(second, { endpoint: 'models' })
  await stage.send(second, { endpoint: 'credits' })
  await stage.send(second, { wrong: 'invalid-key' })
  await stage.send(second, { wrong: 'unknown-model' })
  stage.rest(125)
  for (let nth = 0; nth < 5; nth++) {
    await stage.send(second)
    await stage.send(second)
    await stage.send(sibling)
  }
  stage.rest(131)
  for (let nth = 0; nth < 13; nth++) {
    await stage.send(lowest)
    await stage.send(third)
  }
  stage.rest(20)
  await stage.send(lowest)
  stage.rest(150)
  await sequence(stage, edge, 12, 3)
  stage.rest(75)
  await sequence(stage, edge, 3, 0.2)
  await sequence(stage, highest, 8, 2, { stream: true })
}

/** Limits so low that hours and days can be filled in a moment. */
const smallLimits: FullContract = {
  ...defaultContract,
  bands: [
    { name: 'all', minBalance: 1, maxBalance: null, requests: { minute: 20, hour: 50, day: 120 } },
  ],
}

/** Six hours in which the hour's limit is reached several times over. */
async function hoursOfTraffic(stage: Stage): Promise<void> {
  const sender = stage.sender('long')
  for (let hour = 0; hour < 6; hour++) {
    for (let minute = 0; minute < 4; minute++) {
      await sequence(stage, sender, 18, 0.1)
      stage.rest(61)
    }
    stage.rest(3600 - 240)
  }
}

async function sequence(
  stage: Stage,
  sender: Sender,
  count: number,
  gapS: number,
  change: Parameters<Stage['send']>[1] = {},
): Promise<void> {
  for (let nth = 0; nth < count; nth++) {
    await stage.send(sender, change)
    stage.rest(gapS)
  }
}

/** Answers that take no time: limits count requests, not tokens. */
const instant = {
  timeToFirstUs: { kind: 'constant', value: 0 },
  betweenTokensUs: { kind: 'constant', value: 0 },
  lengthTokens: { kind: 'constant', value: 3 },
} as const

/** Requests that fill the windows of the limits. */
export const rateActs = {
  limits: act(rateAccounts, allRateTraffic, { shape: instant }),
  hours: act([{ name: 'long', balance: 5_000 }], hoursOfTraffic, {
    contract: smallLimits,
    shape: instant,
  }),
} as const satisfies Readonly<Record<string, Act>>
