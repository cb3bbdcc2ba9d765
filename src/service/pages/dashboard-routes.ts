import type { Html } from '../../user/html.ts'
import type { Kit } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { CustomerError, type FormIssue } from '../customers.ts'
import type { CustomerService } from './customer-service.ts'
import { dashboardPage } from './dashboard.ts'
import { messagePage, type Viewer } from './document.ts'
import type { PageAnswer, PageRequest } from './exchange.ts'
import type { Flashes } from './flashes.ts'
import {
  type PageRoute,
  page,
  type Route,
  redirect,
  refused,
  viewerOf,
  withInvite,
} from './route.ts'
import type { Session } from './sessions.ts'
import type { Guards } from './tries.ts'

/** A request to the dashboard and its sender. */
interface Visit {
  readonly request: PageRequest
  readonly viewer: Viewer
  readonly session: Session
}

/** The actions on the dashboard: keys, packages, invites. */
export class DashboardRoutes {
  readonly #kit: Kit
  readonly #customerService: CustomerService
  readonly #flashes: Flashes

  readonly #guards: Guards

  constructor(kit: Kit, customerService: CustomerService, flashes: Flashes, guards: Guards) {
    this.#kit = kit
    this.#customerService = customerService
    this.#flashes = flashes
    this.#guards = guards
  }

  routes(): readonly PageRoute[] {
    return [
      ['GET /dashboard', this.#forOwner((visit) => page(this.#dashboard(visit)))],
      ['POST /dashboard/keys', this.#following((visit) => this.#makeKey(visit))],
      ['POST /dashboard/keys/revoke', this.#following((visit) => this.#revokeKey(visit))],
      ['POST /dashboard/invite', this.#following((visit) => this.#redeem(visit))],
      ['POST /dashboard/buy', this.#following((visit) => this.#buy(visit))],
    ]
  }

  /** Lets only the owner of an account through. Others are redirected or refused. */
  #forOwner(then: (visit: Visit) => PageAnswer | Promise<PageAnswer>): Route {
    return (request, session) => {
      const viewer = viewerOf(session, this.#kit.accounts)
      if (viewer === null || session === null) return redirect('/sign-in')
      if (viewer.scope === 'account') return then({ request, viewer, session })
      return page(
        messagePage(
          'Sign in with the password',
          'An API key opens only the usage page of its account. For everything else, sign out, then sign in with e-mail and password.',
          viewer,
        ),
        403,
      )
    }
  }

  /** Processes a form and shows the dashboard, with the errors of the form if there are any. */
  #following(follow: (visit: Visit) => void | Promise<void>): Route {
    return this.#forOwner(async (visit) => {
      try {
        await follow(visit)
        return redirect('/dashboard')
      } catch (error) {
        return refused(error, (issues) => this.#dashboard(visit, issues))
      }
    })
  }

  #dashboard({ request, viewer, session }: Visit, issues: readonly FormIssue[] = []): Html {
    const { contract, profile, ledger } = this.#kit
    return dashboardPage({
      viewer,
      contract,
      profile,
      ledger,
      customerService: this.#customerService,
      origin: originOf(request.call),
      ...this.#flashes.take(session.secret),
      typed: request.form,
      issues,
    })
  }

  #makeKey({ request: { form }, viewer, session }: Visit): void {
    const { key, record } = this.#customerService.makeKey(viewer.account.id, form.get('name') ?? '')
    this.#flashes.show(session.secret, { name: record.name, key })
  }

  #revokeKey({ request: { form }, viewer, session }: Visit): void {
    const id = Number(form.get('key'))
    const key = this.#customerService.liveKeys(viewer.account.id).find((each) => each.id === id)
    if (key === undefined || !this.#kit.accounts.revokeKey(viewer.account.id, id)) {
      throw new CustomerError('There is no such key, or it was revoked before.')
    }
    this.#flashes.say(
      session.secret,
      `The key “${key.name}” is revoked: requests with it are refused from now on.`,
    )
  }

  #buy({ request: { form }, viewer, session }: Visit): void {
    const order = (form.get('order') ?? '').slice(0, 64)
    if (order === '') throw new CustomerError('Expected an order number; load the page again.')
    const paid = this.#customerService.buy(viewer.account.id, form.get('package') ?? '', order)
    this.#flashes.say(
      session.secret,
      `Paid, in play money: ${paid.credits.toLocaleString('en-US')} credits of ${paid.package} are yours.`,
    )
  }

  async #redeem({ request, viewer, session }: Visit): Promise<void> {
    await withInvite(this.#guards, request, (code) =>
      this.#customerService.redeem(viewer.account.id, code),
    )
    this.#flashes.say(session.secret, 'Thank you. The account that invited you has been rewarded.')
  }
}

function originOf({ incoming: { headers } }: Call): string {
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'
  return `${scheme}://${headers.host ?? 'localhost'}`
}
