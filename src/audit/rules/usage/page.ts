import { type Exchange, exchangesOf } from '../../evidence/exchange.ts'
import { type UsageReport, usageReports } from '../../evidence/usage/reports.ts'
import { judgedRule, type Observed } from '../exchange-rule.ts'

export const page01 = judgedRule({
  id: 'PAGE-01',
  title: 'The page /my-credits shows the figures of the credits endpoint',
  section: '§1.4',
  severity: 'must',
  needs: ['active', 'quiescence'],
  promised: ['paths.credits'],
  explain: `Looks at captured responses of the path /my-credits between two of the credits endpoint for the
same key with the same balance: the page must show that number. A stale page shows an
older one. Numbers that a script fetches later, or that need a sign-in, are not in its HTML: a
page with a script or a password field is checked only if its text shows both remaining and
consumed credits of an earlier response instead. Otherwise compare the page with the endpoint yourself.`,
  expected: 'the same remaining credits',
  requires: 'captured answers of /my-credits between two of GET /user/credits',
  async judged(evidence) {
    const reports = await usageReports(evidence)
    const pages = (await exchangesOf(evidence)).filter(
      ({ row }) =>
        row.path?.split('?')[0]?.endsWith('/my-credits') === true &&
        row.responseBody !== null &&
        row.status === 200,
    )
    return pages.map((page) => [page, judge(page, reports)])
  },
})

function judge(page: Exchange, reports: readonly UsageReport[]): Observed {
  const { row } = page
  const ofKey = reports.filter(
    ({ exchange }) => exchange.row.runId === row.runId && exchange.row.keyFp === row.keyFp,
  )
  const told = ofKey.filter(({ exchange }) => closedOf(exchange) <= row.sentUs)
  const before = told.at(-1)?.remaining
  const after = ofKey.find(({ exchange }) => exchange.row.sentUs >= closedOf(page))?.remaining
  // If the balance differs afterwards, something happened meanwhile, and the page may show either.
  if (typeof before !== 'number' || before !== after) return undefined
  const html = row.responseBody ?? ''
  if (shows(html, before)) return null
  // It may be in the part that was not captured.
  if (!page.isWhole) return undefined
  const mayComeLater = /<script|type=["']?password/i.test(html)
  return !mayComeLater || told.some((report) => showsOlder(html, report))
    ? `no ${before} on the page`
    : undefined
}

/** Whether the text of a page, without scripts and tags, shows the figures of a response. */
function showsOlder(html: string, { remaining, consumed }: UsageReport): boolean {
  const text = textOf(html)
  return remaining !== null && !!consumed && shows(text, remaining) && shows(text, consumed)
}

/** The text of a page. It reads the page once, whatever it holds. */
function textOf(html: string): string {
  // The letters of tags alone: the lower case of others may have another length.
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const texts: string[] = []
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    texts.push(html.slice(at, open < 0 ? undefined : open))
    if (open < 0) break
    const name = /^<(script|style)\b/.exec(lower.slice(open, open + 8))?.[1]
    const end = name === undefined ? open : lower.indexOf(`</${name}`, open)
    const close = end < 0 ? -1 : html.indexOf('>', end)
    if (close < 0) break
    at = close + 1
  }
  return texts.join(' | ')
}

/** Spaces and apostrophes as HTML writes them. */
const entities =
  /&(?:nbsp|thinsp|ensp|emsp|rsquo|apos|#160|#8201|#8239|#8217|#39|#xa0|#x2009|#x202f|#x2019|#x27);/gi
/** Whether a text has a number, with any sign between its groups of digits: 1,499, 1.499, 1’499, 1 499, 1,23,456. */
function shows(text: string, number: number): boolean {
  const grouped = text
    .replaceAll(entities, '\u00a0')
    .replaceAll(/(?<=\d)[,'’\u2009\u202f\u00a0 ](?=(?:\d{2},)*\d{3}(?!\d))/g, '')
  const wanted = new RegExp(`(?<![\\d.])${String(number).replace('.', '[.,]')}(?!\\d)`)
  return wanted.test(grouped) || wanted.test(text.replaceAll(/(?<=\d)\.(?=\d{3}(?!\d))/g, ''))
}

const closedOf = ({ row }: Exchange): number => row.closedUs ?? row.sentUs
