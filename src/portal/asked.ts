import { createHash } from 'node:crypto'
import type { z } from 'zod'
import type { Period } from '../measure/usage/calendar.ts'
import { endSql, endsOf } from '../measure/usage/ends.ts'
import { decimalText, readNumber } from '../money/rational.ts'
import type { AccountScope } from '../store/account.ts'
import { textList } from '../store/literal.ts'
import type { Session } from '../store/session.ts'
import { lookup } from '../user/lookup.ts'
import type { AccountView } from './account-view.ts'
import { periodOf } from './period.ts'
import { Problem } from './problem.ts'
import type { Shown } from './settings.ts'
import type { Dimension, parameters } from './shapes.ts'
import type { Bearer } from './tokens.ts'

/** What a request may see, and of whom. */
export interface Asked {
  readonly bearer: Bearer
  readonly view: AccountView
  readonly session: Session
  readonly nowMs: number
  readonly refreshedMs: number
}

export type Input<Name extends keyof typeof parameters> = z.output<(typeof parameters)[Name]>
type Filters = Pick<Input<'summary'>, 'model' | 'key' | 'endpoint' | 'outcome'>

export const scopeOf = ({ account, keys }: Bearer): AccountScope => ({ account, keys })

/** The same decimal without zeros at its end. */
export const exact = (decimal: string | null) =>
  decimal === null ? null : decimalText(readNumber(decimal)!)
export const us = (ms: number) => Math.round(ms * 1000)

/** @throws Problem if the token does not show it */
export function needs({ bearer }: Pick<Asked, 'bearer'>, shown: Shown): void {
  if (bearer.shows.has(shown)) return
  throw new Problem(403, 'not-shown', `The token does not show ${shown}`, {
    hint: `Ask for a token whose claim shows has ${shown}.`,
  })
}

export const neededBy: Readonly<Partial<Record<string, Shown>>> = lookup({
  credits: 'credits',
  cost: 'cost',
  key: 'keys',
  model: 'models',
})

export const periodAsked = (
  { from, to, timezone }: { from: string; to: string; timezone?: string | undefined },
  view: AccountView,
) => periodOf(from, to, timezone ?? view.timezone)

/** SQL for what a dimension is called. */
export const dimensionSql = (by: Dimension): string =>
  ({ model: 'model', key: 'key_fp', endpoint: 'endpoint', outcome: `(${endSql})` })[by]

/**
 * The fingerprints that names of keys stand for, and the SQL condition of the filters.
 *
 * @throws Problem 404 for a model or a key that the account does not have; the same if it exists elsewhere or nowhere
 */
export async function conditionOf(asked: Asked, filters: Filters): Promise<string> {
  const { session, view } = asked
  if (filters.key.length > 0) needs(asked, 'keys')
  if (filters.model.length > 0) needs(asked, 'models')
  const keys = filters.key.map((key) => view.fingerprintOf(key))
  const known = async (column: string, values: readonly string[]) => {
    const rows = await session.rows<{ name: string }>(
      `SELECT DISTINCT ${column} AS name FROM mine WHERE list_contains(${textList(values)}, ${column})`,
    )
    return values.every((value) => rows.some(({ name }) => name === value))
  }
  if (keys.length > 0 && !(await known('key_fp', keys))) {
    throw new Problem(404, 'no-such-key', 'This account has no such key')
  }
  if (filters.model.length > 0 && !(await known('model', filters.model))) {
    throw new Problem(404, 'no-such-model', 'This account has not used such a model')
  }
  const only = (column: string, values: readonly string[]) =>
    values.length === 0 ? [] : [`list_contains(${textList(values)}, ${column})`]
  return [
    'true',
    ...only('key_fp', keys),
    ...only('model', filters.model),
    ...only('endpoint', filters.endpoint),
    ...only(`(${endSql})`, filters.outcome.flatMap(endsOf)),
  ].join(' AND ')
}

export const within = ({ fromUs, toUs }: Pick<Period, 'fromUs' | 'toUs'>) =>
  `first_us >= ${fromUs} AND first_us < ${toUs}`

interface Coverage {
  readonly first: number | null
  readonly last: number | null
  readonly width: number
}

export async function coverageOf(session: Session): Promise<Coverage> {
  const [row] = await session.rows<Coverage>(
    'SELECT min(first_us) AS first, max(last_us) AS last, coalesce(max(width_us), 0)::BIGINT // 1000000 AS width FROM my_days',
  )
  return row!
}

/** A short hash for logs and tags. */
export const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** How a name of a dimension is shown. */
export const nameOf = ({ view }: Asked, by: Dimension | 'none' | 'day', name: string) =>
  by === 'key' ? view.nameOfKey(name) : name
