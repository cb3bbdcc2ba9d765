import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { chartCss } from '../../chart/theme.ts'
import type { Behaviour, Kit } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { CustomerError, type Customers } from '../customers.ts'
import { QueryError } from '../usage/report.ts'
import { ZoneError } from '../usage/zone.ts'
import { dashboardPage } from './dashboard.ts'
import { Desk } from './desk.ts'
import { messagePage, type Viewer } from './document.ts'
import { drawer } from './drawer.ts'
import { registerPage, signInPage } from './entrance.ts'
import {
  isOwnOrigin,
  type PageAnswer,
  type PageRequest,
  readCookie,
  readPageRequest,
  writeAnswer,
} from './exchange.ts'
import type { Html } from './html.ts'
import { lookAt, myCreditsPage, type UsageLook } from './my-credits.ts'
import { type Session, Sessions } from './sessions.ts'

type Route = (request: PageRequest, session: Session | null) => PageAnswer | Promise<PageAnswer>

/** What the next page of a session says once. */
interface Flash {
  readonly said: string | null
  readonly newKey: { readonly name: string; readonly key: string } | null
}

/** The pages that customers see in a browser: accounts, keys, packages, invites, usage. */
export class Pages {
  readonly #kit: Kit
  readonly #behaviour: Behaviour
  readonly #desk: Desk
  readonly #sessions: Sessions
  readonly #routes: ReadonlyMap<string, Route>
  /** By the hash of the session; in memory alone, since it may hold a key. */
  readonly #flashes = new Map<string, Flash>()

  constructor(kit: Kit, behaviour: Behaviour, customers: Customers) {
    this.#kit = kit
    this.#behaviour = behaviour
    this.#desk = new Desk(kit, customers)
    this.#sessions = new Sessions(kit.database, kit.accounts, kit.clock)
    this.#routes = this.#routeAll()
  }

  /** Answers when the path is a page's; false leaves the call to the API. */
  handle(call: Call, response: ServerResponse): boolean {
    const request = readPageRequest(call)
    if (request === null) return false
    const route = this.#routes.get(`${request.method} ${pathOf(request)}`)
    if (route === undefined) return false
    const secret = readCookie(call, response)
    const session = secret === null ? null : this.#sessions.find(secret)
    this.#answer(route, request, session)
      .catch((error: unknown) => this.#failed(error))
      .then((answer) => {
        this.#kit.database.afterCommit(() =>
          writeAnswer(call, response, answer, this.#kit.clock.nowUs()),
        )
      })
    return true
  }

  async #answer(route: Route, request: PageRequest, session: Session | null): Promise<PageAnswer> {
    if (request.method === 'POST') {
      const foreign = !isOwnOrigin(request.call)
      const stale =
        session !== null &&
        !isEntrance(request.path) &&
        request.form.get('token') !== session.formToken
      if (foreign || stale) {
        return page(
          messagePage(
            'This form is out of date',
            'It was not sent by the page that you see now. Go back, load the page again, and repeat it.',
            null,
          ),
          403,
        )
      }
    }
    return route(request, session)
  }

