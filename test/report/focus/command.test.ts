import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from '../../e2e/command.ts'
import { openStore } from '../../store/opened.ts'
import { enterEvents, utc } from '../usage-events.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-focus-'))
const db = join(folder, 'usage.duckdb')
const out = join(folder, 'focus.csv')
const wanted = [
  ...['--account', 'a', '--from', '2026-11-01', '--to', '2026-12-01', '--product', 'Example'],
  ...['--credit-price', '0.0125'],
]
beforeAll(async () => {
  const store = await openStore(db)
  await enterEvents(store, [
    { atUs: utc(2026, 11, 3, 9), account: 'a', model: '=cmd()', credits: 0.8 },
    { atUs: utc(2026, 11, 4, 9), account: 'a', credits: null },
    { atUs: utc(2026, 12, 4, 9), account: 'a' },
  ])
  store.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

const focus = (...words: string[]) =>
  promisify(execFile)(process.execPath, [main, 'export', 'focus', '--db', db, ...words]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  )

test('a month of an account is a file, and what has no cost is in another', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const made = await focus('--out', out, ...wanted)
  expect(made.code).toBe(0)
  expect(made.stdout).toMatch(`1 charge of a in ${out}\nNext: assay usage --account a --db `)
  expect(made.stderr).toContain('1 request has an unknown cost; they are not in the file, but in ')
  const [head, line] = readFileSync(out, 'utf8').split('\n')
  expect(head).toMatch(/^BilledCost,BillingAccountId,/)
  // No text of a log is a formula.
  expect(line).toContain(`"'=cmd(), requests"`)
  expect(line).toContain(',0.01,')
  expect(readFileSync(out.replace('.csv', '.unknown.csv'), 'utf8')).toContain(
    '2026-11-04T09:00:00.000Z,k1,"svc-k2",1\n',
  )
  const parquet = join(folder, 'focus.parquet')
  await focus('--out', parquet, ...wanted, '--focus', '1.4')
  const store = await openStore(':memory:')
  const [row] = await store.rows(
    `SELECT EffectiveCost::VARCHAR AS cost, typeof(EffectiveCost) AS type, HostProviderName FROM read_parquet('${parquet}')`,
  )
  expect(row).toEqual({
    cost: '0.010000000000000000',
    type: 'DECIMAL(38,18)',
    HostProviderName: 'Example',
  })
  store.close()
})

test('what is missing, no month, or not known with --strict is refused', async () => {
  expect(await focus('--out', out)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--account, --from, --to, --product, --credit-price missing'),
  })
  expect(await focus('--out', out, ...wanted, '--to', '2026-11-30')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('one billing period'),
  })
  expect(await focus('--out', join(folder, 'f.txt'), ...wanted)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('.csv or .parquet'),
  })
  expect(await focus('--out', join(folder, 'strict.csv'), ...wanted, '--strict')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('--strict writes nothing'),
  })
}, 60_000)
