import { CustomerError } from '../customers.ts'
import type { Accounts } from '../ledger/accounts.ts'
import type { Viewer } from './document.ts'
import type { PageAnswer, PageRequest } from './exchange.ts'
import type { Html } from './html.ts'
import type { Session } from './sessions.ts'

export type Route = (
  request: PageRequest,
  session: Session | null,
) => PageAnswer | Promise<PageAnswer>

/** Method and path, and what answers there. */
export type PageRoute = readonly [string, Route]

export function page(body: Html, status = 200): Extract<PageAnswer, { readonly is: 'page' }> {
  return { is: 'page', status, body }
}

/** @param cookie opens a session, or with null ends it */
export function redirect(to: string, cookie?: string | null): PageAnswer {
  return cookie === undefined ? { is: 'redirect', to } : { is: 'redirect', to, cookie }
}

/** @throws what is not the customer's mistake */
export function complaintOf(error: unknown): string {
  if (error instanceof CustomerError) return error.message
  throw error
}

export function viewerOf(session: Session | null, accounts: Accounts): Viewer | null {
  if (session === null) return null
  const account = accounts.byId(session.accountId)
  return account === null ? null : { account, scope: session.scope, formToken: session.formToken }
}
