import type { Html } from '../../user/html.ts'
import { CustomerError, type FormIssue, UnknownInvite } from '../customers.ts'
import type { Accounts } from '../ledger/accounts.ts'
import type { Viewer } from './document.ts'
import type { PageAnswer, PageRequest } from './exchange.ts'
import type { Session } from './sessions.ts'
import { type Guards, TooManyTries } from './tries.ts'

export type Route = (
  request: PageRequest,
  session: Session | null,
) => PageAnswer | Promise<PageAnswer>

/** Method and path, and the function that answers. */
export type PageRoute = readonly [string, Route]

export function page(body: Html, status = 200): Extract<PageAnswer, { readonly is: 'page' }> {
  return { is: 'page', status, body }
}

/** @param cookie opens a session; null ends it */
export const redirect = (to: string, cookie?: string | null): PageAnswer =>
  cookie === undefined ? { is: 'redirect', to } : { is: 'redirect', to, cookie }

/**
 * The page again, with all errors of its form.
 *
 * @throws any error that is not the customer's
 */
export function refused(error: unknown, show: (issues: readonly FormIssue[]) => Html): PageAnswer {
  if (!(error instanceof CustomerError)) throw error
  const body = show(error.issues)
  return error instanceof TooManyTries
    ? { ...page(body, 429), retryAfterS: error.waitS }
    : page(body, 400)
}

/**
 * Runs an action that takes an invite code. An unknown code counts as a wrong try.
 *
 * @throws TooManyTries before the action runs
 */
export async function withInvite<T>(
  { invites }: Guards,
  { call, form }: PageRequest,
  then: (code: string) => T | Promise<T>,
): Promise<T> {
  const code = form.get('invite') ?? ''
  if (code.trim() === '') return then(code)
  const { remoteAddress } = call.incoming
  invites.take(remoteAddress)
  let wrong = false
  try {
    return await then(code)
  } catch (error) {
    wrong = error instanceof UnknownInvite
    throw error
  } finally {
    if (!wrong) invites.giveBack(remoteAddress)
  }
}

export function viewerOf(session: Session | null, accounts: Accounts): Viewer | null {
  if (session === null) return null
  const account = accounts.byId(session.accountId)
  return account === null ? null : { account, scope: session.scope, formToken: session.formToken }
}
