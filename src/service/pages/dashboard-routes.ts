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
export function dashboardRoutes(
  kit: Kit,
  customerService: CustomerService,
  flashes: Flashes,
  guards: Guards,
): readonly PageRoute[] {
  return [
    ['GET /dashboard', forOwner((visit) => page(dashboard(visit)))],
    ['POST /dashboard/keys', following(makeKey)],
    ['POST /dashboard/keys/revoke', following(revokeKey)],
    ['POST /dashboard/invite', following(redeem)],
    ['POST /dashboard/buy', following(buy)],
  ]

  /** Lets only the owner of an account through. Others are redirected or refused. */
  function forOwner(then: (visit: Visit) => PageAnswer | Promise<PageAnswer>): Route {
    return (request, session) => {
      const viewer = viewerOf(session, kit.accounts)
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
  function following(follow: (visit: Visit) => void | Promise<void>): Route {
    return forOwner(async (visit) => {
      try {
        await follow(visit)
        return redirect('/dashboard')
      } catch (error) {
        return refused(error, (issues) => dashboard(visit, issues))
      }
    })
  }

  function dashboard({ request, viewer, session }: Visit, issues: readonly FormIssue[] = []): Html {
    const { contract, profile, ledger } = kit
    return dashboardPage({
      viewer,
      contract,
      profile,
      ledger,
      customerService,
      origin: originOf(request.call),
      ...flashes.take(session.secret),
      typed: request.form,
      issues,
    })
  }

  function makeKey({ request: { form }, viewer, session }: Visit): void {
    const { key, record } = customerService.makeKey(viewer.account.id, form.get('name') ?? '')
    flashes.show(session.secret, { name: record.name, key })
  }

  function revokeKey({ request: { form }, viewer, session }: Visit): void {
    const id = Number(form.get('key'))
    const key = customerService.liveKeys(viewer.account.id).find((each) => each.id === id)
    if (key === undefined || !kit.accounts.revokeKey(viewer.account.id, id)) {
      throw new CustomerError('There is no such key, or it was revoked before.')
    }
    flashes.say(
      session.secret,
      `The key “${key.name}” is revoked: requests with it are refused from now on.`,
    )
  }

  function buy({ request: { form }, viewer, session }: Visit): void {
    const order = (form.get('order') ?? '').slice(0, 64)
    if (order === '') throw new CustomerError('Expected an order number; load the page again.')
    const paid = customerService.buy(viewer.account.id, form.get('package') ?? '', order)
    flashes.say(
      session.secret,
      `Paid, in play money: ${paid.credits.toLocaleString('en-US')} credits of ${paid.package} are yours.`,
    )
  }

  async function redeem({ request, viewer, session }: Visit): Promise<void> {
    await withInvite(guards, request, (code) => customerService.redeem(viewer.account.id, code))
    flashes.say(session.secret, 'Thank you. The account that invited you has been rewarded.')
  }
}

function originOf({ incoming: { headers } }: Call): string {
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'
  return `${scheme}://${headers.host ?? 'localhost'}`
}
