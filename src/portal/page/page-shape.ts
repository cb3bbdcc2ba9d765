import type { Period } from '../../measure/usage/calendar.ts'
import type { BoardData } from '../../report/usage/board/data.ts'
import type { Choice } from '../../report/usage/board/types.ts'
import type { presetPeriods } from '../api/period.ts'
import type { Answers } from '../api/shapes.ts'
import type { BudgetState } from '../figures/budgets.ts'
import type { DaysOfUse } from '../figures/dear-day.ts'
import type { Failed } from '../figures/failed.ts'
import type { CauseName } from '../figures/main-cause.ts'
import type { NamesTable } from '../figures/names.ts'
import type { Projection } from '../figures/projection.ts'
import type { UsedUnit } from '../figures/sums.ts'

/** Everything on the page. */
export interface PageData extends DaysOfUse {
  /** The dear days, and of a page of a day or less those of its whole month. */
  readonly around: DaysOfUse['dears']
  readonly from: string
  readonly to: string
  /** Start and end of the period, Unix microseconds. */
  readonly fromUs: number
  readonly toUs: number
  /** The filters of the address that the form keeps: all but the period. */
  readonly kept: readonly [string, string][]
  readonly summary: Answers['summary']
  /** The same without filters; null if there are none. */
  readonly whole: Answers['summary'] | null
  /** Whether the period consists of closed months. */
  readonly isClosed: boolean
  /** The period that `summary` compares with; null without one. */
  readonly before: Period | null
  /** The unit of amounts; null if nothing has an amount that the token shows. */
  readonly unit: string | null
  /** All of them: figures of two are never one bar, one axis or one sum. */
  readonly units: readonly UsedUnit[]
  /** What this month will have used, by unit. */
  readonly projections: ReadonlyMap<string, Projection>
  /** Of a credit; null without one, or if the token shows no costs. */
  readonly price: { readonly currency: string; readonly value: string } | null
  readonly tables: readonly NamesTable[]
  /** Whether the token shows one key of the account alone. */
  readonly seesOneKey: boolean
  /** Its name; null if the token does not show it. */
  readonly onlyKey: CauseName | null
  /** Requests that failed or reached a limit, and what they cost; amounts are null if some report none. Null where nothing says it. */
  readonly failed: Failed | null
  readonly presets: ReturnType<typeof presetPeriods>
  readonly canExport: boolean
  /** Long tables are asked for when they are opened. */
  readonly isShort: boolean
  readonly canListRequests: boolean
  /** Null if nothing was ever used. */
  readonly board: BoardData | null
  /** What is selected in the charts; null without charts. */
  readonly choice: Choice | null
  readonly credits: Answers['credits'] | null
  readonly outlook: Answers['outlook'] | null
  readonly budgets: readonly BudgetState[]
  /** Whether the forecast is still being made: the page asks again. */
  readonly isPending: boolean
  readonly notices: Answers['notices']['notices']
  /** When the last request was, Unix microseconds. */
  readonly lastUs: number | null
  /** Where the known use ends, if that is a day ago or more, and before the end of the period; else null. */
  readonly lateUs: number | null
}
