import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { loadContract, loadFullContract, parseContract } from '../../src/contract/load.ts'

test('without a file the contract is that of the specification', () => {
  expect(loadContract()).toBe(defaultContract)
})

test('with extends: svc, values that a file omits are those of svc, and header names become lower case', () => {
  const contract = parseContract(
    {
      extends: 'svc',
      name: 'mine',
      headers: { credits_remaining: 'X-Balance' },
      grants: { new_account: 7 },
    },
    'mine.yaml',
  )
  expect(contract.headers).toEqual({ ...defaultContract.headers, creditsRemaining: ['x-balance'] })
  expect(contract.grants).toEqual({ ...defaultContract.grants, newAccount: 7 })
  expect(contract.models).toEqual(defaultContract.models)
})

test('the shipped example is a complete contract', () => {
  const contract = loadContract('contracts/open-gateway.yaml')
  expect(contract.models?.map((model) => model.costCredits)).toEqual([1, 3, 10, 0])
  expect(contract.headers?.creditsRemaining).toEqual(['x-account-credits'])
  expect(contract.auth?.messages).toEqual({ name: 'authorization', prefix: 'Bearer ' })
})

test('a contract that is part of itself is refused with one sentence', () => {
  const given: Record<string, unknown> = { name: 'mine' }
  given.grants = { new_account: given }
  expect(() => parseContract(given, 'mine.yaml')).toThrow(
    'mine.yaml: a value is part of itself; write it out, or leave the alias out',
  )
})

test('every fault is reported at once, with its path and the given value', () => {
  const given = {
    models: [{ id: 'a', context_window_tokens: 1, cost_credits: 'three' }],
    bands: [
      { name: 'x', min_balance: 9, max_balance: 3, requests: { minute: 1, hour: 1, day: 1 } },
    ],
    paths: { chat: 'v1/chat' },
    packages: 3,
    colour: 'red',
  }
  expect(() => parseContract(given, 'mine.yaml')).toThrowError(
    expect.objectContaining({
      name: 'UserError',
      message: expect.stringMatching(
        /mine\.yaml: not a contract.*models\.0\.cost_credits: expected a whole number of credits; got "three".*paths\.chat: expected a path that begins with \/, of printable ASCII without spaces; got "v1\/chat".*packages: expected array; got 3.*colour: no such field/s,
      ),
    }),
  )
})

test('a band that ends before it begins and two models with one name are faults', () => {
  const model = { id: 'a', context_window_tokens: 1, cost_credits: 1 }
  expect(() =>
    parseContract(
      {
        models: [model, model],
        bands: [
          { name: 'x', min_balance: 9, max_balance: 3, requests: { minute: 1, hour: 1, day: 1 } },
        ],
      },
      'mine.yaml',
    ),
  ).toThrow(/models\.1\.id.*bands\.0\.max_balance: expected 9 or more/s)
})

test('a band may have a limit of a calendar, or in flight, alone', () => {
  const calendar = [{ each: 'month', requests: 60, zone: 'Asia/Tokyo' }]
  const bands = [{ name: 'all', calendar, in_flight: 4 }]
  expect(parseContract({ extends: 'none', bands }, 'mine.yaml').bands).toMatchObject([
    { name: 'all', requests: {}, calendar, inFlight: 4 },
  ])
})

test('a balance between two bands and one header for two values are faults', () => {
  const requests = { minute: 1, hour: 1, day: 1 }
  const bands = (firstEnds: number) => [
    { name: 'x', min_balance: 1, max_balance: firstEnds, requests },
    { name: 'y', min_balance: 100, max_balance: null, requests },
  ]
  const headers = { rate_limit: 'X-Rate', rate_remaining: 'x-rate' }
  expect(() => parseContract({ bands: bands(98), headers }, 'mine.yaml')).toThrow(
    /bands\.0\.max_balance: expected 99 or more, since the next band begins at 100; got 98.*headers\.rate_remaining: expected another header than rate_limit has; got "x-rate"/s,
  )
  expect(parseContract({ bands: bands(99) }, 'mine.yaml').bands?.[0]).toMatchObject({
    maxBalance: 99,
  })
})

test('a file that is unreadable or not a mapping is refused', () => {
  expect(() => loadContract('/nowhere/contract.yaml')).toThrow(/expected a readable YAML file/)
  expect(() => parseContract([1], 'mine.yaml')).toThrow(/expected a mapping/)
})

test('without extends, a contract promises only what it says', () => {
  const models = [{ id: 'a', aliases: ['b'], cost_credits: 2 }]
  const bands = [{ name: 'all', requests: { minute: 60 } }]
  expect(parseContract({ name: 'mine', models, bands }, 'mine.yaml')).toEqual({
    name: 'mine',
    models: [{ id: 'a', aliases: ['b'], costCredits: 2, listed: true, reasoning: false }],
    bands: [
      {
        ...{ name: 'all', minBalance: 0, maxBalance: null },
        requests: { minute: 60, hour: Infinity, day: Infinity },
      },
    ],
  })
})

