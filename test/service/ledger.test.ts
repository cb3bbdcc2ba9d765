import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { Accounts } from '../../src/service/ledger/accounts.ts'
import { Database } from '../../src/service/ledger/database.ts'
import { Ledger } from '../../src/service/ledger/ledger.ts'
import { startService } from '../../src/service/start.ts'
import { manualClock } from './manual-clock.ts'

const startUs = 1_800_000_000e6
const note = {
  keyId: 1,
  requestId: 'r',
  endpoint: 'chat',
  model: 'svc-k2',
  stream: false,
  promptTokens: 1,
  completionTokens: 1,
}

/** A ledger in memory with one account, and a stopped clock. */
function withAccount(burnOrder: 'expiry' | 'purchase') {
  const clock = manualClock(startUs)
  const database = new Database(':memory:', 'process')
  const ledger = new Ledger(database, clock, burnOrder)
  return { clock, database, ledger, account: new Accounts(database, clock).add('a', 'code') }
}

type Step =
  | { readonly kind: 'grant'; readonly credits: number; readonly livesUs: number | null }
  | { readonly kind: 'charge'; readonly credits: number }
  | { readonly kind: 'wait'; readonly us: number }
  | { readonly kind: 'reserve'; readonly credits: number }
  | { readonly kind: 'settle' }
  | { readonly kind: 'release' }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('grant' as const),
    credits: fc.integer({ min: 1, max: 30 }),
    livesUs: fc.option(fc.integer({ min: 1, max: 100 })),
  }),
  fc.record({ kind: fc.constant('charge' as const), credits: fc.constantFrom(1, 2, 7) }),
  fc.record({ kind: fc.constant('wait' as const), us: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ kind: fc.constant('reserve' as const), credits: fc.constantFrom(1, 2) }),
  fc.constant({ kind: 'settle' as const }),
  fc.constant({ kind: 'release' as const }),
)

/** Credits one by one: the obvious way, and far too slow for a service. */
class Oracle {
  #coins: { readonly order: number; readonly expiresUs: number }[] = []
  #order = 0
  readonly held: number[] = []

  grant(credits: number, expiresUs: number): void {
    this.#order++
    for (let coin = 0; coin < credits; coin++) this.#coins.push({ order: this.#order, expiresUs })
    this.#coins.sort((a, b) => a.expiresUs - b.expiresUs || a.order - b.order)
  }

  /** Expired credits are removed, first those that are spent first, except as many as are held. */
  expire(nowUs: number): void {
    const heldCredits = this.held.reduce((sum, credits) => sum + credits, 0)
    while (this.#coins.length > heldCredits && (this.#coins[0]?.expiresUs ?? Infinity) <= nowUs) {
      this.#coins.shift()
    }
  }

  free(): number {
    return this.#coins.length - this.held.reduce((sum, credits) => sum + credits, 0)
  }

  burn(credits: number): void {
    this.#coins.splice(0, credits)
  }

  get balance(): number {
    return this.#coins.length
  }
}

test('the ledger agrees with counting credits one by one, for any sequence of entries', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = manualClock(startUs)
      const database = new Database(':memory:', 'process')
      const ledger = new Ledger(database, clock, 'expiry')
      const account = new Accounts(database, clock).add('a', 'code')
      const oracle = new Oracle()
      for (const each of steps) {
        oracle.expire(clock.nowUs())
        switch (each.kind) {
          case 'grant': {
            const expiresUs = each.livesUs === null ? null : clock.nowUs() + each.livesUs
            ledger.move(account, each.credits, 'purchase', 'pack', { expiresUs })
            oracle.grant(each.credits, expiresUs ?? Number.POSITIVE_INFINITY)
            break
          }
          case 'charge': {
            const affordable = oracle.free() >= each.credits
            expect(ledger.charge(account, each.credits, 0, note) !== null).toBe(affordable)
            if (affordable) oracle.burn(each.credits)
            break
          }
          case 'reserve': {
            const left = oracle.free() - each.credits
            expect(ledger.reserve(account, each.credits)).toBe(left < 0 ? null : left)
            if (left >= 0) oracle.held.push(each.credits)
            break
          }
          case 'settle': {
            const credits = oracle.held.pop()
            if (credits === undefined) break
            expect(ledger.charge(account, credits, credits, note)).toMatchObject({
              ...{ before: oracle.balance, after: oracle.balance - credits },
            })
            oracle.burn(credits)
            break
          }
          case 'release': {
            const credits = oracle.held.pop()
            if (credits !== undefined) ledger.release(account, credits)
            break
          }
          case 'wait':
            clock.advance(each.us)
        }
        oracle.expire(clock.nowUs())
        const { balance, held } = ledger.balance(account)
        expect([balance, balance - held]).toEqual([oracle.balance, oracle.free()])
        expect(balance - held).toBeGreaterThanOrEqual(0)
      }
      const lots = ledger.lotsOf(account).reduce((sum, { remaining }) => sum + remaining, 0)
      expect(lots).toBe(ledger.balance(account).balance)
      const entries = database.sql.prepare('SELECT sum(credits) AS sum FROM entries').get()!
      expect(Number(entries.sum ?? 0)).toBe(ledger.balance(account).balance)
      void database.close()
    }),
    { numRuns: 150 },
  )
})

