import { type Period, timeIn } from '../../measure/usage/calendar.ts'
import type { AccountView } from '../settings/account-view.ts'
import { digestOf, type Input } from './asked.ts'

const filters = ['model', 'key', 'endpoint', 'tag', 'outcome'] as const
/** Bytes: a name with its period and ending fits every file system, which takes 255. */
const mostOfPart = 80

/** As much of a text as has so few bytes in UTF-8. */
function cut(text: string): string {
  let whole = ''
  for (const sign of text) {
    if (Buffer.byteLength(whole + sign) > mostOfPart) break
    whole += sign
  }
  return whole
}

/** Foreign text as a part of a file's name. */
const plainOf = (text: string) =>
  cut(text.replace(/[^\p{L}\p{N}._]+/gu, '-').replace(/^[-.]+|[-.]+$/g, ''))

/** The filters, with a digest if their text is not all of them: two choices have two names. */
function filterPart(filtered: readonly string[]): string {
  const text = filtered.join('-')
  const plain = plainOf(text)
  return plain === text && filtered.length === 1
    ? plain
    : [plain, digestOf(JSON.stringify(filtered)).slice(0, 6)].filter(Boolean).join('-')
}

const wallOf = (text: string) => text.slice(0, 19)
const hourUs = 3_600_000_000

/** Whether a time is the first midnight of a day. */
function isDayStart(us: number, timezone: string): boolean {
  const text = timeIn(us, timezone)
  const isSecond = wallOf(timeIn(us - hourUs, timezone)) === wallOf(text)
  return text.slice(11, 19) === '00:00:00' && !isSecond
}

/** The first and the last day of a period, as the page says it; the start and the end of one of hours, with their offsets, since an hour may occur twice. */
function timesOf({ fromUs, toUs, timezone }: Period): readonly string[] {
  if ([fromUs, toUs].every((us) => isDayStart(us, timezone)))
    return [fromUs, toUs - 1].map((us) => timeIn(us, timezone).slice(0, 10))
  return [fromUs, toUs].map((us) =>
    timeIn(us, timezone)
      .replace(/:00(?=[+-])/, '')
      .replaceAll(':', ''),
  )
}

/**
 * The name of a file: what it has, of which account and period, and what was filtered.
 *
 * @param kind `usage` or `requests`
 * @param more its units, if there are several, and such as the width of its bars
 */
export function fileName(
  kind: string,
  { label }: Pick<AccountView, 'label'>,
  period: Period,
  query: Pick<Input<'export'>, (typeof filters)[number] | 'format'>,
  more: readonly string[] = [],
): string {
  const filtered = filters.flatMap((name) => query[name].map((value) => `${name}-${value}`))
  const parts = [
    ...[kind, plainOf(label), ...timesOf(period), ...more.map(plainOf)],
    ...(filtered.length === 0 ? [] : [filterPart(filtered)]),
  ]
  return `${parts.filter(Boolean).join('-')}.${query.format}`
}

/** The name in a header, whose text is Latin, and as it is. */
export const attachment = (name: string): string =>
  `attachment; filename="${name.replace(/[^\w.+-]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`)}`
