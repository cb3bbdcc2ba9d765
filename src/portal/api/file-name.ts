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

/** The same, with a digest if it is not all: two filters have two names. */
function partOf(text: string): string {
  const plain = plainOf(text)
  return plain === text ? plain : [plain, digestOf(text).slice(0, 6)].filter(Boolean).join('-')
}

/** A date; a time that is no midnight has its offset, since an hour may occur twice. */
function timeOf(us: number, timezone: string): string {
  const text = timeIn(us, timezone)
  return text.slice(11, 16) === '00:00'
    ? text.slice(0, 10)
    : text.slice(0, 16).replaceAll(':', '') + text.slice(19).replaceAll(':', '')
}

/**
 * The name of a file: what it has, of which account and period, and what was filtered.
 *
 * @param kind `usage` or `requests`
 * @param more such as the width of its bars
 */
export function fileName(
  kind: string,
  { label }: Pick<AccountView, 'label'>,
  { fromUs, toUs, timezone }: Period,
  query: Pick<Input<'export'>, (typeof filters)[number] | 'format'>,
  more: readonly string[] = [],
): string {
  const filtered = filters.flatMap((name) => query[name].map((value) => `${name}-${value}`))
  const parts = [
    ...[kind, plainOf(label), timeOf(fromUs, timezone), timeOf(toUs, timezone), ...more],
    ...(filtered.length === 0 ? [] : [partOf(filtered.join('-'))]),
  ]
  return `${parts.join('-')}.${query.format}`
}

/** The name in a header, whose text is Latin, and as it is. */
export const attachment = (name: string): string =>
  `attachment; filename="${name.replace(/[^\w.+-]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`)}`
