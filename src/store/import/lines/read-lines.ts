import { tagDimension } from '../../../measure/usage/tags.ts'
import { decimalText, multiply, readNumber } from '../../../money/rational.ts'
import { mappedName, shownTokens, tokenKinds } from '../../../tokens/kinds.ts'
import { isObject } from '../../../user/json.ts'
import { lookup } from '../../../user/lookup.ts'
import { csvDocuments, jsonDocuments, type LogDocument } from '../formats/documents.ts'
import type { Fields } from '../formats/row.ts'
import { joinedId } from '../joined-id.ts'
import type { Mapping } from '../mapping.ts'
import { Carried } from './carried.ts'
import { Identities } from './identity.ts'
import { countedFields } from './line-rules.ts'
import { columnText, holds, placeText } from './line-text.ts'
import { RunningTotals } from './running-totals.ts'

/** Whether a mapping says more of lines than where their fields are. */
export const hasLineRules = (mapping: Mapping): boolean =>
  mapping.identified !== true &&
  [
    mapping.where,
    mapping.carry,
    mapping.cumulative,
    mapping.quantity,
    mapping.request,
    mapping.amounts,
    mapping.fields.session,
  ].some((rule) => rule !== undefined)

export interface ReadLines {
  readonly lines: Iterable<object | string>
  /** Reads `lines`: each field by its own name. */
  readonly mapping: Mapping
  /** What was left out, repeated or began anew. Complete once the lines are read. */
  readonly notes: readonly string[]
  readonly isPartial: false
}

interface LinesOf {
  readonly path: string
  /** The delimiter of a table; null for JSON. */
  readonly delimiter: string | null
  readonly mapping: Mapping
  /** Columns of a known bill that are amounts. */
  readonly isAmount?: ((name: string) => boolean) | undefined
}

/** Fields by name, and dimensions by their path. */
type Row = Record<string, unknown>

/**
 * Reads a log whose lines mean something beside others: it leaves lines out, carries values, takes differences of running
 * totals, names the kinds of amounts, and gives charges their identity. Memory is bounded by the number of sessions, and
 * of charges for their identities.
 */
export function readLines({ path, delimiter, mapping, isAmount }: LinesOf): ReadLines {
  const notes: string[] = []
  const documents = delimiter === null ? jsonDocuments(path) : csvDocuments(path, delimiter)
  return {
    lines: rowsOf(documents, mapping, isAmount, notes),
    mapping: flatMapping(mapping, delimiter !== null),
    notes,
    isPartial: false,
  }
}

function* rowsOf(
  documents: Iterable<LogDocument>,
  mapping: Mapping,
  isAmount: ((name: string) => boolean) | undefined,
  notes: string[],
): Generator<object | string> {
  const carry = new Carried(mapping)
  const totals = new RunningTotals()
  const identities = isCharges(mapping) ? new Identities(amountsOf(mapping, isAmount)) : null
  let [all, left] = [0, 0]
  for (const document of documents) {
    if ('unread' in document) {
      yield String(document.unread).replaceAll('\n', ' ')
      continue
    }
    all++
    const session = carry.see(document)
    if (!holds(document, mapping.where ?? [])) {
      left++
      continue
    }
    const row = fieldsOf(document, mapping)
    for (const [field, value] of carry.values(session)) row[field] ??= value
    if (mapping.cumulative !== undefined) {
      const { fields } = mapping.cumulative
      const added = totals.add(
        session,
        fields.map((field) => (typeof row[field] === 'string' ? row[field] : null)),
      )
      if (added.step === 'repeated') continue
      for (const [nth, field] of fields.entries()) row[field] = added.values[nth]!
    }
    Object.assign(row, quantityOf(document, mapping), requestOf(document, mapping))
    if (identities !== null && mapping.fields.id === undefined) row.id = identities.of(document)
    delete row.session
    yield row
  }
  const lines = (n: number) => n.toLocaleString('en-US')
  if (left > 0) notes.push(`${lines(left)} of ${lines(all)} lines left out by where`)
  if (totals.repeated > 0) notes.push(`${lines(totals.repeated)} equal totals: each counts once`)
  if (totals.restarts > 0) {
    notes.push(
      `${lines(totals.restarts)} ${totals.restarts === 1 ? 'total begins' : 'totals begin'} anew, lower than before`,
    )
  }
}

/** Lines whose requests are not known are charges, too: an event is at least one request. */
const isCharges = ({ amounts, quantity, request, fields }: Mapping) =>
  amounts !== undefined ||
  request === 'unknown' ||
  (quantity !== undefined && request === undefined && fields.requests === undefined)

/** The fields of a line, by their own names; durations keep both of their times. */
function fieldsOf(document: Fields, mapping: Mapping): Row {
  const row: Row = {}
  for (const [name, place] of Object.entries(mapping.fields)) {
    if (place === undefined) continue
    if (Array.isArray(place)) {
      row[name] = joinedId(place.map((column) => columnText(document, column) ?? ''))
    } else if (typeof place === 'object' && 'from' in place) {
      row[`${name}From`] = columnText(document, place.from)
      row[`${name}To`] = columnText(document, place.to)
    } else if (typeof place === 'object' && 'unit' in place) {
      row[name] = columnText(document, place.column)
    } else row[name] = placeText(document, place)
  }
  for (const name of mapping.dimensions ?? [])
    setAt(row, name.split('.'), columnText(document, name))
  return Object.assign(row, tagsOf(document, mapping.tags))
}

