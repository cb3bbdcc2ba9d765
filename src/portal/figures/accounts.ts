import type { Contract } from '../../contract/contract.ts'
import { type Period, periodAround, timeIn } from '../../measure/usage/calendar.ts'
import { requestsOf } from '../../measure/usage/sums.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { largest } from '../../user/extremes.ts'
import { type Asked, exact } from '../api/asked.ts'
import { periodOf } from '../api/period.ts'
import type { Answers } from '../api/shapes.ts'
import { type AccountView, accountView } from '../settings/account-view.ts'
import { type Settings, showable } from '../settings/settings.ts'
import type { Snapshot } from '../source/snapshot.ts'
import { comparedWith } from './before.ts'
import { type BudgetState, budgetsAnswer, readBudgets } from './budgets.ts'
import { type AfterClosing, readClosings } from './entries.ts'
import { namesOfKeys } from './keys.ts'
import { knownOf } from './known.ts'
import { forecastOf } from './outlook.ts'
import { within } from './rows.ts'
import { failedOf, readSums } from './sums.ts'

/** A customer, as the operator sees all customers. Amounts are exact decimals; null is unknown, never 0. */
export interface AccountFigures {
  readonly account: string
  readonly label: string
  /** RFC 3339, in the zone of the account; `to` is exclusive. */
  readonly from: string
  readonly to: string
  readonly requests: number | null
  readonly failed: number | null
  /** Requests whose cost is not known. */
  readonly costUnknown: number
  /** One for each unit of the log, as the log has it. */
  readonly amounts: readonly {
    readonly unit: string
    readonly used: string | null
    /** The same time of the month before; null if nothing was measured then. */
    readonly before: string | null
    /** used / before - 1; null without a `before` above 0. */
    readonly change: number | null
  }[]
  /** In their present periods, with the day on which each is probably used up. */
  readonly budgets: Answers['budgets']['budgets']
}

export interface AccountsQuery {
  readonly snapshot: Snapshot
  readonly settings: Settings
  readonly contract: Contract | null
  /** Dates in the zone of each account; null for this month so far. */
  readonly period: { readonly from: string; readonly to: string } | null
  readonly nowMs: number
}

/**
 * Every account that has usage or is in the settings, by name. Each is read alone, by the functions of its own page, so a
 * customer and the operator see the same figures.
 *
 * @throws Problem for a period that is none
 */
export async function readAccounts(query: AccountsQuery): Promise<readonly AccountFigures[]> {
  const { snapshot, settings } = query
  const names = new Set([...snapshot.accounts(), ...settings.accounts.keys()])
  const measured = await snapshot.measured()
  const all: AccountFigures[] = []
  for (const account of [...names].sort()) all.push(await figuresOf(account, query, measured))
  return all
}

async function figuresOf(
  account: string,
  { snapshot, settings, contract, period: given, nowMs }: AccountsQuery,
  measured: { readonly firstUs: number | null; readonly lastUs: number | null },
): Promise<AccountFigures> {
  const view = accountView(settings, account)
  const period: Period =
    given === null
      ? periodAround(nowMs * 1000, view.timezone, 'month', view.firstWeekday)
      : periodOf(given.from, given.to, view.timezone)
  return asOperator(account, view, { snapshot, contract, nowMs }, async (asked, page) => {
    const [now] = await readSums<object>(asked, within(asked, period))
    const known = await knownOf(asked)
    // Who stopped while others went on has used less: the log covers the time of all.
    const knownUs = largest([known.knownUs ?? 0, (measured.lastUs ?? -1) + 1])
    const past = comparedWith(period, { firstUs: measured.firstUs, knownUs })
    const [then] = past === null ? [null] : await readSums<object>(asked, within(asked, past))
    /** Where every cost is known, nothing was used in a unit without an amount. */
    const usedOf = (sums: typeof now | null, unit: string) => {
      if (sums === null || sums === undefined) return null
      const isKnown = requestsOf(sums) !== null && (sums.costKnown ?? 0) >= (sums.requests ?? 0)
      const amount = sums.amounts?.find((each) => each.unit === unit)
      return exact(amount?.used ?? null) ?? (isKnown ? '0' : null)
    }
    const units = new Set(
      [now, then].flatMap((sums) => (sums?.amounts ?? []).map(({ unit }) => unit)),
    )
    const requests = requestsOf(now!)
    return {
      account,
      label: view.label,
      requests,
      failed: failedOf(now!),
      from: timeIn(period.fromUs, view.timezone),
      to: timeIn(period.toUs, view.timezone),
      costUnknown: Math.max(0, (now!.requests ?? 0) - (now!.costKnown ?? 0)),
      amounts: [...units].sort().map((unit) => {
        const [used, before] = [usedOf(now!, unit), usedOf(then!, unit)]
        const change =
          used === null || before === null || Number(before) <= 0
            ? null
            : Number(used) / Number(before) - 1
        return { unit, used, before, change }
      }),
      budgets: budgetsAnswer(await readBudgets(asked, page)).budgets,
    }
  })
}

/** The budgets of one account in their present periods, as its page has them, and what came after its months were closed. */
export function readStateOf(
  account: string,
  { settings, ...query }: Omit<AccountsQuery, 'period'>,
): Promise<AccountState> {
  return asOperator(account, accountView(settings, account), query, async (asked, page) => ({
    budgets: await readBudgets(asked, page),
    closings: await readClosings(asked, asked.view.timezone),
  }))
}

export interface AccountState {
  readonly budgets: readonly BudgetState[]
  readonly closings: readonly AfterClosing[]
}

/** Reads an account with all that it has, and its forecast if it has budgets. */
async function asOperator<T>(
  account: string,
  view: AccountView,
  { snapshot, contract, nowMs }: Pick<AccountsQuery, 'snapshot' | 'contract' | 'nowMs'>,
  read: (asked: Asked, page: UsageForecast | null) => Promise<T>,
): Promise<T> {
  const scope = { account, keys: null }
  // A forecast takes a third of a second of a processor.
  const page =
    view.budgets.length === 0 ? null : await forecastOf(snapshot, scope, view, contract, nowMs)
  const bearer = {
    ...scope,
    shows: new Set(showable),
    origin: null,
    id: 'the operator',
    expiresS: Number.POSITIVE_INFINITY,
  }
  return snapshot.within(
    scope,
    async (session) => {
      const keys = await namesOfKeys(session, view)
      return read({ bearer, view, keys, session, nowMs, refreshedMs: nowMs }, page)
    },
    view,
  )
}
