import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { defaultContract } from '../../src/contract/default.ts'
import { Portal, type PortalOptions } from '../../src/portal/server.ts'
import { openSettings } from '../../src/portal/settings/opened-settings.ts'
import { parseSettings, type Settings } from '../../src/portal/settings/settings.ts'
import { Snapshot } from '../../src/portal/source/snapshot.ts'
import type { Source } from '../../src/portal/source/source.ts'
import { storeSource } from '../../src/portal/source/store-source.ts'
import { openStore as openPlain } from '../../src/store/session/open.ts'
import { novemberUs } from '../report/attempts.ts'
import { enterMarked, keyNames, type MarkedAccount } from '../report/marked-accounts.ts'
import { openStore, type Store } from '../store/opened.ts'

/** 2026-11-28 12:00 UTC. */
export const nowMs = novemberUs / 1000 + 27.5 * 86_400_000
export const secret = 'a secret of the operator with more than 32 bytes'
/** Of webhooks, as the scheme writes it. */
export const webhookSecret = `whsec_${Buffer.from('32 bytes of a secret of webhooks').toString('base64')}`
export const env = { USAGE_SECRET: secret, USAGE_WEBHOOK_SECRET: webhookSecret }

/** A name that would be SQL, markup, a path or a property if it were not data. */
export const oddTag = `__proto__ ~1/a.b"'<b>`

export const settingsText = `product: Example Text API
locale: en
timezone: UTC
currency: EUR
credits: { price: '0.0125' }
origins: [https://app.example.com]
support: https://example.com/help
tokens: { algorithm: HS256, secretEnv: USAGE_SECRET }
keyNames: ${JSON.stringify(keyNames)}
tags: [team, ${JSON.stringify(oddTag)}]
`
export const settingsOf = (more = ''): Settings => ({
  ...parseSettings(settingsText + more, 'settings.yaml'),
  folder: tmpdir(),
})

let made = 0

/** A token with all claims that a backend sets; a claim may be changed or, as undefined, left out. */
export function tokenOf(
  account: string,
  claims: Readonly<Record<string, unknown>> = {},
  key = secret,
) {
  const nowS = Math.floor(nowMs / 1000)
  const whole = {
    ...{ sub: account, aud: 'assay-usage', iat: nowS - 10, nbf: nowS - 10, exp: nowS + 3600 },
    ...{
      jti: `token-${made++}`,
      shows: ['credits', 'cost', 'keys', 'models', 'tags', 'requests', 'export'],
    },
    ...claims,
  }
  const given = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined))
  return new SignJWT(given).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(key))
}

export interface Served {
  readonly portal: Portal
  readonly file: string
  /** The sums in memory. */
  readonly store: Snapshot['store']
  /** Sets the clock forward. */
  pass(ms: number): void
  ask(
    path: string,
    token: string | null,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>
  close(): Promise<void>
}

type Asking = Pick<Served, 'portal' | 'store' | 'pass' | 'ask' | 'close'>

/** A portal that has copied this usage. */
export async function servedFrom(
  source: Source,
  settings = settingsOf(),
  forecastMs = 60_000,
  more: Partial<Pick<PortalOptions, 'post' | 'log' | 'settings' | 'slowMs'>> = {},
): Promise<Asking> {
  const store = await openPlain(':memory:')
  const snapshot = await Snapshot.of(store, source)
  let passedMs = 0
  const opened = openSettings(settings, env)
  const portal = new Portal({
    ...{ snapshot, contract: null, slowMs: 60_000, forecastMs },
    now: () => nowMs + passedMs,
    settings: () => opened,
    ...more,
  })
  await portal.refresh()
  const handler = await portal.handler()
  return {
    ...{ portal, store },
    pass: (ms) => {
      passedMs += ms
    },
    ask: (path, token, headers = {}) =>
      handler(
        new Request(`http://usage.test${path}`, {
          headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
        }),
      ),
    async close() {
      await portal.close()
      await snapshot.close()
    },
  }
}

/** A portal over a store file with these accounts. */
export async function served(
  some: readonly MarkedAccount[],
  settings: Settings = settingsOf(),
  fill: (store: Store) => Promise<void> = (store) => enterMarked(store, some),
  forecastMs?: number,
  more?: Partial<Pick<PortalOptions, 'post' | 'log' | 'settings'>>,
): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-served-'))
  const file = join(folder, 'usage.duckdb')
  const store = await openStore(file)
  await fill(store)
  store.close()
  const asking = await servedFrom(storeSource(file, defaultContract), settings, forecastMs, more)
  return {
    ...asking,
    file,
    async close() {
      await asking.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Everything that an asker sees. */
export async function bytesOf(response: Response): Promise<string> {
  const body = Buffer.from(await response.arrayBuffer()).toString('latin1')
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  return `${response.status}\n${headers}\n\n${body}`
}

export const november = 'from=2026-11-01&to=2026-12-01'
/** One question of every endpoint. */
export const everyPath = [
  '/v1/account',
  `/v1/usage/summary?${november}`,
  `/v1/usage/series?${november}&by=model`,
  `/v1/usage/series?${november}&by=key&metric=input&cumulative=true`,
  `/v1/usage/breakdown?${november}&by=model`,
  `/v1/usage/breakdown?${november}&by=key&limit=1`,
  `/v1/usage/breakdown?${november}&by=day&sort=name`,
  `/v1/usage/breakdown?${november}&by=tag:team`,
  `/v1/usage/series?${november}&by=tag:team&metric=requests`,
  `/v1/usage/requests?${november}`,
  '/v1/credits',
  '/v1/credits/outlook?days=30',
  '/v1/budgets',
  '/v1/alerts',
  '/v1/notices',
  `/v1/export?${november}&format=csv`,
  `/v1/export?${november}&format=jsonl&bucket=hour&to=2026-11-08`.replace('&to=2026-12-01', ''),
  `/v1/export?${november}&format=parquet`,
  `/v1/export/requests?${november}`,
  `/v1/export/requests?${november}&format=jsonl&limit=5`,
  `/v1/export/requests?${november}&format=parquet`,
  '/page',
  `/page?${november}&by=key`,
  `/page?${november}&by=tag:team`,
]
