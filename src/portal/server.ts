import { readFileSync } from 'node:fs'
import type * as hono from 'hono'
import { userError } from '../user/user-error.ts'
import { Alerting } from './alerts/alerting.ts'
import { type Post, postByFetch } from './alerts/deliveries.ts'
import { Answering, type AnswersOptions, type UsageQuestion } from './api/answering.ts'
import { forecastRoutes, readAnswer } from './api/answers.ts'
import { digestOf } from './api/asked.ts'
import { compressed } from './api/compressed.ts'
import { attachment } from './api/file-name.ts'
import type { KeptAnswer } from './api/kept-answers.ts'
import { RequestLimit, rateLimitPolicy } from './api/limits.ts'
import { Live } from './api/live.ts'
import { openapiDocument, type RouteName, routes } from './api/openapi.ts'
import { allowOrigin } from './api/origins.ts'
import { parametersOf } from './api/parameters.ts'
import { Problem } from './api/problem.ts'
import { notReady, refused } from './api/refused.ts'
import { type ExportedFile, exportSums } from './figures/export.ts'
import { exportRequests } from './figures/export-requests.ts'
import { pageDocument } from './page/document.ts'
import { pageBody } from './page/page.ts'
import { readPageData } from './page/page-data.ts'
import { openedTable } from './page/page-tables.ts'
import { refusedPage } from './page/refused-page.ts'
import { type Speech, speechOf } from './page/speech.ts'
import { wordsFor } from './page/words.ts'
import { type AccountView, accountView, dayZones } from './settings/account-view.ts'
import { loadJose } from './settings/jose.ts'
import type { OpenedSettings } from './settings/opened-settings.ts'
import { closedFiles } from './settings/settings.ts'
import type { Bearer } from './settings/tokens.ts'

export interface PortalOptions extends AnswersOptions {
  readonly settings: () => OpenedSettings
  /** One line per request: never a token or the value of a filter. */
  readonly log?: (line: string) => void
  /** Sends alerts. Default: by `fetch` */
  readonly post?: Post
}

export const missingLibraries = () =>
  userError.usage(
    'The libraries of the usage server are not installed. Install them next to assay: npm install hono @hono/node-server jose.',
  )

/** hono is an optional install. @throws UserError if it is missing */
async function loadHono() {
  try {
    return (await import('hono')).Hono
  } catch {
    throw missingLibraries()
  }
}

/** A request, with the account of its token once that is known. */
type Context = hono.Context<{ Variables: { account?: string } }>

/** The usage of accounts, over HTTP, read-only. */
export class Portal {
  private readonly options: PortalOptions
  private readonly limit = new RequestLimit()
  private readonly live: Live
  private readonly answering: Answering
  private readonly alerting: Alerting

  constructor(options: PortalOptions) {
    this.options = options
    this.live = new Live(options.snapshot, options.now)
    this.answering = new Answering(options, (account) => this.live.tell(account))
    const { snapshot, settings, now, post = postByFetch, log = () => {} } = options
    this.alerting = new Alerting({ snapshot, settings, answering: this.answering, post, now, log })
  }

  /** Copies what is new, and tells those who listen. @throws UserError as the source does */
  async refresh(): Promise<void> {
    const { snapshot, settings } = this.options
    const { settings: own } = settings()
    snapshot.useZones(dayZones(own))
    await snapshot.keepClosed(closedFiles(own))
    for (const account of await this.answering.refresh()) this.live.tell(account)
  }

  /** Makes the alerts that are due, and begins to send them. @throws UserError for a file that cannot be opened */
  alert(): Promise<void> {
    return this.alerting.look()
  }

  /** Begins the deliveries that are due. @throws UserError as `alert` does */
  deliver(): void {
    this.alerting.send()
  }

  /** Waits for the deliveries that are under way. */
  close(): Promise<void> {
    return this.alerting.close()
  }

  forget(): void {
    this.answering.forget()
  }

