import { type Html, html } from '../../user/html.ts'
import type { NamesTable } from '../figures/names.ts'
import { type Answer, type Cell, unitName } from './answer.ts'
import { against, changeOfName, changeWithoutDays } from './change.ts'
import {
  type Column,
  columnsOf,
  nameIn,
  type TopName,
  topNames,
  withoutRefunds,
} from './name-columns.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

/** How many names a cell of the first screen has, if they are of one unit. */
const mostNames = 3

/** The key and the model that used most, in each unit, and those that follow. Of one key that is seen alone, the page says it first. */
export function mostAnswers(data: PageData, speech: Speech): Cell {
  const tables = ['key', 'model'].flatMap((by) => data.tables.filter((each) => each.by === by))
  return tables.flatMap((table) => mostIn(table, data, speech))
}

/** The first name in a unit. @property column null for requests, if nothing has an amount */
interface First {
  readonly top: TopName
  readonly column: Column | null
}

/** The names that are first in a unit, in the order of the units; empty if nothing was used. */
function firstsOf(table: NamesTable, { unit }: PageData, speech: Speech): readonly First[] {
  const columns = columnsOf(table, speech)
  // Without any amount, names are ordered by requests, which have no unit.
  if (columns.length > 0 && columns.every((each) => each.unit !== unit)) return []
  return (columns.length === 0 ? [null] : columns).flatMap((column) =>
    topNames(table, 1, speech, column ?? undefined)
      .filter(({ amount }) => amount > 0 || column === null || column.unit === unit)
      .map((top): First => ({ top, column })),
  )
}

const unitsShown = (firsts: readonly First[]) => firsts.flatMap(({ column }) => column ?? [])

/** The key that used most, in one line: a phone has what to look at before the cell that says more. Empty without several keys. */
export function mostKeyLine(data: PageData, speech: Speech): Html | false {
  const table = data.tables.find(({ by }) => by === 'key')
  if (table === undefined || data.seesOneKey) return false
  const firsts = firstsOf(table, data, speech)
  if (firsts.length === 0) return false
  const names = firsts.map((first) => {
    const name = firsts.length > 1 ? inUnit(first, table, speech) : nameOf(first, table, speech)
    return html` <span class="unbroken"><b>${name}</b> ${speech.part(first.top.share)}</span>`
  })
  return html`<p class="brief" data-whole>${speech.say(wordOfMost('key', unitsShown(firsts)))}${names}</p>`
}

function mostIn(table: NamesTable, data: PageData, speech: Speech): readonly Answer[] {
  const { units, seesOneKey } = data
  const { say } = speech
  const by = table.by === 'key' ? 'key' : 'model'
  if (by === 'key' && seesOneKey) return []
  const firsts = firstsOf(table, data, speech)
  const [first] = firsts
  if (first === undefined) return []
  const shown = unitsShown(firsts)
  // Amounts of several units say theirs.
  const ofUnits =
    units.length < 2 || shown.length !== 1 ? '' : ` (${unitName(shown[0]!.unit, speech)})`
  return [
    {
      label: say(wordOfMost(by, shown)),
      ofUnits,
      value: firsts.length > 1 ? inUnit(first, table, speech) : nameOf(first, table, speech),
      under: [
        ...(firsts.length > 1
          ? inEach(firsts, table, data, speech)
          : inOne(first, table, data, speech)),
        by === 'model' && beforeRefunds(table, shown, speech),
      ],
      most: by,
    },
  ]
}

const nameOf = ({ top }: Pick<First, 'top'>, table: NamesTable, speech: Speech) =>
  nameIn(table, top.row.name, speech)

/** Its amount and its share, then how it changed since the days before, and a key also without its dear days. */
function saidOf(
  { top: { row, said, share }, column }: First,
  by: NamesTable['by'],
  data: PageData,
  speech: Speech,
): Answer['under'] {
  const change = changeOfName(row, column, data, speech)
  const isNew = row.before?.isNew === true
  const parts = [speech.part(share), isNew && change].filter(Boolean).join(' · ')
  return [
    html`${said}<span class="dot"> · </span><span class="unbroken">${parts}</span>`,
    !isNew && against(change, data, speech),
    by === 'key' && column !== null && changeWithoutDays(row, column, data, speech),
  ]
}

/** A name with its unit: the same name may be first in several. */
const inUnit = ({ top, column }: First, table: NamesTable, speech: Speech) =>
  speech.say('why.of', {
    who: unitName(column!.unit, speech),
    why: nameOf({ top }, table, speech),
  })

/** The first of each unit, each with its name. */
const inEach = (
  firsts: readonly First[],
  table: NamesTable,
  data: PageData,
  speech: Speech,
): Answer['under'] =>
  firsts.flatMap((each, at) => [
    at > 0 && html`<b>${inUnit(each, table, speech)}</b>`,
    ...saidOf(each, table.by, data, speech),
  ])

/** The first of one unit, and the shares of those that follow. */
function inOne(first: First, table: NamesTable, data: PageData, speech: Speech): Answer['under'] {
  const { say, part } = speech
  // The line of one other name is its own.
  const most = mostNames + Number(table.rows.length === mostNames + 1)
  const tops = topNames(table, most, speech, first.column ?? undefined)
  const rest = 1 - tops.reduce((sum, { share }) => sum + share, 0)
  return [
    ...saidOf(first, table.by, data, speech),
    ...tops.slice(1).map((top) => pairOf(nameOf({ top }, table, speech), part(top.share))),
    rest >= leastRest && pairOf(say('most.others'), part(rest)),
  ]
}

/** What shares are of, if that is not what stands beside them: refunds are of no name. */
function beforeRefunds(table: NamesTable, columns: readonly Column[], speech: Speech): string {
  const amounts = columns.flatMap(({ unit, at }) => {
    const [total, refunds] = [table.total.amounts[at], table.refunds[at]]
    return total == null || refunds == null || Number(refunds) === 0
      ? []
      : [speech.amount(unit, withoutRefunds(total, refunds))]
  })
  return amounts.length === 0 ? '' : speech.say('most.before', { amount: speech.list(amounts) })
}

/** A share that is shown as 0.1 %. */
const leastRest = 0.0005

/** A name and its share, each in a column of its own: a name may end with a number. */
const pairOf = (name: string, share: string) =>
  html`<span class="pair follows"><span>${name}</span> <span>${share}</span></span>`

/** Money is cost, and no use: the key of the highest cost may be used least. */
function wordOfMost(by: 'key' | 'model', columns: readonly Column[]) {
  if (columns.length === 0) return `most.${by}` as const
  return columns.some(({ unit }) => unit === 'credits')
    ? (`most.${by}.credits` as const)
    : (`most.${by}.cost` as const)
}
