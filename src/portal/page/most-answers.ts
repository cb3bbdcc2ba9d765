import { html } from '../../user/html.ts'
import type { NamesTable } from '../figures/names.ts'
import { type Answer, type Cell, unitName } from './answer.ts'
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

/** How many names a cell of the first screen has: fewer where it has those of another unit, too. */
const mostNames = ({ units }: PageData) => (units.length < 2 ? 3 : 2)

/** The key and the model that used most in the unit of the page, and those that follow. Of one key that is seen alone, the page says it first. */
export function mostAnswers(data: PageData, speech: Speech): Cell {
  const tables = ['key', 'model'].flatMap((by) => data.tables.filter((each) => each.by === by))
  return tables.flatMap((table) => mostIn(table, data, speech))
}

/** What the shares in a unit are of, if that is not what stands beside them: refunds are of no name. */
function beforeRefunds(table: NamesTable, unit: string, speech: Speech): string {
  const at = table.units.indexOf(unit)
  const [total, refunds] = [table.total.amounts[at], table.refunds[at]]
  return total == null || refunds == null || Number(refunds) === 0
    ? ''
    : speech.say('most.before', { amount: speech.amount(unit, withoutRefunds(total, refunds)) })
}

function mostIn(table: NamesTable, data: PageData, speech: Speech): readonly Answer[] {
  const { unit, units, seesOneKey } = data
  const { say, part } = speech
  const by = table.by === 'key' ? 'key' : 'model'
  if (by === 'key' && seesOneKey) return []
  const columns = columnsOf(table, speech)
  const column = columns.find((each) => each.unit === unit)
  // Without any amount, names are ordered by requests, which have no unit.
  if (column === undefined && columns.length > 0) return []
  // The line of one other name is its own.
  const most = mostNames(data) + Number(table.rows.length === mostNames(data) + 1)
  const [first, ...others] = topNames(table, most, speech, column)
  if (first === undefined) return []
  const name = (top: TopName) => nameIn(table, top.name, speech)
  const inOthers = by === 'key' ? firstInOthers(table, columns, data, speech) : []
  // All that stands before another unit is of the unit of the label.
  const of = units.length < 2 ? '' : ` (${unitName(unit!, speech)})`
  const rest = 1 - [first, ...others].reduce((sum, { share }) => sum + share, 0)
  const ofFirst = (top: TopName) => `${top.said} · ${part(top.share)}`
  return [
    {
      label: say(wordOfMost(by, column)) + of,
      value: name(first),
      under: [
        ofFirst(first),
        by === 'key' && ofDearDay(first, data, speech),
        ...others.map((each) => pairOf(name(each), part(each.share), true)),
        rest >= leastRest && pairOf(say('most.others'), part(rest), true),
        by === 'model' && unit !== null && beforeRefunds(table, unit, speech),
        ...inOthers.map((each) =>
          say('most.in', {
            unit: unitName(each.unit, speech),
            name: name(each),
            said: ofFirst(each),
          }),
        ),
      ],
      most: by,
    },
  ]
}

/** The first name in each other unit. */
const firstInOthers = (
  table: NamesTable,
  columns: readonly Column[],
  data: Pick<PageData, 'unit'>,
  speech: Speech,
): readonly (TopName & { readonly unit: string })[] =>
  columns
    .filter(({ unit }) => unit !== data.unit)
    .flatMap((column) =>
      topNames(table, 1, speech, column).map((top) => ({ ...top, unit: column.unit })),
    )

/** A part of an amount that a reader should know of. */
const leastOfDay = 0.25

/** What a dear day has of the amount of the first key, if it is much of it. */
function ofDearDay({ name, amount }: TopName, data: PageData, speech: Speech): string {
  const day = data.dears.find(
    ({ unit, cause }) =>
      unit === data.unit &&
      Number(cause.amount) >= leastOfDay * amount &&
      cause.names.some((each) => each.of !== 'model' && each.of !== 'tag' && each.name === name),
  )
  return day === undefined
    ? ''
    : speech.say('most.onDay', {
        share: speech.share(Number(day.cause.amount) / amount),
        day: speech.near(day.fromUs, data.toUs),
      })
}

/** A share that is shown as 0.1 %. */
const leastRest = 0.0005

/** A name and its share, each in a column of its own: a name may end with a number. */
const pairOf = (name: string, share: string, follows = false) =>
  html`<span class="pair${follows && ' follows'}"><span>${name}</span> <span>${share}</span></span>`

/** Money is cost, and no use: the key of the highest cost may be used least. */
function wordOfMost(by: 'key' | 'model', column: Column | undefined) {
  if (column === undefined) return `most.${by}` as const
  return column.unit === 'credits' ? (`most.${by}.credits` as const) : (`most.${by}.cost` as const)
}
