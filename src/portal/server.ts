import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Context } from 'hono'
import type { Contract } from '../contract/contract.ts'
import type { UsagePage } from '../report/usage/shape.ts'
import { UserError } from '../user/user-error.ts'
import { type AccountView, accountView } from './account-view.ts'
import { forecastRoutes, readAnswer } from './answers.ts'
import { type Asked, digestOf, scopeOf } from './asked.ts'
import { pageDocument } from './document.ts'
import { exportSums } from './export.ts'
import { Forecasts } from './forecasts.ts'
import { type KeptAnswer, KeptAnswers } from './kept-answers.ts'
import { RequestLimit, rateLimitPolicy, Turns } from './limits.ts'
import { Live } from './live.ts'
import { readLogo } from './logo.ts'
import { openapiDocument, type RouteName, routes } from './openapi.ts'
import { pageBody } from './page.ts'
import { readPageData } from './page-data.ts'
import { parametersOf } from './parameters.ts'
import { Problem } from './problem.ts'
import type { Settings } from './settings.ts'
import type { Snapshot } from './snapshot.ts'
import { type Speech, speechOf } from './speech.ts'
import { type Bearer, openTokens, type TokenCheck } from './tokens.ts'
import { wordsFor } from './words.ts'

export interface PortalOptions {
  readonly snapshot: Snapshot
  readonly settings: () => Settings
  /** Bands and packages for forecasts; null for none. */
  readonly contract: Contract | null
  /** Unix milliseconds. */
  readonly now: () => number
  /** One line per request: never a token or the value of a filter. */
  readonly log?: (line: string) => void
  readonly env?: NodeJS.ProcessEnv
  /** An answer that takes longer is a 503. Default: 5 seconds. */
  readonly slowMs?: number
}

/** hono is an optional install. @throws UserError if it is missing */
export async function loadHono() {
  try {
    const [{ Hono }, { serve }] = await Promise.all([import('hono'), import('@hono/node-server')])
    return { Hono, serve }
  } catch {
    throw new UserError(
      'usage',
      'The libraries of the usage server are not installed. Install them next to assay: npm install hono @hono/node-server jose.',
    )
  }
}

const usualSlowMs = 5000
/**
 * Questions that are read from the sums at once. Node has four threads for queries: beside these, a forecast and a list
 * of requests, the copy of what is new always has one.
 */
const mostAtOnce = 2
const mostWhileCopying = 1

/** The usage of accounts, over HTTP, read-only. */
export class Portal {
  private readonly options: PortalOptions
  private readonly limit = new RequestLimit()
  private readonly turns = new Turns(mostAtOnce)
  private readonly turnsOfStore = new Turns(1)
  private readonly kept = new KeptAnswers()
  private readonly live: Live
  private readonly forecasts: Forecasts
  private checked: {
    readonly settings: Settings
    readonly tokens: TokenCheck
    readonly digest: string
  } | null = null

  constructor(options: PortalOptions) {
    this.options = options
    this.live = new Live(options.snapshot, options.now)
    this.forecasts = new Forecasts(options.snapshot, options.contract, options.now)
    this.forecasts.onNew = (account) => this.live.tell(account)
  }

  /** Copies what is new, and tells those who listen. @throws UserError as the source does */
  async refresh(): Promise<void> {
    const { snapshot, now } = this.options
    this.turns.allow(mostWhileCopying)
    try {
      for (const account of await snapshot.refresh(now())) this.live.tell(account)
    } finally {
      this.turns.allow(mostAtOnce)
    }
  }

  /** Forgets forecasts and answers. */
  forget(): void {
    this.forecasts.forget()
    this.kept.forget()
  }

  /** A function from requests to responses. @throws UserError without hono, or for wrong settings */
  async handler(): Promise<(request: Request) => Promise<Response>> {
    const { Hono } = await loadHono()
    await this.current()
    const app = new Hono()
    app.onError((error, context) => this.refused(error, context))
    app.notFound((context) =>
      this.refused(new Problem(404, 'no-such-page', 'There is no such page'), context),
    )
    app.use('*', async (context, next) => {
      const startMs = this.options.now()
      await next()
      const { log, now } = this.options
      const account = (context.get as (name: string) => unknown)('account')
      const who =
        typeof account === 'string'
          ? createHash('sha256').update(account).digest('hex').slice(0, 8)
          : '-'
      log?.(
        `${new Date(startMs).toISOString()} ${context.req.path} ${context.res.status} ${Math.round(now() - startMs)}ms ${who}`,
      )
    })
    app.use('*', async (context, next) => {
      await this.allowOrigin(context)
      if (context.req.method === 'OPTIONS') return context.body(null, 204)
      await next()
      return undefined
    })
    app.get('/healthz', (context) => context.text('ok'))
    app.get('/readyz', (context) => {
      if (this.options.snapshot.refreshedMs === null) throw notReady()
      return context.text('ok')
    })
    app.get('/openapi.json', (context) => context.json(openapiDocument()))
    app.get('/embed.js', (context) =>
      context.body(script('embed.js'), 200, {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=300',
      }),
    )
    app.get('/logo', (context) => {
      const logo = readLogo(this.options.settings())
      if (logo === null) throw new Problem(404, 'no-such-page', 'There is no logo')
      return context.body(logo, 200, {
        'content-type': 'image/svg+xml',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      })
    })
    app.get('/page', (context) => this.page(context))
    app.get('/v1/live', (context) => this.changes(context))
    for (const [name, { path }] of Object.entries(routes)) {
      if (name !== 'live')
        app.get(path, (context) => this.answer(name as Exclude<RouteName, 'live'>, context))
    }
    return async (request) => app.fetch(request)
  }

