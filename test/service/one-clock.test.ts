import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { dayUs, openHouse, startUs } from './pages/customer.ts'
import { operatorKey } from './serving.ts'

const source = resolve(import.meta.dirname, '../../src/service')

/** Every way to read a clock or to wait for one, in TypeScript and in SQLite. */
const clocks =
  /\bDate\.now\b|\bnew Date\(\)|\bDate\(\)|\bperformance\.|\bhrtime\b|\bset(?:Timeout|Interval)\b|['"](?:node:)?timers(?:\/promises)?['"]|\bTemporal\b|'now'|\bCURRENT_(?:TIME|DATE)|\bunixepoch\(|\bAtomics\.wait/g

test('only the clock file of the service reads a clock or waits', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  const found = files
    .filter((file) => /\.(?:ts|sql)$/.test(file) && file !== 'clock.ts')
    .flatMap((file) =>
      [...readFileSync(join(source, file), 'utf8').matchAll(clocks)].map(
        ([clock]) => `${file}: ${clock}`,
      ),
    )
  // The deadline for another server is real time, whatever the time here.
  expect(found).toEqual(['upstream/relay.ts: setTimeout'])
})

test('all times that the service stores or sends come from its one clock', {
  tags: 'whole',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-clock-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const dataPath = join(folder, 'ledger.db')
  const { target, clock, visitor } = await openHouse({ dataPath, operatorKey })
  // Months from the time of this machine, and stopped.
  const times = [startUs, startUs + 3_600e6, startUs + 60 * dayUs]
  const told: string[] = []

  const ada = visitor()
  await ada.register('ada@example.com')
  const key = await ada.makeKey()
  await ada.buy('Standard')
  for (const [index, us] of times.entries()) {
    clock.advance(us - (times[index - 1] ?? startUs))
    await visitor().register(`${index}@example.com`, await ada.inviteCode())
    await visitor().post('/sign-in', { email: 'ada@example.com', password: 'wrong' })
    const spare = await ada.makeKey(`spare ${index}`)
    await ada.send('/dashboard/keys/revoke', { key: await lastKey(ada) })
    const answers = [
      await target.chat({}, key),
      await target.chat({ stream: true, model: 'svc-k2-thinking' }, key),
      await target.messages({ stream: true }, key),
      await target.chat({ temperature: 3 }, key),
      await target.chat({}, spare),
      await target.get('/v1/models', key),
      await target.get('/user/credits', key),
      await target.get('/operator/clock', operatorKey),
      await fetch(`${target.service.baseUrl}/my-credits`, { headers: { 'x-api-key': key } }),
    ]
    for (const answer of answers) {
      told.push(answer.headers.get('date') ?? 'no date')
      const body = await answer.text()
      if (answer.url.endsWith('/completions')) told.push(...createdIn(body))
    }
  }
  const inItsTime = times.map((us) => new Date(us / 1000).toUTCString())
  expect(new Set(told)).toEqual(new Set(inItsTime))
  await target.service.close()

  const ledger = new DatabaseSync(dataPath, { readOnly: true })
  const expiryUs = startUs + 28 * dayUs
  const written = timesIn(ledger)
  ledger.close()
  expect([...written.keys()].sort()).toEqual([
    'accounts.created_us',
    'api_keys.created_us',
    'api_keys.revoked_us',
    'entries.at_us',
    'lots.created_us',
    'lots.expires_us',
    'payments.at_us',
    'payments.expires_us',
    'sessions.seen_us',
  ])
  for (const [column, values] of written) {
    expect(values, column).not.toEqual([])
    expect([...times, expiryUs], column).toEqual(expect.arrayContaining([...values]))
  }
})

/** Every `created` of a body, plain or streamed, as the `Date` header writes it. */
function createdIn(body: string): readonly string[] {
  return [...body.matchAll(/"created":(\d+)/g)].map(([, s]) =>
    new Date(Number(s) * 1000).toUTCString(),
  )
}

async function lastKey(of: {
  get(path: string): Promise<{ readonly text: string }>
}): Promise<string> {
  const { text } = await of.get('/dashboard')
  return [...text.matchAll(/name="key" value="(\d+)"/g)].at(-1)?.[1] ?? ''
}

/** The distinct values of every time column, by table and column. */
function timesIn(ledger: DatabaseSync): ReadonlyMap<string, readonly number[]> {
  const tables = ledger.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
  return new Map(
    tables.flatMap(({ name: table }) =>
      ledger
        .prepare(`SELECT name FROM pragma_table_info('${table}') WHERE name LIKE '%_us'`)
        .all()
        .map(({ name }) => {
          const rows = ledger
            .prepare(`SELECT DISTINCT ${name} AS us FROM ${table} WHERE ${name} IS NOT NULL`)
            .all()
          return [`${table}.${name}`, rows.map(({ us }) => Number(us))] as const
        }),
    ),
  )
}
