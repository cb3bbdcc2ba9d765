import type { Finding } from '../../src/audit/verdict.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { loadScenario } from '../../src/scenario/parse.ts'
import { CustomerError } from '../../src/service/customers.ts'
import type { ServiceOptions } from '../../src/service/options.ts'
import { breakingUpstream, type RunningUpstream } from './breaking-upstream.ts'
import { allRateTraffic, hoursOfTraffic, rateAccounts, smallLimits } from './rate-acts.ts'
import { auditStages, type Sender, Stage } from './stage.ts'

const scenarioFile = (name: string) =>
  loadScenario(new URL(`../../scenarios/${name}.yaml`, import.meta.url).pathname)

const balance = { endpoint: 'credits' } as const
const long = {
  messages: [{ role: 'user', content: 'Count from 1 to 120, please.' }],
  maxTokens: 400,
}

/** Answers that take no time: limits count requests, not tokens. */
const instant = {
  timeToFirstUs: { kind: 'constant', value: 0 },
  betweenTokensUs: { kind: 'constant', value: 0 },
  lengthTokens: { kind: 'constant', value: 3 },
} as const

/** A contract whose windows are so small that short prompts reach them. */
const smallWindows: Contract = {
  ...defaultContract,
  models: defaultContract.models.map((model) => ({ ...model, contextWindowTokens: 300 })),
  limits: {
    ...defaultContract.limits,
    maxInputTokens: 300,
    maxOutputTokens: 120,
    maxTotalTokens: 350,
  },
}

export interface Act {
  readonly contract: Contract
  readonly options: ServiceOptions
  /** Another server that makes the answers while it is played. */
  readonly upstream: (() => Promise<RunningUpstream>) | null
  play(stage: Stage): Promise<void>
}

const act = (
  accounts: ServiceOptions['accounts'],
  play: Act['play'],
  more: Partial<ServiceOptions> = {},
  upstream: Act['upstream'] = null,
): Act => ({
  upstream,
  contract: more.contract ?? defaultContract,
  options: { ...(accounts === undefined ? {} : { accounts }), ...more },
  play,
})