  private async current() {
    const settings = this.options.settings()
    if (this.checked?.settings !== settings) {
      wordsFor(settings.locale, settings)
      readLogo(settings)
      const { revokedBefore: _, ...shown } = settings
      this.checked = {
        settings,
        tokens: await openTokens(settings, this.options.env),
        digest: digestOf(JSON.stringify({ ...shown, accounts: null })),
      }
    }
    return this.checked
  }

  private async allowOrigin(context: Context): Promise<void> {
    const { settings } = await this.current()
    context.header('Vary', 'Authorization, Origin')
    context.header('X-Content-Type-Options', 'nosniff')
    context.header('Referrer-Policy', 'no-referrer')
    const origin = context.req.header('origin')
    // The page in its frame, and scripts of any page: a script has no data.
    if (
      origin === undefined ||
      origin === new URL(context.req.url).origin ||
      context.req.path === '/embed.js'
    ) {
      if (context.req.path === '/embed.js') context.header('Access-Control-Allow-Origin', '*')
      return
    }
    if (!settings.origins.includes(origin)) {
      throw new Problem(403, 'origin-not-allowed', 'This origin may not ask', {
        hint: 'The settings of the service list the origins.',
      })
    }
    context.header('Access-Control-Allow-Origin', origin)
    context.header('Access-Control-Allow-Headers', 'Authorization, If-None-Match, Last-Event-ID')
    context.header('Access-Control-Allow-Methods', 'GET')
    context.header('Access-Control-Max-Age', '600')
    context.header('Access-Control-Expose-Headers', 'ETag, RateLimit, Retry-After')
  }

  private refused(error: unknown, context: Context): Response {
    const problem = error instanceof Problem ? error : problemOf(error)
    context.header('Cache-Control', 'no-store')
    context.header('ETag', undefined)
    if (problem.retryAfterS !== undefined)
      context.header('Retry-After', String(problem.retryAfterS))
    if (problem.status === 401) context.header('WWW-Authenticate', 'Bearer')
    return context.body(JSON.stringify(problem.body), problem.status as 400, {
      'content-type': 'application/problem+json',
    })
  }

  /** Checks the token, its origin and its limit. */
  private async bearer(context: Context): Promise<Bearer> {
    const { tokens } = await this.current()
    const [, token] = /^Bearer ([\w.-]+)$/i.exec(context.req.header('authorization') ?? '') ?? []
    if (token === undefined) {
      throw new Problem(401, 'no-token', 'A token is needed', {
        hint: 'Send it as Authorization: Bearer …',
      })
    }
    const bearer = await tokens.check(token, this.options.now())
    ;(context.set as (name: string, value: unknown) => void)('account', bearer.account)
    const origin = context.req.header('origin')
    if (
      bearer.origin !== null &&
      origin !== undefined &&
      origin !== bearer.origin &&
      origin !== new URL(context.req.url).origin
    ) {
      throw new Problem(403, 'origin-not-allowed', 'The token is for another origin')
    }
    context.header('RateLimit', this.limit.take(bearer.id, this.options.now()))
    context.header('RateLimit-Policy', rateLimitPolicy)
    if (this.options.snapshot.refreshedMs === null) throw notReady()
    return bearer
  }

  private async answer(name: Exclude<RouteName, 'live'>, context: Context): Promise<Response> {
    const bearer = await this.bearer(context)
    const query = parametersOf(name, new URL(context.req.url).searchParams)
    const isForecast = forecastRoutes.has(name)
    return this.give(context, bearer, { isForecast, name }, async (asked, page, speech) => {
      if (name === 'export') {
        const file = await exportSums(asked, query as never)
        const disposition = `attachment; filename="${file.name}"`
        return {
          body: new Uint8Array(file.bytes),
          headers: { 'content-type': file.type, 'content-disposition': disposition },
        }
      }
      const { snapshot } = this.options
      const answer = await readAnswer(name, asked, query, page, snapshot, speech)
      return { body: JSON.stringify(answer), headers: { 'content-type': 'application/json' } }
    })
  }