test('credits are spent in order of purchase if the profile says so', async () => {
  const { clock, database, ledger, account } = withAccount('purchase')
  ledger.move(account, 10, 'purchase', 'lasting')
  ledger.move(account, 10, 'purchase', 'fleeting', { expiresUs: startUs + 100 })
  ledger.charge(account, 7, 0, note)
  clock.advance(100)
  expect(ledger.balance(account).balance).toBe(3)
  await database.close()
})

test('a key is stored as its hash, and a revoked key stays known', async () => {
  const clock = manualClock(startUs)
  const database = new Database(':memory:', 'process')
  const accounts = new Accounts(database, clock)
  const account = accounts.add('a', 'code')
  const { id } = accounts.addKey(account, 'k', 'sk-svc-secret')
  expect(accounts.findKey('sk-svc-secret')).toMatchObject({ id, hint: 'cret', revokedUs: null })
  expect(accounts.revokeKey(account + 1, id)).toBe(false)
  expect(accounts.revokeKey(account, id)).toBe(true)
  expect(accounts.revokeKey(account, id)).toBe(false)
  expect(accounts.findKey('sk-svc-secret')?.revokedUs).toBe(startUs)
  const rows = JSON.stringify(database.sql.prepare('SELECT * FROM api_keys').all())
  expect(rows).not.toContain('secret')
  await database.close()
})

test('an expiry is recorded at its own time, however late it is noticed', () => {
  const { clock, database, ledger, account } = withAccount('expiry')
  ledger.move(account, 10, 'purchase', 'short', { expiresUs: startUs + 100 })
  ledger.move(account, 10, 'purchase', 'long', { expiresUs: startUs + 200 })
  ledger.reserve(account, 14)
  clock.advance(150)
  // Six of the short-lived credits expire; four are held by a request until it is done, and expire
  // after it.
  expect(ledger.balance(account).balance).toBe(14)
  clock.advance(10)
  ledger.charge(account, 1, 1, note)
  ledger.release(account, 13)
  clock.advance(5_000)
  expect(ledger.balance(account).balance).toBe(0)
  const entries = database.sql.prepare('SELECT kind, credits, at_us FROM entries ORDER BY id').all()
  expect(
    entries.map(({ kind, credits, at_us: at }) => [kind, credits, Number(at) - startUs]),
  ).toEqual([
    ['purchase', 10, 0],
    ['purchase', 10, 0],
    ['expiry', -6, 100],
    ['charge', -1, 160],
    ['expiry', -3, 160],
    ['expiry', -10, 200],
  ])
  void database.close()
})

test('credits that an operator took from a running request are not charged, and are not held forever', async () => {
  const { database, ledger, account } = withAccount('expiry')
  ledger.move(account, 10, 'grant', 'free credits')
  ledger.reserve(account, 2)
  ledger.move(account, -9, 'adjustment', 'set by the operator')
  expect(ledger.charge(account, 2, 2, note)).toBeNull()
  expect(ledger.balance(account)).toMatchObject({ balance: 1, held: 0 })
  await database.close()
})

test('an account and its key are in the file before anybody learns of them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-ledger-'))
  const dataPath = join(folder, 'ledger.db')
  const service = await startService({ dataPath, accounts: [{ name: 'a', balance: 7 }] })
  // Another reader of the file sees committed data, as after a `kill -9`.
  const file = new DatabaseSync(dataPath, { readOnly: true })
  onTestFinished(async () => {
    file.close()
    await service.close()
    rmSync(folder, { recursive: true })
  })
  const told = file.prepare(
    'SELECT a.name, a.balance, k.hash FROM accounts a JOIN api_keys k ON k.account_id = a.id',
  )
  expect(told.all()).toEqual([
    { name: 'a', balance: 7, hash: hash('sha256', service.keys[0]!.apiKey) },
  ])
})

test.each(['expiry', 'purchase'] as const)(
  'burning by %s: what is paid back is in the lots it came from, whether or not the account was read, and expires with them',
  (burnOrder) => {
    for (const isRead of [false, true]) {
      const { clock, ledger, account } = withAccount(burnOrder)
      const left = () => ledger.lotsOf(account).map(({ source, remaining }) => [source, remaining])
      ledger.move(account, 100, 'grant', 'first', { expiresUs: startUs + 1000 })
      ledger.move(account, 50, 'purchase', 'second')
      ledger.charge(account, 120, 0, note)
      if (isRead) expect(left()).toEqual([['second', 30]])
      ledger.move(account, 120, 'refund', 'a request that failed', { charge: note })
      expect(left()).toEqual([
        ['first', 100],
        ['second', 50],
      ])
      clock.advance(2000)
      expect([ledger.balance(account).balance, left()]).toEqual([50, [['second', 50]]])
    }
  },
)