/** Each a stage of its own: the audit scenarios, and what only an operator can set up. */
export const acts = {
  billing: act([{ name: 'main', balance: 3_000 }], async (stage) =>
    stage.play(await scenarioFile('audit-billing'), stage.sender('main')),
  ),
  errors: act([{ name: 'main', balance: 3_000 }], async (stage) =>
    stage.play(await scenarioFile('audit-errors'), stage.sender('main')),
  ),
  streams: act([{ name: 'main', balance: 3_000 }], async (stage) =>
    stage.play(await scenarioFile('audit-streams'), stage.sender('main')),
  ),
  exhaustion: act(
    [
      { name: 'poor', balance: 6 },
      { name: 'odd', balance: 3 },
      { name: 'burst', balance: 16 },
    ],
    async (stage) => {
      const [poor, odd, burst] = ['poor', 'odd', 'burst'].map((name) => stage.sender(name)) as [
        Sender,
        Sender,
        Sender,
      ]
      await stage.send(poor, balance)
      // What the header shows is open (G-12); what a read shows is not.
      for (let nth = 0; nth < 8; nth++) {
        await stage.send(poor, balance)
        await stage.send(poor)
      }
      await stage.send(poor, balance)
      await stage.send(odd, balance)
      for (let nth = 0; nth < 3; nth++)
        await stage.send(odd, { model: 'svc-k2.5', endpoint: nth % 2 === 0 ? 'chat' : 'messages' })
      await stage.send(odd, balance)
      await stage.send(burst, balance)
      await stage.together(20, () => stage.send(burst, long))
      await stage.send(burst, balance)
      await stage.send(burst)
      await stage.send(burst, balance)
    },
  ),
  accounts: act(
    [
      { name: 'first', balance: 2_000 },
      { name: 'second', balance: 2_000 },
    ],
    async (stage) => {
      const [first, second] = [stage.sender('first'), stage.sender('second')]
      const sibling = stage.sibling('first')
      for (const sender of [first, second]) await stage.send(sender, balance)
      for (let nth = 0; nth < 6; nth++) {
        for (const sender of [first, second, second, sibling]) await stage.send(sender)
        stage.rest(1)
      }
      await stage.together(12, (nth) => stage.send(nth % 2 === 0 ? first : sibling))
      for (const sender of [first, second]) await stage.send(sender, balance)
      // Stopped before its first token: whether that costs anything is open.
      const stopped = {
        messages: [{ role: 'user', content: 'Say: stop' }],
        body: { stop: ['stop'] },
      }
      for (const stream of [false, true]) {
        await stage.send(second, { ...stopped, stream })
        await stage.send(second, balance)
      }
      const revoked = stage.service.operator.issueKey(stage.service.keys[0]!.account, 'revoked')
      stage.service.operator.revokeKey(stage.service.keys[0]!.account, revoked)
      for (const endpoint of ['chat', 'messages'] as const) {
        await stage.send(
          { apiKey: revoked, account: 'first' },
          { endpoint },
          { expects: 'invalid-key', keyFp: null, account: null },
        )
      }
    },
  ),
  bands: act(
    [
      { name: 'band-1', balance: 90 },
      { name: 'band-2', balance: 900 },
      { name: 'band-3', balance: 9_000 },
      { name: 'band-4', balance: 50_000 },
    ],
    async (stage) => {
      for (const name of ['band-1', 'band-2', 'band-3', 'band-4']) {
        const sender = stage.sender(name)
        await stage.send(sender, balance)
        for (let nth = 0; nth < 4; nth++) await stage.send(sender)
        await stage.send(sender, { model: 'svc-k2.5' })
        await stage.send(sender, { endpoint: 'messages', stream: true })
        await stage.send(sender, balance)
      }
      // The alias of an upper case must be unknown, or cost what it stands for.
      await stage.send(stage.sender('band-4'), { model: 'SVC-K2.5' })
      await stage.send(stage.sender('band-4'), balance)
    },
  ),
  retries: act([{ name: 'main', balance: 95 }], async (stage) => {
    const sender = stage.sender('main')
    await stage.send(sender, balance)
    for (let nth = 0; nth < 50; nth++) {
      await stage.sendWithRetries(sender)
      if (nth % 10 === 9) await stage.send(sender, balance)
    }
    await stage.send(sender, balance)
  }),
  outages: act(
    [{ name: 'main', balance: 3_000 }],
    async (stage) => {
      const sender = stage.sender('main')
      await stage.send(sender, balance)
      for (let nth = 0; nth < 40; nth++) await stage.send(sender, { stream: nth % 2 === 1 })
      await stage.send(sender, balance)
    },
    { outage: { status: 503, probability: 0.2 } },
  ),
  windows: act(
    [{ name: 'main', balance: 3_000 }],
    async (stage) => {
      const sender = stage.sender('main')
      const words = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`).join(' ')
      const ask = (content: string) => ({ messages: [{ role: 'user', content }] })
      // Twice: what a read costs is told by reads alone.
      await stage.send(sender, balance)
      await stage.send(sender, balance)
      for (const endpoint of ['chat', 'messages'] as const) {
        await stage.send(sender, { endpoint, ...ask(words(700)) })
        await stage.send(sender, {
          endpoint,
          ...ask('Count from 1 to 999, please.'),
          maxTokens: 400,
        })
        await stage.send(sender, {
          endpoint,
          ...ask(`Count from 1 to 999. ${words(60)}`),
          maxTokens: 120,
        })
        await stage.send(sender, {
          endpoint,
          ...ask(`Count from 1 to 999. ${words(110)}`),
          maxTokens: 120,
        })
      }
      await stage.send(sender, balance)
    },
    { contract: smallWindows },
  ),
  slow: act(
    [{ name: 'main', balance: 3_000 }],
    async (stage) => {
      const sender = stage.sender('main')
      await stage.send(sender, balance)
      let over = false
      const stream = stage.send(sender, {
        stream: true,
        messages: [{ role: 'user', content: 'Count from 1 to 45, please.' }],
        maxTokens: 90,
      })
      void stream.then(() => {
        over = true
      })
      for (let second = 0; second < 400 && !over; second++) {
        stage.rest(1)
        if (second === 20) await stage.send(sender, balance)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      await stream
      await stage.send(sender, balance)
    },
    {
      shape: {
        timeToFirstUs: { kind: 'constant', value: 1e6 },
        betweenTokensUs: { kind: 'constant', value: 1e6 },
        lengthTokens: { kind: 'constant', value: 8 },
      },
    },
  ),
  usage: act([{ name: 'main', balance: 3_000 }], async (stage) => {
    const sender = stage.sender('main')
    const day = (offset: number) =>
      new Date(stage.service.operator.nowUs() / 1e3 + offset * 86_400e3).toISOString().slice(0, 10)
    const read = (path?: string) =>
      stage.send(sender, path === undefined ? balance : { ...balance, path })
    const [first, last] = [day(0), day(3)]
    await read()
    for (let nth = 0; nth < 3; nth++) await stage.send(sender, { stream: true })
    await stage.send(sender, {
      model: 'svc-k2.5',
      maxTokens: 40,
      messages: [{ role: 'user', content: 'Count from 1 to 30, please.' }],
    })
    for (let nth = 0; nth < 2; nth++) await stage.send(sender, { wrong: 'invalid-parameter' })
    await read()
    stage.rest(3 * 3600)
    for (let nth = 0; nth < 5; nth++) await stage.send(sender, { endpoint: 'messages' })
    await read()
    stage.rest(86_400)
    const middle = day(0)
    for (let nth = 0; nth < 4; nth++) await stage.send(sender, { model: 'svc-k2-thinking' })
    for (let nth = 0; nth < 2; nth++) {
      await read()
      await stage.send(sender, { endpoint: 'other', path: '/my-credits', method: 'GET' })
      await read()
      await stage.send(sender)
    }
    const { credits } = defaultContract.paths
    await read()
    await read(`${credits}?to=${middle}`)
    await read(`${credits}?from=${middle}`)
    await read(`${credits}?from=${first}&to=${last}`)
    await read(`${credits}?from=${first}&to=${middle}`)
    await read(`${credits}?from=${middle}&to=${last}`)
  }),
  gifts: act([{ name: 'main', balance: 100 }], async (stage) => {
    const sender = stage.sender('main')
    await stage.send(sender, balance)
    await stage.send(sender)
    for (const size of [500, 50]) {
      stage.service.operator.topUp(stage.service.keys[0]!.account, size)
      stage.rest(1)
      await stage.send(sender, balance)
      await stage.send(sender)
    }
    await stage.send(sender, balance)

    // Who was invited, and by whom, is the operator's doing; the accounts' statements show it.
    const { customers, operator } = stage.service
    const host = customers.register('host', 'host-code')
    const guest = customers.register('guest', 'guest-code', { inviteCode: 'host-code' })
    const loner = customers.register('loner', 'loner-code')
    try {
      customers.redeemInvite(loner, 'loner-code')
    } catch (error) {
      if (!(error instanceof CustomerError)) throw error
    }
    for (const bought of ['Starter', 'Standard', 'Premium']) {
      for (const account of [guest, loner]) {
        stage.rest(40)
        customers.buy(account, bought)
      }
    }
    for (const [name, account] of Object.entries({ host, guest, loner })) {
      const apiKey = operator.issueKey(account, 'ready')
      const path = `${defaultContract.paths.credits}?limit=1000`
      await stage.send({ apiKey, account: name }, { ...balance, path })
      await stage.send({ apiKey, account: name })
    }
  }),
  breaking: act(
    [{ name: 'main', balance: 3_000 }],
    async (stage) => {
      const sender = stage.sender('main')
      for (let nth = 0; nth < 4; nth++) {
        await stage.send(sender, balance)
        // A messages stream tells that it failed; one that only ends may have been cut on the way.
        await stage.send(sender, { endpoint: 'messages', stream: true })
      }
      await stage.send(sender, balance)
    },
    {},
    breakingUpstream,
  ),
  limits: act(rateAccounts, allRateTraffic, { shape: instant }),
  hours: act([{ name: 'long', balance: 5_000 }], hoursOfTraffic, {
    contract: smallLimits,
    shape: instant,
  }),
} as const satisfies Readonly<Record<string, Act>>

export type ActName = keyof typeof acts

/** Acts that put the rules of a family to work, and its faults to the test. */
const actsOfFamily: Readonly<Record<string, readonly ActName[]>> = {
  TRN: ['errors', 'outages', 'usage'],
  AUTH: ['errors', 'accounts'],
  MODEL: ['errors'],
  CHAT: ['errors', 'windows'],
  MSG: ['errors'],
  SSE: ['streams', 'slow', 'outages'],
  ERR: ['errors', 'exhaustion', 'retries'],
  LIM: ['windows', 'slow', 'errors'],
  BILL: [
    'billing',
    'streams',
    'exhaustion',
    'accounts',
    'bands',
    'retries',
    'outages',
    'slow',
    'gifts',
    'usage',
    'breaking',
  ],
  RATE: ['limits', 'bands'],
  'RATE-16': ['hours'],
  'RATE-17': ['hours'],
  USE: ['usage', 'streams'],
  PAGE: ['usage'],
}

export function actsOf(rule: string): readonly ActName[] {
  return actsOfFamily[rule] ?? actsOfFamily[rule.slice(0, rule.indexOf('-'))]!
}

/**
 * What an audit of acts against one service says of each rule: a failure in any of them counts.
 *
 * The acts are played side by side, each on a service of its own: most of their time is waiting.
 */
export async function verdictsOf(
  options: ServiceOptions,
  names: readonly ActName[] = Object.keys(acts) as ActName[],
  rules: readonly string[] = [],
): Promise<ReadonlyMap<string, Finding>> {
  const stages = await Promise.all(
    names.map(async (name) => [name, await playAct(name, options)] as const),
  )
  const verdicts = new Map<string, Finding>()
  const byContract = Map.groupBy(stages, ([name]) => acts[name].contract)
  for (const [contract, group] of byContract) {
    const report = await auditStages(
      group.map(([, stage]) => stage),
      contract,
      { rules },
    )
    for (const finding of report.findings) {
      const before = verdicts.get(finding.rule)
      if (before === undefined || weight(finding) > weight(before)) {
        verdicts.set(finding.rule, finding)
      }
    }
  }
  return verdicts
}

const order = ['not-observed', 'pass', 'inconclusive', 'fail']
const weight = ({ verdict }: Finding) => order.indexOf(verdict.verdict)

/** Plays one act against a service of these options; the stage is closed, its record kept. */
export async function playAct(name: ActName, options: ServiceOptions): Promise<Stage> {
  const { options: own, play, upstream } = acts[name] as Act
  const answering = await upstream?.()
  const stage = await Stage.open(
    { ...own, ...options, ...(answering === undefined ? {} : { upstream: answering }) },
    name,
  )
  try {
    await play(stage)
    // Whatever the service still meant to do, it does before it is closed.
    stage.rest(10)
    await new Promise((resolve) => setTimeout(resolve, 5))
  } finally {
    await stage.close()
    await answering?.close()
  }
  return stage
}