  /** Gives an answer from the figures of the token's account alone, unless the asker has it. */
  private async give(
    context: Context,
    bearer: Bearer,
    { isForecast, name }: { readonly isForecast: boolean; readonly name: RouteName | 'page' },
    read: (asked: Asked, page: UsagePage | null, speech: Speech) => Promise<KeptAnswer>,
  ): Promise<Response> {
    const { settings, digest } = await this.current()
    const { snapshot, now } = this.options
    const view = accountView(settings, bearer.account)
    const own = Object.hasOwn(settings.accounts, bearer.account)
      ? settings.accounts[bearer.account]
      : null
    const { pathname, searchParams } = new URL(context.req.url)
    const question = JSON.stringify([
      ...[bearer.account, bearer.keys, [...bearer.shows].sort(), bearer.origin],
      ...[snapshot.versionOf(bearer.account), isForecast && this.forecasts.markOf(bearer, view)],
      ...[pathname, [...searchParams].map((pair) => pair.join('=')).sort(), digest, own],
    ])
    const tag = `"${digestOf(question).slice(0, 24)}"`
    context.header('ETag', tag)
    context.header('Cache-Control', 'private, no-cache')
    const known = (context.req.header('if-none-match') ?? '')
      .split(',')
      .map((each) => each.trim().replace(/^W\//, ''))
    if (known.includes(tag)) return context.body(null, 304)
    const make = async () => {
      const page = isForecast ? await this.forecasts.read(bearer, view) : null
      // A list of requests waits for those who write the store; nobody else waits for it.
      const turns = name === 'requests' ? this.turnsOfStore : this.turns
      return turns.take(() =>
        snapshot.within(scopeOf(bearer), (session) => {
          const refreshedMs = snapshot.refreshedMs!
          const asked = { bearer, view, session, nowMs: now(), refreshedMs }
          return read(asked, page, this.speech(view))
        }),
      )
    }
    const { body, headers } = await this.inTime(this.kept.take(question, now(), make))
    return context.body(body, 200, headers)
  }

  private async inTime<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const slow = new Promise<never>((_, refuse) => {
      timer = setTimeout(
        () => refuse(new Problem(503, 'too-slow', 'The answer took too long', { retryAfterS: 5 })),
        this.options.slowMs ?? usualSlowMs,
      )
    })
    try {
      return await Promise.race([work, slow])
    } finally {
      clearTimeout(timer)
    }
  }

  private speech(view: AccountView): Speech {
    return speechOf(wordsFor(view.locale, this.options.settings()), view)
  }

  /** The page: a shell without data, or, with the token, the whole. */
  private async page(context: Context): Promise<Response> {
    const { settings } = await this.current()
    const hasToken = context.req.header('authorization') !== undefined
    if (!hasToken) {
      const speech = this.speech(accountView(settings, ''))
      const { text, policy } = pageDocument(null, settings, speech, settings.origins)
      context.header('Cache-Control', 'no-store')
      return context.html(text, 200, { 'content-security-policy': policy })
    }
    const bearer = await this.bearer(context)
    const origins = bearer.origin === null ? settings.origins : [bearer.origin]
    const { searchParams } = new URL(context.req.url)
    return this.give(
      context,
      bearer,
      { isForecast: true, name: 'page' },
      async (asked, page, speech) => {
        const { snapshot } = this.options
        const data = await readPageData(asked, searchParams, speech, page, snapshot)
        const body = pageBody(data, settings, asked.view, speech)
        const { text, policy } = pageDocument(body, settings, speech, origins)
        return {
          body: text,
          headers: {
            'content-type': 'text/html; charset=UTF-8',
            'content-security-policy': policy,
          },
        }
      },
    )
  }

  /** Says that figures changed; the page asks again. */
  private async changes(context: Context): Promise<Response> {
    const bearer = await this.bearer(context)
    parametersOf('live', new URL(context.req.url).searchParams)
    return context.body(this.live.stream(bearer, context.req.header('last-event-id')), 200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
    })
  }
}

const scripts = new Map<string, string>()
function script(name: string): string {
  const text =
    scripts.get(name) ?? readFileSync(new URL(`../../src/portal/${name}`, import.meta.url), 'utf8')
  scripts.set(name, text)
  return text
}

const notReady = () =>
  new Problem(503, 'not-ready', 'The usage has not been read yet', { retryAfterS: 2 })

function problemOf(error: unknown): Problem {
  if (error instanceof UserError && error.code === 'store-held') return notReady()
  return new Problem(500, 'internal', 'The service failed')
}
