// @module-tag whole
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildTemplate, plainRequest, prepareRequest } from '../../src/client/call/request.ts'
import { sendOnce } from '../../src/client/call/send-once.ts'
import { UndiciTransport } from '../../src/client/wire/undici/transport.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { parseMoment } from '../../src/measure/usage/zone.ts'
import { readUsage } from '../../src/report/usage/read.ts'
import type { UsagePage } from '../../src/report/usage/shape.ts'
import { run } from '../../src/run/run.ts'
import { loadScenario } from '../../src/scenario/parse.ts'
import { realClock } from '../../src/service/clock.ts'
import { startService } from '../../src/service/start.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { randomOf } from '../../src/user/random.ts'
import { manualClock } from '../service/manual-clock.ts'
import { openStore } from '../store/opened.ts'
import { attempt, enterRun } from './attempts.ts'
import { usageOptions } from './usage-events.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-month-'))
afterAll(() => rmSync(folder, { recursive: true }))
const zones = ['UTC', 'Asia/Kolkata', 'America/New_York']

interface Entry {
  readonly at_us: number
  readonly credits: number
  readonly model: string
}

/** The service's own ledger: it shares only the facts with the page. */
function chargesOf(path: string): readonly Entry[] {
  const ledger = new DatabaseSync(path, { readOnly: true })
  const rows = ledger
    .prepare(
      `SELECT at_us, -credits AS credits, model FROM entries WHERE kind IN ('charge', 'refund')`,
    )
    .all() as unknown as readonly Entry[]
  ledger.close()
  return rows
}

const sumOf = (entries: readonly { credits: number | null }[]) =>
  entries.reduce((sum, entry) => sum + (entry.credits ?? 0), 0)

/** Credits by local day, from the page, and from the ledger by the runtime's calendar. */
function byDay(page: UsagePage): Readonly<Record<string, number>> {
  const days: Record<string, number> = {}
  for (const point of page.days) {
    if (point.credits) days[point.label] = (days[point.label] ?? 0) + point.credits
  }
  return days
}

function ledgerByDay(
  entries: readonly Entry[],
  timeZone: string,
): Readonly<Record<string, number>> {
  const clock = new Intl.DateTimeFormat('en-CA', { timeZone })
  const days: Record<string, number> = {}
  for (const entry of entries) {
    const day = clock.format(entry.at_us / 1000)
    days[day] = (days[day] ?? 0) + entry.credits
  }
  return days
}

describe('a month across a clock change, with each request at its own time', () => {
  const dataPath = join(folder, 'held.sqlite')
  const dbPath = join(folder, 'held.duckdb')
  const startUs = Date.UTC(2026, 9, 15) * 1000

  beforeAll(async () => {
    const random = randomOf(11)
    const service = await startService({
      seed: 1,
      dataPath,
      clock: manualClock(startUs),
      accounts: [{ name: 'main', balance: 100_000 }],
      shape: {
        timeToFirstUs: { kind: 'constant', value: 0 },
        betweenTokensUs: { kind: 'constant', value: 0 },
      },
    })
    const transport = new UndiciTransport({
      origin: service.baseUrl,
      maxConnections: 1,
      connectTimeoutMs: 5_000,
    })
    const store = await openStore(dbPath)
    const models = ['svc-k2', 'svc-k2.5', 'svc-k2-thinking', 'no-such-model']
    await enterRun(store, 'a', { startedAtUs: startUs })
    const rows = []
    let atUs = 0
    for (let slot = 0; slot < 300; slot++) {
      // 300 requests, about ten a day, each at another fraction of its second.
      const passedUs = Math.floor(random() * 2 * 8_640) * 1e6 + 1
      service.operator.advance(passedUs)
      atUs += passedUs
      const model = models[Math.floor(random() * 3.1)]!
      const template = buildTemplate(defaultContract, '', {
        ...plainRequest,
        model,
        stream: slot % 4 === 0,
        messages: [{ role: 'user', content: 'hello' }],
        maxTokens: 4,
      })
      const { columns } = await sendOnce(
        transport,
        prepareRequest(template, service.keys[0]!.apiKey),
        { contract: defaultContract, now: () => performance.now() * 1000 },
      )
      // The service's clock moves by hand, and that of the run with it.
      const stamps = { intendedUs: atUs, sentUs: atUs, headersUs: atUs, closedUs: atUs }
      rows.push(attempt(slot, { model, streamed: slot % 4 === 0 ? 1 : 0, ...columns, ...stamps }))
    }
    await appendAttempts(store, rows)
    store.close()
    await transport.close()
    await service.close()
  }, 60_000)

  test.each(zones)(
    'days, hours, cards and models of the page match the ledger in %s',
    async (timezone) => {
      const entries = chargesOf(dataPath)
      expect(entries.length).toBeGreaterThan(250)
      const store = await openStore(dbPath)
      const page = await readUsage(store, usageOptions({ timezone, fromUs: startUs - 43_200e6 }))
      store.close()
      expect(byDay(page)).toEqual(ledgerByDay(entries, timezone))
      expect(sumOf(page.hours)).toBe(sumOf(entries))
      expect(page.cards[0]!.value).toBe(sumOf(entries))
      for (const model of ['svc-k2', 'svc-k2.5']) {
        expect(sumOf(page.days.filter((day) => day.series === model))).toBe(
          sumOf(entries.filter((entry) => entry.model === model)),
        )
      }
      if (timezone === 'America/New_York') {
        expect(page.days.find((day) => day.label === '2026-11-01')!.lengthS).toBe(25 * 3600)
      }
    },
  )
})