  /** A function from requests to responses. @throws UserError without hono, or for wrong settings */
  async handler(): Promise<(request: Request) => Promise<Response>> {
    const Hono = await loadHono()
    await loadJose()
    const app = new Hono<{ Variables: { account?: string } }>()
    app.onError((error, context) => refused(error, context, this.options.log))
    app.notFound((context) =>
      refused(new Problem(404, 'no-such-page', 'There is no such page'), context),
    )
    app.use('*', async (context, next) => {
      const startMs = this.options.now()
      await next()
      const { log, now } = this.options
      const account = context.get('account')
      const who = account === undefined ? '-' : digestOf(account).slice(0, 8)
      // Not `req.path`, which is decoded: its line breaks and escapes would act in a terminal.
      const { pathname } = new URL(context.req.url)
      log?.(
        `${new Date(startMs).toISOString()} ${pathname} ${context.res.status} ${Math.round(now() - startMs)}ms ${who}`,
      )
    })
    app.use('*', async (context, next) => {
      allowOrigin(context, this.options.settings().settings.origins)
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
      const { logo } = this.options.settings()
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

  /** Checks the token, its origin and its limit. */
  private async bearer(context: Context): Promise<Bearer> {
    const { tokens } = this.options.settings()
    const [, token] = /^Bearer ([\w.-]+)$/i.exec(context.req.header('authorization') ?? '') ?? []
    if (token === undefined) {
      throw new Problem(401, 'no-token', 'A token is needed', {
        hint: 'Send it as Authorization: Bearer …',
      })
    }
    const bearer = await tokens.check(token, this.options.now())
    context.set('account', bearer.account)
    const origin = context.req.header('origin')
    if (
      bearer.origin !== null &&
      origin !== undefined &&
      origin !== bearer.origin &&
      origin !== new URL(context.req.url).origin
    ) {
      throw new Problem(403, 'origin-not-allowed', 'The token is for another origin')
    }
    context.header(
      'RateLimit',
      this.limit.take(JSON.stringify([bearer.account, bearer.id]), this.options.now()),
    )
    context.header('RateLimit-Policy', rateLimitPolicy)
    if (this.options.snapshot.refreshedMs === null) throw notReady()
    return bearer
  }

  private async answer(name: Exclude<RouteName, 'live'>, context: Context): Promise<Response> {
    const bearer = await this.bearer(context)
    const query = parametersOf(name, new URL(context.req.url).searchParams)
    const isForecast = forecastRoutes.has(name)
    return this.give(context, bearer, { isForecast, name }, async (asked, { page }) => {
      const { snapshot } = this.options
      if (name === 'export') return fileAnswer(await exportSums(asked, query as never), context)
      if (name === 'exportRequests') {
        const file = await exportRequests(asked, query as never, snapshot.source)
        return fileAnswer(file, context)
      }
      const speech = this.speech(asked.view)
      const answer =
        name === 'alerts'
          ? this.alerting.answer(asked, (query as { limit: number }).limit)
          : await readAnswer(name, asked, query, page, snapshot, speech)
      return { body: JSON.stringify(answer), headers: { 'content-type': 'application/json' } }
    })
  }

  /** Gives an answer from the figures of the token's account alone, unless the asker has it. */
  private async give(
    context: Context,
    bearer: Bearer,
    what: Pick<UsageQuestion, 'isForecast' | 'name'>,
    read: UsageQuestion['read'],
  ): Promise<Response> {
    const { settings, digest } = this.options.settings()
    const { account } = bearer
    const own = settings.accounts.get(account) ?? null
    const { tag, answer } = this.answering.ask({
      bearer,
      ...what,
      read,
      url: new URL(context.req.url),
      signal: context.req.raw.signal,
      view: accountView(settings, account),
      settings: [digest, own, what.name === 'alerts' && this.alerting.versionOf(account)],
    })
    // Compressed or not, it is the same answer in other bytes.
    context.header('ETag', `W/${tag}`)
    context.header('Cache-Control', 'private, no-cache')
    const known = (context.req.header('if-none-match') ?? '')
      .split(',')
      .map((each) => each.trim().replace(/^W\//, ''))
    if (known.includes(tag)) return context.body(null, 304)
    return this.send(context, await answer())
  }

  private async send(context: Context, answer: KeptAnswer, status = 200): Promise<Response> {
    const { body, headers } = await compressed(answer, context.req.header('accept-encoding'))
    context.header('Vary', 'Accept-Encoding', { append: true })
    return context.body(body, status as 200, headers)
  }

  private speech(view: AccountView): Speech {
    return speechOf(wordsFor(view.locale, this.options.settings().settings), view)
  }

  /** The page: a shell without data, or, with the token, the whole. */
  private async page(context: Context): Promise<Response> {
    const { settings } = this.options.settings()
    const hasToken = context.req.header('authorization') !== undefined
    if (!hasToken) {
      const speech = this.speech(accountView(settings, ''))
      const { text, policy } = pageDocument(null, settings, speech, settings.origins)
      context.header('Cache-Control', 'no-store')
      return this.send(context, pageAnswer(text, policy))
    }
    const bearer = await this.bearer(context)
    const origins = bearer.origin === null ? settings.origins : [bearer.origin]
    const { searchParams } = new URL(context.req.url)
    try {
      return await this.wholePage(context, bearer, searchParams, origins)
    } catch (error) {
      if (!(error instanceof Problem) || ![400, 403, 404].includes(error.status)) throw error
      // A link that cannot be shown is a page, too, with a way back.
      const speech = this.speech(accountView(settings, bearer.account))
      const body = refusedPage(error, speech)
      const { text, policy } = pageDocument(body, settings, speech, origins)
      context.header('Cache-Control', 'no-store')
      context.header('ETag', undefined)
      return this.send(context, pageAnswer(text, policy), error.status)
    }
  }

  private wholePage(
    context: Context,
    bearer: Bearer,
    searchParams: URLSearchParams,
    origins: readonly string[],
  ): Promise<Response> {
    const { settings } = this.options.settings()
    return this.give(
      context,
      bearer,
      { isForecast: true, name: 'page' },
      async (asked, forecast) => {
        const { snapshot } = this.options
        const speech = this.speech(asked.view)
        const data = await readPageData(asked, searchParams, speech, forecast, snapshot)
        const opened = data.tables.find(({ by }) => by === searchParams.get('tables'))
        if (opened !== undefined)
          return pageAnswer(openedTable(opened, data, speech).text, "default-src 'none'")
        const body = pageBody(data, settings, asked.view, speech)
        const { text, policy } = pageDocument(body, settings, speech, origins)
        return pageAnswer(text, policy)
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

/** A file, and where it goes on: the same address with its cursor. */
function fileAnswer({ name, type, bytes, next }: ExportedFile, context: Context): KeptAnswer {
  const { searchParams } = new URL(context.req.url)
  if (next !== null) searchParams.set('cursor', next)
  return {
    body: new Uint8Array(bytes),
    headers: {
      ...{ 'content-type': type, 'content-disposition': attachment(name) },
      ...(next === null ? {} : { link: `<?${searchParams}>; rel="next"` }),
    },
  }
}

const pageAnswer = (body: string, policy: string): KeptAnswer => ({
  body,
  headers: { 'content-type': 'text/html; charset=UTF-8', 'content-security-policy': policy },
})

const scripts = new Map<string, string>()
function script(name: string): string {
  const text =
    scripts.get(name) ??
    readFileSync(new URL(`../../src/portal/page/${name}`, import.meta.url), 'utf8')
  scripts.set(name, text)
  return text
}
