import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeReport } from '../../../src/report/page.ts'
import { makeText } from '../../../src/report/text.ts'
import { quartersFile } from '../../../src/report/usage/engine/quarters-file.ts'
import { readUsage, readUsageIn } from '../../../src/report/usage/read.ts'
import type { UsageOptions } from '../../../src/report/usage/shape.ts'
import { terminalUsage } from '../../../src/report/usage/terminal.ts'
import { exportTable } from '../../../src/store/files/export.ts'
import { limitTo, pollKeysSql } from '../../../src/store/session/account.ts'
import { inSession, type Session } from '../../../src/store/session/session.ts'
import { tries } from '../../nightly/tries.ts'
import { openStore, type Store } from '../../store/opened.ts'
import { novemberUs } from '../attempts.ts'
import {
  accounts,
  enterMarked,
  keyNames,
  marksOfOthers,
  others,
  subject,
} from '../marked-accounts.ts'
import { usageOptions } from '../usage-events.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-account-'))
let all: Store
let alone: Store
/** The subject and two others, which mutants need. */
let few: Store
beforeAll(async () => {
  all = await openStore(':memory:')
  alone = await openStore(':memory:')
  few = await openStore(':memory:')
  await enterMarked(few, [subject, others[0]!, others[1]!])
  await enterMarked(all, accounts)
  await enterMarked(alone, [subject])
}, 60_000)
afterAll(() => {
  all.close()
  alone.close()
  few.close()
  rmSync(folder, { recursive: true })
})

const mine = (change: Partial<UsageOptions> = {}): UsageOptions =>
  usageOptions({ account: subject.name, keyNames, contract: null, ...change })

const pageOf = async (store: Store, options: UsageOptions) =>
  JSON.stringify(await readUsage(store, options))

function withoutMarks(bytes: string): string {
  for (const mark of marksOfOthers) expect(bytes.includes(mark) ? mark : '').toBe('')
  return bytes
}

const dayUs = 86_400e6

const drawn = fc
  .record({
    from: fc.integer({ min: 0, max: 24 }),
    days: fc.integer({ min: 1, max: 30 }),
    by: fc.constantFrom('model', 'key', 'endpoint', 'account'),
    timezone: fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/New_York'),
    keys: fc.constantFrom(null, [], [subject.keys[0]], [subject.keys[1], others[0]!.keys[0]]),
    isOpen: fc.boolean(),
  })
  .map(({ from, days, by, timezone, keys, isOpen }) =>
    mine({
      ...{ by, timezone, keys },
      fromUs: isOpen ? null : novemberUs + from * dayUs,
      toUs: isOpen ? null : novemberUs + (from + days) * dayUs,
    }),
  )

/** The page, or the error that the reader sees. */
const answerOf = (store: Store, options: UsageOptions) =>
  pageOf(store, options).catch((error: Error) => error.message)