describe('scenarios/month.yaml in scaled time', () => {
  test.each(zones)(
    'the page of %s has every credit of the ledger',
    async (timezone) => {
      const { dataPath, dbPath } = await month()
      const entries = chargesOf(dataPath)
      const store = await openStore(dbPath)
      const page = await readUsage(
        store,
        usageOptions({
          timezone,
          fromUs: parseMoment('2027-02-28', timezone),
          toUs: parseMoment('2027-08-01', timezone),
        }),
      )
      store.close()
      expect(entries.length).toBeGreaterThan(300)
      expect(sumOf(page.days)).toBe(sumOf(entries))
      expect(sumOf(page.hours)).toBe(sumOf(entries))
      const days = new Set(
        page.days.filter((day) => (day.requests ?? 0) > 0).map((day) => day.label),
      )
      expect(days.size).toBeGreaterThanOrEqual(29)
      expect(page.errors.every((error) => error.error.startsWith('400'))).toBe(true)
    },
    60_000,
  )

  let made: Promise<{ dataPath: string; dbPath: string }> | null = null

  /** Thirty days in five seconds, from 1 March, so New York's clocks change within. */
  function month() {
    made ??= (async () => {
      const dataPath = join(folder, 'scaled.sqlite')
      const dbPath = join(folder, 'scaled.duckdb')
      const scenario = await loadScenario(
        new URL('../../scenarios/month.yaml', import.meta.url).pathname,
      )
      const [phase] = scenario.phases
      if (phase?.load.kind !== 'arrivals' || phase.durationUs === null) throw new Error('no day')
      const durationUs = 5e6
      const faster = phase.durationUs / durationUs
      // The same shape in a twelfth of the time, at six times the rate.
      const rate = phase.load.rate.map((segment) => ({
        durationUs: segment.durationUs / faster,
        fromPerS: segment.fromPerS * 6,
        toPerS: segment.toPerS * 6,
      }))
      const timeScale = (30 * 86_400e6) / durationUs
      const clock = realClock(timeScale)
      clock.advance(Date.UTC(2027, 2, 1) * 1000 - clock.nowUs())
      const service = await startService({
        seed: 1,
        dataPath,
        clock,
        accounts: [{ name: 'main', balance: 100_000 }],
        shape: {
          timeToFirstUs: { kind: 'constant', value: 0 },
          betweenTokensUs: { kind: 'constant', value: 0 },
        },
      })
      const [key] = scenario.keys
      await run(
        { ...scenario, phases: [{ ...phase, durationUs, load: { ...phase.load, rate } }] },
        {
          baseUrl: service.baseUrl,
          dbPath,
          timeScale,
          keys: { [key!.name]: service.keys[0]!.apiKey },
        },
      )
      await service.close()
      return { dataPath, dbPath }
    })()
    return made
  }
})