function setAt(row: Row, [step, ...rest]: readonly string[], value: string | null): void {
  if (step === undefined) return
  if (rest.length === 0) row[step] ??= value
  else {
    const inner = isObject(row[step]) ? { ...row[step] } : {}
    setAt(inner, rest, value)
    row[step] = inner
  }
}

/** A kind of tokens, and the whole that it is a part of. */
const outerKindsOf = (kind: keyof typeof tokenKinds): readonly (keyof typeof tokenKinds)[] => {
  const { within } = tokenKinds[kind]
  return within === null ? [kind] : [within, kind]
}

/** The tokens of a line that has one amount of one kind. A line of another kind has none. */
function quantityOf(document: Fields, { quantity }: Mapping): Row {
  if (quantity === undefined) return {}
  const text = columnText(document, quantity.column)
  const named = wordOf(document, quantity.kind)
  const kind = shownTokens.find((each) => each === named)
  if (text === null || kind === undefined) return {}
  const per = quantity.per === undefined ? '1' : wordOf(document, quantity.per)
  const [amount, factor] = [readNumber(text), readNumber(per ?? '')]
  const tokens = amount === null || factor === null ? text : decimalText(multiply(amount, factor))
  return Object.fromEntries(outerKindsOf(kind).map((each) => [mappedName(each), tokens]))
}

type ValueOf = NonNullable<Mapping['quantity']>['kind']

/** A word of the log in our words. `*` in a word of the mapping stands for any letters; the first that fits counts. */
function wordOf(document: Fields, from: ValueOf): string | null {
  if (typeof from === 'string') return columnText(document, from)
  const text = columnText(document, from.column)
  if (text === null || from.values === undefined) return text
  if (Object.hasOwn(from.values, text)) return from.values[text]!
  for (const [theirs, ours] of Object.entries(from.values)) {
    if (theirs.includes('*') && fits(text, theirs)) return ours
  }
  return text
}

function fits(text: string, pattern: string): boolean {
  const [head, ...rest] = pattern.split('*') as [string, ...string[]]
  if (!text.startsWith(head)) return false
  const tail = rest.pop()!
  let from = head.length
  for (const part of rest) {
    const found = text.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return text.length - tail.length >= from && text.endsWith(tail)
}

/** A line that is a charge has 0 requests. */
function requestOf(document: Fields, { request }: Mapping): Row {
  if (request === undefined || request === true || request === 'unknown') return {}
  return request === false || !holds(document, request) ? { requests: '0' } : {}
}

function amountsOf(mapping: Mapping, isKnown: ((name: string) => boolean) | undefined) {
  const { amounts, quantity, fields } = mapping
  const named = new Set<string>(Array.isArray(amounts) ? amounts : [])
  const add = (column: string | readonly string[]) =>
    named.add(typeof column === 'string' ? column : column[0]!)
  for (const field of countedFields) {
    const place = fields[field]
    if (typeof place === 'string') add(place)
    else if (place !== undefined && 'column' in place) add(place.column)
  }
  if (quantity !== undefined) add(quantity.column)
  return (name: string) => named.has(name) || isKnown?.(name) === true
}

/** The values of tags, each by the name of its dimension. */
export const tagsOf = (document: Fields, tags: Mapping['tags'] = []): Row =>
  Object.fromEntries(tags.map(([name, at]) => [tagDimension(name), placeText(document, at)]))

/** Where rows that another reader made have the tags with these names. */
export const ownTags = (names: Iterable<string>): NonNullable<Mapping['tags']> =>
  [...names].map((name) => [name, { column: [tagDimension(name)] }])

/** The mapping of the rows that `rowsOf` gives. */
function flatMapping(mapping: Mapping, isTable: boolean): Mapping {
  const { where, carry, cumulative, quantity, request, amounts, fields, tags, ...rest } = mapping
  const flat: Record<string, unknown> = lookup()
  for (const [name, place] of Object.entries(fields)) {
    if (name === 'session' || place === undefined) continue
    if (typeof place === 'object' && 'from' in place) {
      flat[name] = { from: `${name}From`, to: `${name}To` }
    } else if (typeof place === 'object' && 'unit' in place) flat[name] = { ...place, column: name }
    else flat[name] = name
  }
  for (const name of Object.keys(carry ?? {})) if (name !== 'session') flat[name] = name
  if (quantity !== undefined) {
    for (const kind of shownTokens) flat[mappedName(kind)] = mappedName(kind)
  }
  if (request !== undefined && request !== 'unknown') flat.requests = 'requests'
  const charges = isCharges(mapping)
  if (charges) flat.id = 'id'
  return {
    ...rest,
    ...(tags === undefined ? {} : { tags: ownTags(tags.map(([name]) => name)) }),
    fields: flat as Mapping['fields'],
    ...(charges ? { identified: true } : {}),
    ...(isTable ? { table: true } : {}),
  }
}
