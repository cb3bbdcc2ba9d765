import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { endSql, endsOf } from '../../measure/usage/ends.ts'
import { isTagDimension, tagFilter, tagOf } from '../../measure/usage/tags.ts'
import { decimalText, readNumber } from '../../money/rational.ts'
import { shortSql } from '../../report/usage/short-name.ts'
import { textList } from '../../store/literal.ts'
import { tagSql } from '../../store/quarters/tags.ts'
import type { AccountScope } from '../../store/session/account.ts'
import type { Session } from '../../store/session/session.ts'
import { lookup } from '../../user/lookup.ts'
import type { KeyNaming } from '../figures/keys.ts'
import { allDays } from '../figures/rows.ts'
import type { AccountView } from '../settings/account-view.ts'
import type { Shown } from '../settings/settings.ts'
import type { Bearer } from '../settings/tokens.ts'
import { periodOf } from './period.ts'
import { Problem } from './problem.ts'
import type { Dimension, parameters } from './shapes.ts'

/** What a request may see, and of whom. */
export interface Asked {
  readonly bearer: Bearer
  readonly view: AccountView
  readonly keys: KeyNaming
  readonly session: Session
  readonly nowMs: number
  readonly refreshedMs: number
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal
}

export type Input<Name extends keyof typeof parameters> = z.output<(typeof parameters)[Name]>
type Filters = Pick<Input<'summary'>, 'model' | 'key' | 'endpoint' | 'tag' | 'outcome'>

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

/** What a token must show for amounts in a unit. */
export const shownFor = (unit: string): Shown => (unit === 'credits' ? 'credits' : 'cost')

const neededBy: Readonly<Partial<Record<string, Shown>>> = lookup({
  credits: 'credits',
  cost: 'cost',
  key: 'keys',
  model: 'models',
})

/** Whether the token shows a metric. */
export const isShown = ({ bearer }: Pick<Asked, 'bearer'>, metric: string): boolean =>
  neededBy[metric] === undefined || bearer.shows.has(neededBy[metric])

/** @throws Problem for a dimension or a metric that the token does not show */
export function needsEach(asked: Asked, names: readonly string[]): void {
  for (const name of names) {
    const tag = tagOf(name)
    if (tag !== null) needsTag(asked, tag)
    else if (name.startsWith('tag:')) throw noSuchTag([name.slice(4)])
    else if (neededBy[name] !== undefined) needs(asked, neededBy[name])
  }
}

export const tagsShown = ({ bearer, view }: Pick<Asked, 'bearer' | 'view'>): readonly string[] =>
  bearer.shows.has('tags') ? view.tags : []

const noSuchTag = (gone: readonly string[]) =>
  new Problem(404, 'no-such-tag', 'This account has no such tag', { gone })

/** @throws Problem 404 for a tag that the settings do not show; the same if it exists or not */
function needsTag(asked: Asked, name: string): void {
  needs(asked, 'tags')
  if (!asked.view.tags.includes(name)) throw noSuchTag([name])
}

export const periodAsked = (
  { from, to, timezone }: { from: string; to: string; timezone?: string | undefined },
  view: AccountView,
) => periodOf(from, to, timezone ?? view.timezone)

/** SQL for what a dimension is called. */
export function dimensionSql(by: Dimension): string {
  if (isTagDimension(by)) return tagSql(tagOf(by)!)
  const plain = { model: 'model', key: 'key_fp', endpoint: 'endpoint', outcome: `(${endSql})` }
  return plain[by as keyof typeof plain]
}

/** The whole names that filters stand for, since a page shows long ones shortened. */
export interface NamesAsked {
  readonly model: readonly string[]
  readonly key: readonly string[]
  readonly endpoint: readonly string[]
  /** Values by the name of their tag. */
  readonly tags: ReadonlyMap<string, readonly string[]>
}

/** @throws Problem 404 for a tag that the account does not have, or the token does not show */
async function tagsAsked(asked: Asked, texts: readonly string[]): Promise<NamesAsked['tags']> {
  const values = new Map<string, readonly string[]>()
  for (const text of texts) {
    const filter = tagFilter(text)
    if (filter === null)
      throw new Problem(400, 'bad-parameter', 'tag has a value that is not known here', {
        hint: 'For example, tag=team:search.',
      })
    needsTag(asked, filter.name)
    values.set(filter.name, [...(values.get(filter.name) ?? []), filter.value])
  }
  for (const [name, wanted] of values) {
    const rows = await asked.session.rows<{ value: string }>(
      `SELECT DISTINCT ${tagSql(name)} AS value FROM ${allDays('tags')} WHERE list_contains(${textList(wanted)}, ${tagSql(name)})`,
    )
    const gone = wanted.filter((each) => !rows.some(({ value }) => value === each))
    if (gone.length > 0) throw noSuchTag(gone.map((value) => `${name}:${value}`))
  }
  return values
}

/** @throws Problem 404 for a model or a key that the account does not have; the same if it exists elsewhere or nowhere */
export async function namesAsked(
  asked: Asked,
  filters: Omit<Filters, 'outcome'>,
): Promise<NamesAsked> {
  const { session, keys } = asked
  if (filters.key.length > 0) needs(asked, 'keys')
  if (filters.model.length > 0) needs(asked, 'models')
  const whole = async (column: string, values: readonly string[]) => {
    if (values.length === 0) return { names: [], isGone: () => false }
    const list = textList(values)
    const rows = await session.rows<{ name: string; short: string }>(
      `SELECT DISTINCT ${column} AS name, ${shortSql(column)} AS short FROM ${allDays(column)} WHERE list_contains(${list}, name) OR list_contains(${list}, short)`,
    )
    const isGone = (each: string) =>
      !rows.some(({ name, short }) => name === each || short === each)
    return { names: rows.map(({ name }) => name), isGone }
  }
  const key = await whole(
    'key_fp',
    filters.key.map((name) => keys.fingerprintOf(name)),
  )
  const goneKeys = filters.key.filter((name) => key.isGone(keys.fingerprintOf(name)))
  if (goneKeys.length > 0)
    throw new Problem(404, 'no-such-key', 'This account has no such key', { gone: goneKeys })
  const model = await whole('model', filters.model)
  const goneModels = filters.model.filter(model.isGone)
  if (goneModels.length > 0)
    throw new Problem(404, 'no-such-model', 'This account has not used such a model', {
      gone: goneModels,
    })
  const endpoint = await whole('endpoint', filters.endpoint)
  return {
    key: key.names,
    model: model.names,
    tags: await tagsAsked(asked, filters.tag),
    endpoint: filters.endpoint.some(endpoint.isGone) ? filters.endpoint : endpoint.names,
  }
}

/** The SQL condition of the filters. @throws Problem as `namesAsked` does */
export async function conditionOf(asked: Asked, filters: Filters): Promise<string> {
  const { key, model, endpoint, tags } = await namesAsked(asked, filters)
  const only = (column: string, values: readonly string[]) =>
    values.length === 0 ? [] : [`list_contains(${textList(values)}, ${column})`]
  return [
    'true',
    ...only('key_fp', key),
    ...only('model', model),
    ...only('endpoint', endpoint),
    ...[...tags].flatMap(([name, values]) => only(tagSql(name), values)),
    ...only(`(${endSql})`, filters.outcome.flatMap(endsOf)),
  ].join(' AND ')
}

/** A short hash for logs and tags. */
export const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

export const nameOf = ({ keys }: Asked, by: Dimension | 'none' | 'day', name: string) =>
  by === 'key' ? keys.nameOf(name) : name
