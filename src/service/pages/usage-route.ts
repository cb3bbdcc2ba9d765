import { hash } from 'node:crypto'
import type { Behaviour, Kit } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { FormIssue } from '../customers.ts'
import { QueryError } from '../usage/report.ts'
import { ZoneError } from '../usage/zone.ts'
import { framedWithoutSession, type Viewer } from './document.ts'
import { drawer } from './drawer.ts'
import type { PageAnswer, PageRequest } from './exchange.ts'
import { lookAt, myCreditsPage, rangeOf, type UsageLook } from './my-credits.ts'
import { type PageRoute, page, redirect, viewerOf } from './route.ts'
import type { Session } from './sessions.ts'

/** The live usage page, for signed-in people and for programs with a key. */
export function usageRoutes(kit: Kit, behaviour: Behaviour): readonly PageRoute[] {
  return [
    ['GET /my-credits', (request, session) => myCredits(kit, behaviour, request, session)],
    ['GET /my-credits/events', (_, session) => news(kit, session)],
  ]
}

const newsEveryUs = 1e6

/** Sends the service's time once a second of it, and whether the account has changed. */
function news({ accounts, clock, ledger }: Kit, session: Session | null): PageAnswer {
  const viewer = viewerOf(session, accounts)
  if (viewer === null) return redirect('/sign-in')
  const { id } = viewer.account
  const state = () => `${ledger.balance(id).balance} ${ledger.lastEntry(id)}`
  return {
    is: 'events',
    listen: (tell) => {
      let told = state()
      const stop = clock.pace(clock.nowUs() + newsEveryUs, (nowUs) => {
        const now = state()
        tell(`event: ${now === told ? 'time' : 'change'}\ndata: ${nowUs / 1000}\n\n`)
        told = now
        return nowUs + newsEveryUs
      })
      tell(': begun\n\n')
      return stop
    },
  }
}

async function myCredits(
  kit: Kit,
  behaviour: Behaviour,
  { call, query }: PageRequest,
  session: Session | null,
): Promise<PageAnswer> {
  const viewer = viewerOf(session, kit.accounts) ?? viewerByKey(kit, behaviour, call)
  if (viewer === null) {
    // A form to sign in is in no frame. Browsers send no session to a frame of another site.
    const isFramed = call.incoming.headers['sec-fetch-dest'] === 'iframe'
    return isFramed ? page(framedWithoutSession(), 401) : redirect('/sign-in')
  }
  const nowUs = kit.clock.nowUs()
  const report = (asked: string) => behaviour.pageReport(call, viewer.account.id, asked)
  const range = rangeOf(query.get('range'))
  const look = (timezone: string, before: string | null) =>
    lookAt(report, { timezone, before, range, nowUs })
  const timezone = query.get('timezone') || 'UTC'
  const issues: FormIssue[] = []
  let seen: UsageLook
  try {
    seen = look(timezone, query.get('before'))
  } catch (fault) {
    if (!(fault instanceof QueryError) && !(fault instanceof ZoneError)) throw fault
    const isZone = fault instanceof ZoneError
    issues.push({ summary: fault.message, field: isZone ? 'timezone' : null })
    seen = look(isZone ? 'UTC' : timezone, null)
  }
  const { to: _, ...whole } = seen.whole
  const shown = JSON.stringify([viewer.account.id, range, issues, { ...seen, whole }])
  const tag = `"${hash('sha256', shown).slice(0, 16)}"`
  if (call.incoming.headers['if-none-match'] === tag) return { is: 'unchanged', tag }
  const body = await myCreditsPage({ viewer, look: seen, range, nowUs, tag, drawer, issues })
  return page(body, issues.length === 0 ? 200 : 400)
}

/** A program can see the page with a key that may read `GET /user/credits`. */
function viewerByKey({ accounts }: Kit, behaviour: Behaviour, call: Call): Viewer | null {
  const key = behaviour.keyFor(call, behaviour.presentedKey(call))
  const account = key === null ? null : accounts.byId(key.accountId)
  return account === null ? null : { account, scope: 'usage', formToken: '' }
}
