import type { ServerResponse } from 'node:http'
import type { Behaviour, Kit } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Customers } from '../customers.ts'
import { assetRoutes } from './assets.ts'
import { CustomerService } from './customer-service.ts'
import { dashboardRoutes } from './dashboard-routes.ts'
import { messagePage } from './document.ts'
import { entranceRoutes } from './entrance-routes.ts'
import {
  isOwnOrigin,
  type PageAnswer,
  type PageRequest,
  readCookie,
  readPageRequest,
  writeAnswer,
} from './exchange.ts'
import { Flashes } from './flashes.ts'
import { page, type Route } from './route.ts'
import { type Session, Sessions } from './sessions.ts'
import { guardsOf } from './tries.ts'
import { usageRoutes } from './usage-route.ts'

/**
 * The pages for customers in a browser: accounts, keys, packages, invites, usage. Answers if the path belongs to a page; false
 * leaves the call to the API.
 *
 * @param frameOrigins whose pages may frame the usage page
 */
export function pagesOf(
  kit: Kit,
  behaviour: Behaviour,
  customers: Customers,
  frameOrigins: readonly string[],
): Pages {
  const customerService = new CustomerService(kit, customers)
  const flashes = new Flashes()
  const guards = guardsOf(kit.clock)
  const sessions = new Sessions(kit.database, kit.accounts, kit.clock)
  const routes: ReadonlyMap<string, Route> = new Map([
    ...entranceRoutes(kit, customerService, sessions, flashes, guards),
    ...dashboardRoutes(kit, customerService, flashes, guards),
    ...usageRoutes(kit, behaviour),
    ...assetRoutes(),
  ])
  return (call, response) => {
    const request = readPageRequest(call)
    if (request === null) return false
    const route = routes.get(`${request.method} ${pathOf(request)}`)
    if (route === undefined) return false
    // No form is in a frame: only the usage page, which changes nothing, may be framed.
    const framedBy = request.path === '/my-credits' ? frameOrigins : []
    const secret = readCookie(call, response)
    const session = secret === null ? null : sessions.find(secret)
    answer(route, request, session)
      .catch((error: unknown) => failed(error))
      .then((answered) => {
        kit.database.afterCommit(() =>
          writeAnswer(call, response, answered, kit.clock.nowUs(), framedBy),
        )
      })
    return true
  }
}

export type Pages = (call: Call, response: ServerResponse) => boolean

async function answer(
  route: Route,
  request: PageRequest,
  session: Session | null,
): Promise<PageAnswer> {
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
          'It was not sent by the current page. Go back, reload the page, and try again.',
          null,
        ),
        403,
      )
    }
  }
  return route(request, session)
}

function failed(error: unknown): PageAnswer {
  process.stderr.write(`A page failed: ${error instanceof Error ? error.stack : error}\n`)
  return page(
    messagePage('The page failed', 'This is an error of the service. Nothing was changed.', null),
    500,
  )
}

const isEntrance = (path: string): boolean => path === '/register' || path === '/sign-in'

/** For a browser, the root means the dashboard. A program gets the API's 404. */
function pathOf({ call, path }: PageRequest): string {
  const wantsPage = call.incoming.headers.accept?.includes('text/html') === true
  return path === '/' && wantsPage ? '/dashboard' : path
}