test('null takes back a promise of the extended contract', () => {
  const contract = parseContract(
    { extends: 'svc', name: 'mine', headers: { rate_reset: null }, packages: null },
    'mine.yaml',
  )
  expect(contract.headers).not.toHaveProperty('rateReset')
  expect(contract).not.toHaveProperty('packages')
  expect(contract.bands).toEqual(defaultContract.bands)
})

test('what is neither a contract nor a file cannot be extended', () => {
  expect(() => parseContract({ extends: 'openai', name: 'x' }, 'mine.yaml')).toThrow(
    'mine.yaml: extends: expected none, svc or a contract\'s file; got "openai", and there is no such file',
  )
})

test('the name of a model is an id, an alias or a snapshot of one model only', () => {
  const models = [
    { id: 'a', aliases: ['c'] },
    { id: 'b', snapshots: ['c'] },
  ]
  expect(() => parseContract({ name: 'x', models }, 'mine.yaml')).toThrow(
    'models.1.id: expected another name than "c", which model 0 has',
  )
})

test('the reference service refuses a contract without every promise, and says how to have them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'contract-'))
  const path = join(folder, 'mine.yaml')
  writeFileSync(path, 'name: mine\n')
  expect(() => loadFullContract(path)).toThrow(
    /needs every promise, and .*models.* Add `extends: svc`/,
  )
  writeFileSync(path, 'name: mine\nextends: svc\n')
  expect(loadFullContract(path)).toEqual({ ...defaultContract, name: 'mine' })
})

test('a contract extends none, svc, or another file, whose models it merges by id', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-extends-'))
  try {
    const file = (name: string, content: object) => {
      writeFileSync(join(folder, name), JSON.stringify(content))
      return join(folder, name)
    }
    file('base.yaml', {
      extends: 'none',
      currency: 'EUR',
      statuses: [200, 400],
      models: [
        { id: 'a', price: { input: 1, output: 2 }, aliases: ['a-1'] },
        { id: 'b', price: { request: 1 } },
      ],
    })
    const own = {
      extends: 'base.yaml',
      statuses: [200],
      models: [
        { id: 'a', price: { output: 3 } },
        { id: 'c', price: { request: 2 } },
      ],
    }
    const contract = loadContract(file('own.yaml', own))
    expect(contract).toMatchObject({ name: 'own', statuses: [200] })
    expect(contract.models!.map(({ id, aliases }) => [id, aliases])).toEqual([
      ['a', ['a-1']],
      ['b', undefined],
      ['c', undefined],
    ])
    expect(contract.prices!.currency.name).toBe('EUR')
    const [a] = contract.prices!.models
    expect(Object.keys(a!.price)).toEqual(['input', 'output'])
    expect(a!.price.output!.price).toEqual({ numerator: 3n, denominator: 1n })
    const loop = file('loop.yaml', { extends: 'loop2.yaml' })
    file('loop2.yaml', { extends: 'loop2.yaml' })
    expect(() => loadContract(loop)).toThrow('"loop2.yaml" extends this file in turn')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a price in parts of a credit is a price as others', () => {
  const { prices, models } = parseContract(
    {
      models: [
        { id: 'a', cost_credits: 0.0004 },
        { id: 'b', cost_credits: 1 },
      ],
    },
    'parts.yaml',
  )
  expect(prices!.currency).toEqual({ name: 'credits', digits: 4 })
  expect(prices!.models.map(({ price }) => price.request!.price)).toEqual([
    { numerator: 1n, denominator: 2500n },
    { numerator: 1n, denominator: 1n },
  ])
  expect(models!.map(({ costCredits }) => costCredits)).toEqual([undefined, undefined])
})

test('a currency or digits without a value are as if they were not there', () => {
  const models = [{ id: 'a', cost_credits: 0.0004 }]
  const given = { currency: null, digits: null, models }
  expect(parseContract(given, 'blank.yaml').prices!.currency).toEqual({
    ...{ name: 'credits', digits: 4 },
  })
})

const half = { id: 'a', cost_credits: 0.5 }
test.each([
  [
    { models: [{ ...half, price: { input: 2 } }] },
    'models.0.price: expected no price beside cost_credits 0.5: state the credits of a request as price.request',
  ],
  [
    { currency: 'USD', models: [half] },
    'currency: expected credits, since a model costs a part of a credit; got "USD"',
  ],
  [
    { models: [half, { id: 'b', price: { input: 3 } }] },
    'models.1.price: expected currency: credits at the top, since another model costs a part of a credit, or no such model',
  ],
])('a price of a part of a credit is not mixed with prices of another kind: %o', (given, issue) => {
  expect(() => parseContract(given, 'c.yaml')).toThrow(issue)
})

test('a price of a part of a credit stands beside one in credits that are named', () => {
  const given = { currency: 'credits', models: [half, { id: 'b', price: { input: 3 } }] }
  expect(parseContract(given, 'c.yaml').prices).toMatchObject({
    currency: { name: 'credits', digits: 1 },
    models: [
      { id: 'a', price: { request: { price: { numerator: 1n, denominator: 2n } } } },
      { id: 'b', price: { input: { price: { numerator: 3n, denominator: 1n } } } },
    ],
  })
})
