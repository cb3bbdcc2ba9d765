import { type Exchange, exchangesOf } from '../../evidence/exchange.ts'
import { type UsageReport, usageReports } from '../../evidence/usage/reports.ts'
import { judgedRule, type Observed } from '../exchange-rule.ts'

export const page01 = judgedRule({
  id: 'PAGE-01',
  title: 'The page /my-credits shows the figures of the credits endpoint',
  section: '§1.4',
  needs: ['active', 'quiescence'],
  promised: ['paths.credits'],
  explain: `Looks at captured responses of the path /my-credits between two of the credits endpoint for the
same key with the same balance: the page must show that number. A stale page shows an
older one. Numbers that a script fetches later, or that need a sign-in, are not in its HTML. So a
page with a script, a sign-in or no number, or whose number stands outside of its text or is rounded there, fails only
if its text shows both remaining and consumed credits of an earlier response instead. Otherwise compare the page with the
endpoint yourself. Dates, times and shares are no credits.`,
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
  const text = textOf(html)
  const older = told.filter(({ remaining }) => remaining !== null && remaining !== before)
  const isStale = older.some((report) => showsOlder(text, report))
  if (shows(text, before)) return isStale && !shows(text, told.at(-1)?.consumed) ? undefined : null
  // It may be in the part that was not captured.
  if (!page.isWhole) return undefined
  const mayBeElsewhere = mayShow(html, before) || needsMore.test(html) || !/\d/.test(text)
  return !mayBeElsewhere || isStale ? `no ${before} on the page` : undefined
}

/** What a page has whose figures a script fetches later, or that need a sign-in. */
const needsMore =
  /<(?:script|iframe|frame|object|embed)\b|http-equiv=["']?refresh|type=["']?(?:password|email|tel)\b|\b(?:sign|log)[ -]?in\b/i

/** Whether the text of a page shows the figures of an earlier response. */
const showsOlder = (text: string, { remaining, consumed }: UsageReport): boolean =>
  !!consumed && shows(text, remaining) && shows(text, consumed)

/** The text of a page, without scripts, tags, dates, times and shares, whose digits are no credits. It reads the page once, whatever it holds. */
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
  return texts.join(' | ').replaceAll(entities, '\u00a0').replaceAll(notCredits, ' ')
}

/** Spaces and apostrophes as HTML writes them. */
const entities =
  /&(?:nbsp|thinsp|ensp|emsp|rsquo|apos|#160|#8201|#8239|#8217|#39|#xa0|#x2009|#x202f|#x2019|#x27);/gi
/** `2026-11-20`, `20.11.2026`, `20:15`, `7 %`, `© 2026`. */
const notCredits =
  /\b\d{4}-\d\d?-\d\d?\b|\b\d\d?[./]\d\d?[./](?:19|20)\d\d\b|\b\d\d?:\d\d(?::\d\d)?\b|\b\d+(?:[.,]\d+)?[ \u00a0]?%|(?:©|&copy;|\(c\))\s*\d{4}/gi

/** Between groups of digits: 1,499, 1’499, 1 499, 1,23,456. Lists are bounded, so that a hostile page takes no time. */
const separators = /(?<=\d)[,'’\u2009\u202f\u00a0 ](?=(?:\d{2},){0,6}\d{3}(?!\d))/g
/** 1.499 */
const points = /(?<=\d)\.(?=\d{3}(?!\d))/g

/** Whether a text has a number, with any sign between its groups of digits, and with zeros at the end of its fraction. */
function shows(text: string, number: number | null | undefined): boolean {
  if (number === null || number === undefined) return false
  const [whole, fraction = ''] = written(Math.abs(number)).split('.')
  const end = fraction === '' ? '(?:[.,]0{1,2})?(?![.,]?\\d)' : `[.,]${fraction}0*(?!\\d)`
  const sign = number < 0 ? '[-\u2212\u2013] ?' : ''
  const wanted = new RegExp(`(?<!\\d|\\d[.,])${sign}${whole}${end}`)
  return wanted.test(text.replaceAll(separators, '')) || wanted.test(text.replaceAll(points, ''))
}

/** Whether a number may be anywhere in a page: in an attribute, a script, or rounded. */
function mayShow(html: string, number: number): boolean {
  const text = html.replaceAll(entities, '\u00a0')
  const texts = [text, text.replaceAll(separators, ''), text.replaceAll(points, '')]
  const { length } = written(Math.abs(number)).split('.')[1] ?? ''
  const rounded = Array.from({ length }, (_, digits) => 10 ** digits).flatMap((scale) => [
    Math.floor(number * scale) / scale,
    Math.ceil(number * scale) / scale,
  ])
  return [number, ...rounded].some((each) => {
    const wanted = new RegExp(`(?<![\\d.])${written(Math.abs(each)).replace('.', '[.,]')}(?!\\d)`)
    return texts.some((one) => wanted.test(one))
  })
}

/** A number without an exponent. */
const written = (number: number): string =>
  /e/.test(String(number)) ? number.toFixed(20).replace(/\.?0+$/, '') : String(number)

const closedOf = ({ row }: Exchange): number => row.closedUs ?? row.sentUs
