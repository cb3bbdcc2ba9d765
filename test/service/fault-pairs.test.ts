import { expect, test } from 'vitest'
import { faults } from '../../src/service/faults/list.ts'
import type { ProfileAnswers } from '../../src/service/profile.ts'
import { startService } from '../../src/service/start.ts'
import { hello, serving } from './serving.ts'

const models = faults.filter(({ rule }) => rule.startsWith('MODEL-')).map(({ name }) => name)
const usage = faults.filter(({ rule }) => rule.startsWith('USE-')).map(({ name }) => name)
const remaining = ['balance-cached-60s', 'per-key-balance']

const pairsOf = (names: readonly string[]) =>
  names.flatMap((one) => names.filter((other) => other !== one).map((other) => [one, other]))

/** The statuses of a generation and of both reads. */
async function statuses(broken: readonly string[], profile: ProfileAnswers = {}) {
  const service = await startService({ seed: 1, profile, faults: broken })
  const headers = { authorization: `Bearer ${service.keys[3]!.apiKey}` }
  const body = JSON.stringify({ ...hello, max_tokens: 1 })
  const chat = { method: 'POST', headers, body }
  const found: number[] = []
  for (const [path, request] of [
    ['/v1/chat/completions', chat],
    ['/v1/models', { headers }],
    ['/user/credits?from=2020-01-01', { headers }],
  ] as const) {
    const response = await fetch(service.baseUrl + path, request)
    await response.text()
    found.push(response.status)
  }
  await service.close()
  return found
}

test('two faults in the same answer work together, in either order', {
  tags: 'whole',
}, async () => {
  for (const pair of [...pairsOf(models), ...pairsOf([...usage, ...remaining])]) {
    expect([pair, await statuses(pair)]).toEqual([pair, [200, 200, 200]])
  }
})

test.each(['nested', 'renamed'] as const)(
  'faults in usage also break a credits body that is %s',
  async (creditsBody) => {
    for (const name of [...usage, ...remaining]) {
      expect([name, await statuses([name], { creditsBody })]).toEqual([name, [200, 200, 200]])
    }
  },
)

test.each([
  [['models-bare-array', 'model-missing', 'models-duplicated']],
  [['models-duplicated', 'model-missing', 'models-bare-array']],
])('a list of models has the effects of all faults in %j', async (broken) => {
  const list = (await (await serving({ faults: broken })).get('/v1/models')).json()
  expect(((await list) as { id: string }[]).map(({ id }) => id)).toEqual([
    'svc-k2',
    'svc-k2-thinking',
    'svc-k2',
  ])
})

test.each([
  ['flat', 'by_day'],
  ['nested', 'usage'],
  ['renamed', 'daily'],
] as const)('with no usage by hour, a %s body has none either', async (creditsBody, kept) => {
  const target = await serving({ profile: { creditsBody }, faults: ['usage-not-hourly'] })
  const body = await (await target.get('/user/credits')).text()
  expect(body).toContain(`"${kept}"`)
  expect(body).not.toMatch(/"(by_hour|hourly)"/)
})