  #failed(error: unknown): PageAnswer {
    process.stderr.write(`A page failed: ${error instanceof Error ? error.stack : error}\n`)
    return page(
      messagePage('The page failed', 'This is a fault of the service. Nothing was changed.', null),
      500,
    )
  }

  #routeAll(): ReadonlyMap<string, Route> {
    const { contract } = this.#kit
    const assets = readAssets()
    return new Map<string, Route>([
      [
        'GET /register',
        ({ query }) =>
          page(
            registerPage(contract, { email: '', invite: query.get('invite') ?? '', error: null }),
          ),
      ],
      ['POST /register', (request) => this.#register(request)],
      [
        'GET /sign-in',
        (_, session) =>
          session === null
            ? page(signInPage({ email: '', error: null }, null))
            : redirect(homeOf(session)),
      ],
      ['POST /sign-in', (request) => this.#signIn(request)],
      ['POST /sign-out', (_, session) => this.#signOut(session)],
      [
        'GET /dashboard',
        (request, session) =>
          this.#forOwner(session, (viewer) => this.#dashboard(request, viewer, session!)),
      ],
      ['GET /my-credits', (request, session) => this.#myCredits(request, session)],
      [
        'POST /dashboard/keys',
        (request, session) =>
          this.#forOwner(session, (viewer) => this.#makeKey(request, viewer, session!)),
      ],
      [
        'POST /dashboard/keys/revoke',
        (request, session) =>
          this.#forOwner(session, (viewer) => this.#revokeKey(request, viewer, session!)),
      ],
      [
        'POST /dashboard/invite',
        (request, session) =>
          this.#forOwner(session, (viewer) => this.#redeem(request, viewer, session!)),
      ],
      [
        'POST /dashboard/buy',
        (request, session) =>
          this.#forOwner(session, (viewer) => this.#buy(request, viewer, session!)),
      ],
      ...[...assets].map(([path, asset]): [string, Route] => [
        `GET ${path}`,
        ({ call }) =>
          call.arrival.headers['if-none-match'] === asset.tag
            ? { is: 'unchanged', tag: asset.tag }
            : asset,
      ]),
    ])
  }

  /** Does something for the owner of an account; others are sent to where they belong. */
  #forOwner(session: Session | null, then: (viewer: Viewer) => PageAnswer): PageAnswer {
    const viewer = this.#viewerOf(session)
    if (viewer === null) return redirect('/sign-in')
    if (viewer.scope === 'account') return then(viewer)
    return page(
      messagePage(
        'Sign in with the password',
        'An API key shows the usage of its account; for all else, sign out and sign in with e-mail and password.',
        viewer,
      ),
      403,
    )
  }

  #viewerOf(session: Session | null): Viewer | null {
    if (session === null) return null
    const account = this.#kit.accounts.byId(session.accountId)
    return account === null ? null : { account, scope: session.scope, formToken: session.formToken }
  }

  async #register({ form }: PageRequest): Promise<PageAnswer> {
    const email = form.get('email') ?? ''
    const invite = form.get('invite') ?? ''
    try {
      const password = form.get('password') ?? ''
      const account = await this.#desk.register({ email, password, inviteCode: invite })
      const session = this.#sessions.open(account, 'account')
      this.#say(session, 'Welcome. Make an API key to send your first request.')
      return redirect('/dashboard', session.secret)
    } catch (error) {
      return page(
        registerPage(this.#kit.contract, { email, invite, error: complaintOf(error) }),
        400,
      )
    }
  }

  async #signIn({ form }: PageRequest): Promise<PageAnswer> {
    const presented = form.get('key')?.trim()
    if (presented !== undefined) {
      const key = this.#kit.accounts.findKey(presented)
      if (key === null || key.revokedUs !== null) {
        return page(
          signInPage({ email: '', error: null }, 'There is no such key, or it was revoked.'),
          401,
        )
      }
      const { secret } = this.#sessions.open(key.accountId, 'usage', key.id)
      return redirect('/my-credits', secret)
    }
    const email = form.get('email') ?? ''
    const account = await this.#desk.signIn(email, form.get('password') ?? '')
    if (account === null) {
      const error = 'E-mail and password do not belong together.'
      return page(signInPage({ email, error }, null), 401)
    }
    return redirect('/dashboard', this.#sessions.open(account.id, 'account').secret)
  }

  #signOut(session: Session | null): PageAnswer {
    if (session !== null) {
      this.#flashes.delete(session.secret)
      this.#sessions.end(session.secret)
    }
    return redirect('/sign-in', null)
  }

  #dashboard(
    { call }: PageRequest,
    viewer: Viewer,
    session: Session,
    error: string | null = null,
  ): PageAnswer {
    const { contract, ledger } = this.#kit
    const flash = this.#flashes.get(session.secret)
    this.#flashes.delete(session.secret)
    const main = dashboardPage({
      viewer,
      contract,
      ledger,
      desk: this.#desk,
      origin: originOf(call),
      newKey: flash?.newKey ?? null,
      said: flash?.said ?? null,
      error,
    })
    return page(main, error === null ? 200 : 400)
  }

  async #myCredits(request: PageRequest, session: Session | null): Promise<PageAnswer> {
    const { call, query } = request
    const viewer = this.#viewerOf(session) ?? this.#viewerByKey(call)
    if (viewer === null) return redirect('/sign-in')
    const nowUs = this.#kit.clock.nowUs()
    const report = (asked: string) => this.#behaviour.pageReport(call, viewer.account.id, asked)
    const look = (timezone: string, before: string | null) =>
      lookAt(report, timezone, before, nowUs)
    let error: string | null = null
    let seen: UsageLook
    try {
      seen = look(query.get('timezone') || 'UTC', query.get('before'))
    } catch (fault) {
      if (!(fault instanceof QueryError) && !(fault instanceof ZoneError)) throw fault
      error = fault.message
      seen = look('UTC', null)
    }
    const { to: _, ...whole } = seen.whole
    const shown = JSON.stringify([viewer.account.id, error, { ...seen, whole }])
    const tag = `"${hash('sha256', shown).slice(0, 16)}"`
    if (call.arrival.headers['if-none-match'] === tag) return { is: 'unchanged', tag }
    const body = await myCreditsPage({
      viewer,
      look: seen,
      nowUs,
      tag,
      drawer,
      error,
    })
    return page(body, error === null ? 200 : 400)
  }

  /** Programs may look at the page with the key that they would read `GET /user/credits` with. */
  #viewerByKey(call: Call): Viewer | null {
    const key = this.#behaviour.keyFor(call, this.#behaviour.presentedKey(call))
    const account = key === null ? null : this.#kit.accounts.byId(key.accountId)
    return account === null ? null : { account, scope: 'usage', formToken: '' }
  }

  #makeKey(request: PageRequest, viewer: Viewer, session: Session): PageAnswer {
    return this.#orComplain(request, viewer, session, () => {
      const { key, record } = this.#desk.makeKey(viewer.account.id, request.form.get('name') ?? '')
      this.#flashes.set(session.secret, { said: null, newKey: { name: record.name, key } })
    })
  }

  #revokeKey(request: PageRequest, viewer: Viewer, session: Session): PageAnswer {
    return this.#orComplain(request, viewer, session, () => {
      const id = Number(request.form.get('key'))
      const key = this.#desk.liveKeys(viewer.account.id).find((each) => each.id === id)
      if (key === undefined || !this.#kit.accounts.revokeKey(viewer.account.id, id)) {
        throw new CustomerError('There is no such key, or it was revoked before.')
      }
      this.#say(
        session,
        `The key “${key.name}” is revoked: requests with it are refused from now on.`,
      )
    })
  }

  #buy(request: PageRequest, viewer: Viewer, session: Session): PageAnswer {
    return this.#orComplain(request, viewer, session, () => {
      const { form } = request
      const order = (form.get('order') ?? '').slice(0, 64)
      if (order === '') throw new CustomerError('Expected an order number; load the page again.')
      const paid = this.#desk.buy(viewer.account.id, form.get('package') ?? '', order)
      this.#say(
        session,
        `Paid, in play money: ${paid.credits.toLocaleString('en-US')} credits of ${paid.package} are yours.`,
      )
    })
  }

  #redeem(request: PageRequest, viewer: Viewer, session: Session): PageAnswer {
    return this.#orComplain(request, viewer, session, () => {
      this.#desk.redeem(viewer.account.id, request.form.get('invite') ?? '')
      this.#say(session, 'Thank you: whoever invited you has been rewarded.')
    })
  }

  /** Follows a form and shows the dashboard; what is wrong with the form is said on it. */
  #orComplain(
    request: PageRequest,
    viewer: Viewer,
    session: Session,
    follow: () => void,
  ): PageAnswer {
    try {
      follow()
      return redirect('/dashboard')
    } catch (error) {
      return this.#dashboard(request, viewer, session, complaintOf(error))
    }
  }

  #say(session: Session, said: string): void {
    this.#flashes.set(session.secret, { said, newKey: null })
  }
}

