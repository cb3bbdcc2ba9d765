import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { serve } from '@hono/node-server'
import { defaultContract } from '../src/contract/default.ts'
import { Portal } from '../src/portal/server.ts'
import { openSettings } from '../src/portal/settings/opened-settings.ts'
import { settingsFrom, type UsageSettings } from '../src/portal/settings/settings.ts'
import { signToken } from '../src/portal/settings/tokens.ts'
import { Snapshot } from '../src/portal/source/snapshot.ts'
import { storeSource } from '../src/portal/source/store-source.ts'
import { importFile, parseMapping } from '../src/public/import.ts'
import { openStore } from '../src/public/store.ts'
import { openBrowser } from '../test/chromium.ts'

/**
 * Pictures of the customer's page, to be looked at:
 *
 *     node bench/usage-pages.ts --out DIR [--only TEXT]
 *
 * One account in credits with a balance, one in euros with a budget, one in two currencies; in English, German and French, at 1440 and
 * 390 px, light and dark. Data and clock are the same in each run. `--only` takes the pictures whose name has the text.
 */
const { values } = parseArgs({
  options: { out: { type: 'string' }, only: { type: 'string', default: '' } },
})
if (values.out === undefined) throw new Error('--out DIR is missing')
const { out, only } = values
const env = { USAGE_SECRET: 'a secret for pictures, with more than 32 bytes' }
const nowMs = Date.UTC(2026, 10, 28, 12)
const dayMs = 86_400_000

const keyNames = { '0123456789ab': 'billing', '0123456789ac': 'search', '0123456789ad': 'nightly' }
const keys = Object.keys(keyNames)
const models = ['nova', 'nova-mini', 'orion-large', 'lyra']
const teams = ['search', 'support', 'ads', 'data science']

/** A log of October and November: a dear Thursday of one key and model, some failures, and teams. */
function* lines(account: string, unitOf: (day: number) => string, scale: number) {
  let seed = 59
  const draw = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let day = 0; day < 58; day++) {
    for (let at = 0, n = 20 + draw(25); at < n; at++) {
      const isDear = day === 56 && at % 3 === 0
      const [key, model] = isDear ? [1, 2] : [draw(3), draw(models.length)]
      const input = (100 + draw(4000)) * (isDear ? 30 : 1)
      const isFailed = draw(40) === 0
      yield {
        id: `${account}-${day}-${at}`,
        time: new Date(Date.UTC(2026, 9, 1) + day * dayMs + draw(86_400) * 1000).toISOString(),
        ...{ account, key: keys[key], model: models[model] },
        ...{ status: isFailed ? (draw(2) === 0 ? 429 : 500) : 200 },
        cost: isFailed ? '0' : ((input * (model + 1) * scale) / 1000).toFixed(4),
        unit: unitOf(day),
        ...{ input, output: 10 + draw(900) },
        ...{ team: draw(5) === 0 ? '' : teams[isDear ? 0 : draw(teams.length)] },
      }
    }
  }
}
const mapping = parseMapping(
  `tags: { team: team }
fields: { id: id, time: time, account: account, keyFp: key, model: model, status: status, credits: cost, unit: unit,
  promptTokens: input, completionTokens: output }`,
)
const kinds = {
  credits: { unit: () => 'credits', scale: 2 },
  euros: { unit: () => 'EUR', scale: 0.01 },
  'two currencies': { unit: (day: number) => (day < 45 ? 'USD' : 'EUR'), scale: 0.01 },
}
const settings: UsageSettings = {
  ...{ product: 'Example Text API', timezone: 'Europe/Berlin', currency: 'EUR', keyNames },
  ...{ tags: ['team'], support: 'https://example.com/help', credits: { price: '0.0125' } },
  tokens: { algorithm: 'HS256', secretEnv: 'USAGE_SECRET' },
  accounts: {
    credits: {
      label: 'Nordlicht Studio',
      grants: [
        { name: 'Pack', credits: 25_000, from: '2026-10-01', expires: '2027-01-01' },
        { name: 'Bonus', credits: 5000, from: '2026-11-01', expires: '2026-12-05' },
      ],
      budget: { amount: '14000' },
    },
    euros: { label: 'Example Ltd', budget: { amount: '80', unit: 'EUR', period: 'month' } },
    'two currencies': {
      label: 'Two Currencies GmbH',
      budget: [
        { amount: '60', unit: 'EUR' },
        { amount: '40', unit: 'USD' },
      ],
    },
  },
}

const folder = mkdtempSync(join(tmpdir(), 'assay-pages-'))
mkdirSync(out, { recursive: true })
const browser = await openBrowser()
try {
  const db = join(folder, 'usage.duckdb')
  const store = await openStore(db)
  for (const [account, { unit, scale }] of Object.entries(kinds)) {
    const file = join(folder, `${account}.jsonl`)
    const text = [...lines(account, unit, scale)].map((each) => `${JSON.stringify(each)}\n`)
    writeFileSync(file, text.join(''))
    await importFile(store, { file, mapping, source: account })
  }
  store.close()
  for (const account of Object.keys(kinds)) {
    for (const locale of ['en-GB', 'de-DE', 'fr-FR']) {
      const name = `${account.replace(' ', '-')}-${locale.slice(0, 2)}`
      const sizes = [1440, 390].flatMap((width) =>
        (['light', 'dark'] as const).map((mode) => ({ width, mode })),
      )
      const wanted = sizes.filter(({ width, mode }) => `${name}-${width}-${mode}`.includes(only))
      if (wanted.length === 0) continue
      const own = { ...settings.accounts?.[account], locale }
      const opened = openSettings(settingsFrom({ ...settings, accounts: { [account]: own } }), env)
      const snapshot = await Snapshot.of(
        await openStore(':memory:'),
        storeSource(db, defaultContract),
      )
      const portal = new Portal({
        ...{ snapshot, contract: null, now: () => nowMs, settings: () => opened },
        ...{ forecastMs: 60_000, slowMs: 60_000 },
      })
      await portal.refresh()
      const server = serve({ fetch: await portal.handler(), hostname: '127.0.0.1', port: 0 })
      await new Promise<void>((done) => server.once('listening', () => done()))
      const { port } = server.address() as AddressInfo
      const token = await signToken(
        opened.settings,
        {
          ...{ account, forS: 3600, keys: null, origin: null, nowMs, id: name, privateKey: null },
          shows: opened.settings.shows,
        },
        env,
      )
      for (const { width, mode } of wanted) {
        const page = await browser.newPage({
          viewport: { width, height: width === 390 ? 844 : 900 },
          colorScheme: mode,
        })
        await page.goto(`http://127.0.0.1:${port}/page#t=${token}`)
        await page.waitForSelector('figure svg', { timeout: 120_000 })
        const picture = join(out, `${name}-${width}-${mode}`)
        await page.screenshot({ path: `${picture}.png` })
        await page.screenshot({ path: `${picture}-whole.png`, fullPage: true })
        await page.close()
        process.stdout.write(`${picture}.png\n`)
      }
      server.close()
      if ('closeAllConnections' in server) server.closeAllConnections()
      await portal.close()
      await snapshot.close()
    }
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true })
}