describe('the usage of one account', () => {
  test('is the same bytes with and without 49 other accounts, and has no mark of them', {
    tags: 'whole',
  }, async () => {
    const page = await pageOf(all, mine())
    expect(page).toBe(await pageOf(alone, mine()))
    withoutMarks(page)
    expect(page.includes(subject.model)).toBe(true)
    expect(page.includes('"account":"acct-zqh7xv"')).toBe(true)
    // The operator, who names no account, sees all.
    const whole = await pageOf(few, mine({ account: null }))
    expect(whole.includes(others[1]!.model)).toBe(true)
  })

  test('is the same in drawn periods, zones, dimensions and keys', {
    tags: 'whole',
    timeout: 240_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(drawn, async (options) => {
        const answer = await answerOf(all, options)
        expect(answer).toBe(await answerOf(alone, options))
        withoutMarks(answer)
      }),
      { numRuns: tries(3, 20) },
    )
  })

  test('is the same as a page, on the terminal and as text', {
    tags: 'whole',
    timeout: 60_000,
  }, async () => {
    const usage = mine()
    const asked = (store: Store) => ({
      ...{ store, page: 'usage' as const, contract: null as never, runIds: [], timeZone: 'UTC' },
      ...{ nowUs: usage.nowUs, usage },
    })
    const { html } = await makeReport(asked(all))
    expect(html).toBe((await makeReport(asked(alone))).html)
    withoutMarks(html)
    withoutMarks(await makeText(asked(all), 'md'))
    withoutMarks(terminalUsage(await readUsage(all, usage)))
  })

  test.each(['usage', 'quarters', 'polls', 'attempts'] as const)(
    'is the same in an export of %s',
    async (what) => {
      const scope = { account: subject.name, keys: null }
      const exported = async (store: Store, format: 'csv' | 'parquet') => {
        const file = join(folder, `${what}.${format}`)
        expect(await exportTable(store, { what, file, format, scope })).toBeGreaterThan(2)
        return readFileSync(file, 'latin1')
      }
      const csv = await exported(all, 'csv')
      expect(csv).toBe(await exported(alone, 'csv'))
      withoutMarks(csv)
      withoutMarks(await exported(all, 'parquet'))
    },
  )

  test('has no changed or open amounts, which do not say whose they are', async () => {
    const tables = ['usage_changes', 'usage_referrals']
    const counted = (account: string | null) =>
      inSession(few, {}, async (session) => {
        await session.execute(`BEGIN;
          INSERT INTO usage_changes SELECT 1, 1, 'log', 'x', 1, 2, '', 1, 2, 1, 2, 1, 2;
          INSERT INTO usage_referrals SELECT 'log', 'x', 'y'`)
        await limitTo(session, { account, keys: null })
        const rows = await Promise.all(tables.map((table) => session.rows(`FROM ${table}`)))
        await session.execute('ROLLBACK')
        return rows.map(({ length }) => length)
      })
    expect(await counted(null)).toEqual([1, 1])
    expect(await counted(subject.name)).toEqual([0, 0])
  })

  test('has the polls of a key that only requests without an account use, too', async () => {
    const polls = (account: string, other: string) =>
      inSession(few, {}, async (session) => {
        await session.execute(`CREATE TEMP TABLE used AS FROM (VALUES ('k', 'a'), ('k', ${other})) AS t(key_fp, account);
          SET VARIABLE usage_account = '${account}'`)
        const keys = await session.rows(pollKeysSql(['used']))
        return keys.length
      })
    expect([await polls('a', 'NULL'), await polls('a', "'b'"), await polls('', 'NULL')]).toEqual([
      ...[1, 0, 0],
    ])
  })

  test('is the same from a file of quarters', { tags: 'whole' }, async () => {
    const file = join(folder, 'all.parquet')
    const own = join(folder, 'alone.parquet')
    await exportTable(all, { what: 'quarters', file, format: 'parquet' })
    await exportTable(all, {
      what: 'quarters',
      file: own,
      format: 'parquet',
      scope: { account: subject.name, keys: null },
    })
    const pageFrom = async (path: string) => {
      const store = await openStore(':memory:')
      const engine = { ...(await quartersFile(store, path)), name: 'quarters' }
      const page = JSON.stringify(await readUsage(store, mine(), engine))
      store.close()
      return page
    }
    const page = await pageFrom(file)
    withoutMarks(page)
    // Sums that count for the account are those of its own export, where its sums over a day replace none of others.
    expect(
      JSON.parse(page)
        .topKeys.map((key: { keyFp: string }) => key.keyFp)
        .toSorted(),
    ).toEqual([...subject.keys].toSorted())
    withoutMarks(await pageFrom(own))
  })

  test('refuses what is of no single account, and gives nothing for a key or an account of nobody', {
    tags: 'whole',
  }, async () => {
    const scope = { account: subject.name, keys: null }
    await expect(
      exportTable(all, { what: 'runs', file: join(folder, 'runs.csv'), format: 'csv', scope }),
    ).rejects.toThrow('export runs: these rows are of no single account')
    const nobody = await answerOf(all, mine({ keys: ['ffffffffffff'] }))
    expect(await answerOf(all, mine({ keys: [others[2]!.keys[0]] }))).toBe(nobody)
    expect(nobody).toMatch(/holds no usage of the account "acct-zqh7xv" with these keys/)
    expect(await answerOf(all, mine({ keys: [] }))).toBe(nobody)
    const { depletion, balance } = await readUsage(all, mine({ keys: [subject.keys[0]] }))
    expect(depletion).toMatchObject({ known: false })
    expect(balance).toEqual([])
  })

  test('changes when the account is taken out of any of its queries', {
    tags: 'whole',
    timeout: 60_000,
  }, async () => {
    const condition =
      /\baccount = getvariable\('usage_account'\)|key_fp IN \(SELECT key_fp FROM [\s\S]*?\) = getvariable\('usage_account'\)\)/g
    // Keys with a name of their own have no last four letters on a page.
    const asked = mine({ keyNames: {} })
    const right = await pageOf(few, asked)
    let mutants = 0
    for (let at = 0; at <= mutants; at++) {
      const page = await inSession(few, {}, (session) => {
        const mutated: Session = {
          ...session,
          execute: (sql, parameters) => {
            let seen = -1
            const text = sql.replace(condition, (found) => (++seen === at ? 'true' : found))
            if (seen >= 0) mutants = seen
            return session.execute(text, parameters)
          },
        }
        return readUsageIn(mutated, asked)
      })
      expect(JSON.stringify(page) === right ? `mutant ${at} lives` : '').toBe('')
    }
    expect(mutants + 1).toBe(8)
  })
})