function isEntrance(path: string): boolean {
  return path === '/register' || path === '/sign-in'
}

/** A person who opens the bare address wants the dashboard; a program that does gets its 404. */
function pathOf({ call, path }: PageRequest): string {
  const wantsPage = call.arrival.headers.accept?.includes('text/html') === true
  return path === '/' && wantsPage ? '/dashboard' : path
}

function homeOf({ scope }: Session): string {
  return scope === 'account' ? '/dashboard' : '/my-credits'
}

function page(body: Html, status = 200): PageAnswer {
  return { is: 'page', status, body }
}

function redirect(to: string, cookie?: string | null): PageAnswer {
  return cookie === undefined ? { is: 'redirect', to } : { is: 'redirect', to, cookie }
}

/** @throws what is not the customer's mistake */
function complaintOf(error: unknown): string {
  if (error instanceof CustomerError) return error.message
  throw error
}

function originOf({ arrival: { headers } }: Call): string {
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'
  return `${scheme}://${headers.host ?? 'localhost'}`
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0072b2"/><path d="M4 12 8 4l4 8M5.6 9.2h4.8" fill="none" stroke="#fff" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></svg>'

function readAssets() {
  const read = (name: string) =>
    readFileSync(new URL(`../../../src/service/pages/${name}`, import.meta.url), 'utf8')
  const asset = (type: string, body: string) => ({
    is: 'asset' as const,
    type,
    body,
    tag: `"${hash('sha256', body).slice(0, 16)}"`,
  })
  return new Map([
    ['/pages/page.css', asset('text/css; charset=utf-8', chartCss + read('page.css'))],
    ['/pages/live.js', asset('text/javascript; charset=utf-8', read('live.js'))],
    ['/pages/icon.svg', asset('image/svg+xml', icon)],
  ])
}
