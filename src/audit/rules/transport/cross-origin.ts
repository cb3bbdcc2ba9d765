import { flagSql } from '../../../attempt/flags.ts'
import type { Contract } from '../../../contract/contract.ts'
import { promised } from '../../../contract/request.ts'
import { usualOf } from '../../../contract/usual.ts'
import { exchangeRule } from '../exchange-rule.ts'
import { sqlList, sqlRule } from '../sql-rule.ts'

export const trn03 = sqlRule({
  id: 'TRN-03',
  title: 'Every response, including failures, allows browsers of other origins',
  section: '§1.3',
  promised: ['cross_origin'],
  explain: `Looks for Access-Control-Allow-Origin on every response of the four endpoints, whatever its
status, if the request had an Origin: without the header, a browser hides even a 401 or 429 from the page. A
request without an Origin is not a cross-origin request, and its response is ignored. A preflight
must be a 2xx, unless it is a 429 or 5xx. A captured preflight that requests the key header of
its path's format, or Content-Type, must allow them. A * does not include Authorization.`,
  expected:
    'Access-Control-Allow-Origin on every response to another origin, and its headers allowed',
  parts: () => ['successes', 'failures', 'preflights'],
  observe: (contract) => `
    SELECT run_id, slot, retry,
      CASE WHEN method = 'OPTIONS' THEN 'preflights' WHEN status < 400 THEN 'successes' ELSE 'failures' END AS part,
      CASE WHEN method = 'OPTIONS' AND status > 299 THEN 'a preflight with status ' || status
           WHEN NOT ${flagSql('allowOrigin')} THEN 'no Access-Control-Allow-Origin with status ' || status
           ${neededHeaders(contract)
             .map(
               ({ path, name }) => `WHEN ${notAllowed(path, name)}
           THEN 'a preflight that does not allow ${name}'`,
             )
             .join('\n           ')} END AS observed
    FROM seen JOIN templates USING (run_id, template) LEFT JOIN bodies USING (run_id, slot, retry)
    WHERE json_extract_string(templates.headers, '$.origin') IS NOT NULL
      AND CASE method WHEN 'OPTIONS' THEN status < 500 AND status <> 429
                      ELSE status IS NOT NULL AND endpoint <> 'other' END`,
  requires: 'a response to a request with an Origin',
})

/** Headers that a page sends to the endpoint of each format. */
function neededHeaders(contract: Contract) {
  const { auth, paths } = usualOf(contract)
  return promised.flatMap((format) =>
    [auth[format].name.toLowerCase(), 'content-type'].map((name) => ({
      path: paths[format],
      name,
    })),
  )
}

/** SQL: a captured preflight of this path requested a header that its response does not allow. */
function notAllowed(path: string, name: string): string {
  const names = (allowed: string) => `([^\\n]*,)?[ \\t]*${allowed}[ \\t]*(,|$)`
  const allowed = name === 'authorization' ? name : `(${name}|\\*)`
  return `method = 'OPTIONS' AND ends_with(path, ${sqlList([path])}) AND regexp_matches(lower(
             json_extract_string(templates.headers, '$."access-control-request-headers"')), '^${names(name)}')
           AND NOT regexp_matches(lower(bodies.headers), '(?m)^access-control-allow-headers:${names(allowed)}')`
}

const billingHeaders = ['creditsRemaining', 'rateLimit', 'rateRemaining', 'rateReset'] as const

export const trn04 = exchangeRule({
  id: 'TRN-04',
  title: 'A browser can read the credits and rate headers',
  section: '§1.3',
  severity: 'advice',
  promised: ['cross_origin'],
  explain: `Access-Control-Expose-Headers must name the credits and rate headers that a response
carries, or be *; otherwise a page never sees them. Needs captured responses.`,
  expected: 'Access-Control-Expose-Headers that names the credits and rate headers',
  requires: 'a captured success with a credits or rate header',
  judge(exchange, { headers = {} }) {
    if (!exchange.isOk || exchange.header('access-control-allow-origin') === undefined)
      return undefined
    const carried = billingHeaders
      .flatMap((name) => headers[name] ?? [])
      .filter((name) => exchange.header(name) !== undefined)
    if (carried.length === 0) return undefined
    const exposed = exchange.headerList('access-control-expose-headers')
    if (exposed.includes('*')) return null
    const hidden = carried.filter((name) => !exposed.includes(name))
    return hidden.length === 0 ? null : `not exposed: ${hidden.join(', ')}`
  },
})
