import { afterEach, beforeEach, expect, test } from 'vitest'
import { flags } from '../../src/attempt/flags.ts'
import { audit } from '../../src/audit/audit.ts'
import { terminalText } from '../../src/audit/format/terminal.ts'
import { allRules } from '../../src/audit/rules/list.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { formatsOnly } from '../../src/contract/formats-only.ts'
import { parseContract } from '../../src/contract/load.ts'
import type { DeploymentProfile } from '../../src/contract/profile.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../report/attempts.ts'
import { emptyStore, type Store } from '../store/opened.ts'
import { verdictOver } from './verdict-over.ts'

let store: Store
beforeEach(async () => {
  store = await emptyStore()
  await enterEndedRun(store, 'a')
})
afterEach(() => store.close())

const foreign = (slot: number, more: object = {}) =>
  attempt(slot, {
    ...{
      model: 'gpt-4o-mini',
      responseModel: 'gpt-4o-mini-2024-07-18',
      creditsRemaining: null,
      responseId: `id-${slot}`,
    },
    ...more,
  })

test('without a contract, an unknown service is judged by the formats alone, and the first line says so', {
  tags: 'whole',
}, async () => {
  const refused = foreign(2, { status: 418, outcome: 'http_error' })
  await appendAttempts(store, [foreign(0), foreign(1), refused])
  const report = await audit(store, {})
  const [first] = terminalText(report, new Map()).split('\n')
  expect(first).toContain('by the rules of the formats alone (chat, messages, SSE, HTTP)')
  expect(terminalText(report, new Map()).replace(/\s+/g, ' ')).toMatch(
    /\d\d rules of credits, prices, limits and models NOT JUDGED\. --contract names one/,
  )
  expect(report.findings.filter(({ verdict }) => verdict.verdict === 'fail')).toEqual([])
  const of = (rule: string) => report.findings.find((finding) => finding.rule === rule)!.verdict
  expect(of('RATE-07')).toEqual({
    verdict: 'not-promised',
    promises: ['headers.rate_limit, rate_remaining or rate_reset'],
  })
  expect(of('CHAT-03')).toEqual({ verdict: 'not-promised', promises: ['models'] })
  expect(of('ERR-01')).toEqual({ verdict: 'not-promised', promises: ['statuses'] })
  expect(of('BILL-01')).toEqual({ verdict: 'not-promised', promises: ['models.cost_credits'] })
  expect(of('CHAT-02')).toMatchObject({ verdict: 'pass' })
})

test('a service that shows a balance in the header of svc is judged by the contract of svc', {
  tags: 'whole',
}, async () => {
  await appendAttempts(store, [attempt(0, { creditsRemaining: 9 })])
  expect((await audit(store, {})).contract).toBe('svc')
})

test('a balance that is no number names the contract of svc all the same, and fails it', {
  tags: 'whole',
}, async () => {
  const unreadable = { creditsRemaining: null, flags: flags.malformedCredits }
  await appendAttempts(store, [attempt(0, unreadable), attempt(1, unreadable)])
  const { contract, findings } = await audit(store, {})
  expect(contract).toBe('svc')
  expect(findings.find(({ rule }) => rule === 'BILL-09')!.verdict).toMatchObject({
    verdict: 'fail',
    observed: 'malformed on 2 of chat',
  })
})

test('what an earlier run showed of the service is not forgotten when its header is gone', {
  tags: 'whole',
}, async () => {
  await enterEndedRun(store, 'b')
  await appendAttempts(store, [
    attempt(0, { creditsRemaining: 9 }),
    attempt(0, { runId: 'b', creditsRemaining: null }),
  ])
  expect((await audit(store, { runIds: ['b'] })).contract).toBe('svc')
})

test('a profile decides whether the service is svc', { tags: 'whole' }, async () => {
  await appendAttempts(store, [foreign(0)])
  const profile = { contract: 'svc', answers: {} } as DeploymentProfile
  expect((await audit(store, { profile })).contract).toBe('svc')
  const other = { ...profile, contract: 'mine' }
  expect((await audit(store, { profile: other })).contract).toBe(formatsOnly.name)
})

test('a contract with a name and models promises only these models', {
  tags: 'whole',
}, async () => {
  const contract = parseContract({ name: 'mine', models: [{ id: 'gpt-4o-mini' }] }, 'mine.yaml')
  await appendAttempts(store, [foreign(0)])
  const { findings } = await audit(store, { contract })
  const judged = findings.filter(({ verdict }) => verdict.verdict !== 'not-promised')
  expect(judged.map(({ rule }) => rule)).toContain('CHAT-03')
  const ofSvc = judged.filter(({ rule }) => /^(RATE|BILL|USE|ERR|LIM)-/.test(rule))
  // HTTP says what a Retry-After means, a body agrees with its status, and LIM-05 is about our own client.
  expect(ofSvc.map(({ rule }) => rule)).toEqual(['ERR-06', 'LIM-05', 'RATE-19'])
})

test('the contract of svc promises all but prices in money, a limit of tokens, even rounding and counts of tokens', {
  tags: 'whole',
}, async () => {
  await appendAttempts(store, [attempt(0)])
  const { findings } = await audit(store, { contract: defaultContract })
  const open = findings.filter(({ verdict }) => verdict.verdict === 'not-promised')
  const ofPrices = allRules.filter(({ id }) => id.startsWith('PRICE-'))
  expect(open.map(({ rule }) => rule)).toEqual([
    ...['BILL-20', 'RATE-20'],
    ...ofPrices.map(({ id }) => id),
    ...[
      'SOLD-02',
      'SOLD-04',
      'SOLD-05',
      'SOLD-06',
      'SOLD-07',
      'SOLD-08',
      'SOLD-09',
      'SOLD-10',
      'SOLD-11',
    ],
  ])
  expect(findings.length).toBe(allRules.length)
})

test.each([
  [{}, 'fail'],
  [{ snapshots: 'dated' }, 'pass'],
  [{ snapshots: ['gpt-4o-mini-2024-07-18'] }, 'pass'],
  [{ aliases: ['gpt-4o-mini-2024-07-18'] }, 'pass'],
  [{ snapshots: ['gpt-4o-mini-2023-01-01'] }, 'fail'],
])('a model with %j that answers as a dated snapshot: %s', async (names, verdict) => {
  const contract = parseContract(
    { name: 'mine', models: [{ id: 'gpt-4o-mini', ...names }] },
    'mine.yaml',
  )
  expect(await verdictOver('CHAT-03', [foreign(0)], { contract })).toMatchObject({ verdict })
})

test('a date is no part of a name that only begins alike', { tags: 'whole' }, async () => {
  const contract = parseContract(
    { name: 'mine', models: [{ id: 'gpt-4o', snapshots: 'dated' }] },
    'mine.yaml',
  )
  const answer = (responseModel: string) =>
    verdictOver('CHAT-03', [foreign(0, { model: 'gpt-4o', responseModel })], { contract })
  expect(await answer('gpt-4o-2024-08-06')).toMatchObject({ verdict: 'pass' })
  expect(await answer('gpt-4o-mini-2024-07-18')).toMatchObject({ verdict: 'fail' })
})
