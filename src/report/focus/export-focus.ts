import type { Contract } from '../../contract/contract.ts'
import { figures } from '../../measure/usage/sums.ts'
import {
  add,
  compare,
  decimalsOf,
  divide,
  multiply,
  type Rational,
  rational,
  subtract,
} from '../../money/rational.ts'
import { lastFoursSql } from '../../store/import/last-fours.ts'
import { cellsSql, shownBucketsSql } from '../../store/quarters/quarters.ts'
import { limitTo } from '../../store/session/account.ts'
import type { Store } from '../../store/session/open.ts'
import { inSession, type Session } from '../../store/session/session.ts'
import { dayUs, hourUs } from '../../user/durations.ts'
import { entryOf } from '../../user/lookup.ts'
import { userError } from '../../user/user-error.ts'
import type { FocusView } from '../pages.ts'
import { enterPrices } from '../usage/prepare.ts'
import { type Charge, exactNumber, type FocusAccount, focusRow } from './charges.ts'
import { focusIssues, sumOf } from './check.ts'
import type { FocusRow } from './columns.ts'

/** Credits for a million tokens of each kind; a kind that is absent has no price. */
export type TokenPrices = Readonly<
  Record<string, Readonly<Partial<Record<'input' | 'cached input' | 'output', string>>>>
>

export interface FocusOptions {
  readonly of: FocusAccount
  readonly fromUs: number
  readonly toUs: number
  readonly bucket: 'hour' | 'day'
  readonly keyNames: Readonly<Record<string, string>>
  /** Prices by token, where the service has them. */
  readonly prices: TokenPrices
  readonly priceId: string
  readonly contract: Contract
  /** The unit of usage: credits, or a currency of the log. */
  readonly view: FocusView
}

export interface FocusExport {
  readonly rows: readonly FocusRow[]
  /** Usage whose cost is unknown: FOCUS has no unknown cost, so it is not in the rows. */
  readonly unknown: readonly Bucket[]
  readonly unknownRequests: number
}

interface Bucket {
  readonly start_us: number
  readonly width_us: number
  readonly key_fp: string | null
  readonly model: string | null
  /** As `usage` has them. */
  readonly tags: string | null
  readonly requests: number
  readonly credits: string | null
  readonly credits_known: number
  readonly input: string | null
  readonly cached: string | null
  readonly output: string | null
}

const widths = { hour: hourUs, day: dayUs } as const

/**
 * The charges of one account and billing period, from the sums of the store. They are checked: the sum of the rows is
 * that of the usage, to the last digit.
 *
 * @throws UserError if a check fails
 */
export const readFocus = (store: Store, options: FocusOptions): Promise<FocusExport> =>
  inSession(store, {}, (session) => readIn(session, options))

async function readIn(session: Session, options: FocusOptions): Promise<FocusExport> {
  const { of, fromUs, toUs, bucket, view } = options
  await limitTo(session, { account: of.account, keys: null })
  await enterPrices(session, options.contract)
  const width = widths[bucket]
  const cells = `WITH usage_shown AS (FROM usage WHERE type = 'usage'), usage_shown_buckets AS (${shownBucketsSql('')}), usage_cells AS (${cellsSql()})`
  const within = `first_us >= ${fromUs} AND first_us < ${toUs} AND unit = 'credits'`
  const sums = (known: string) => `
    ${cells}
    SELECT (first_us // ${width} * ${width})::BIGINT AS start_us, greatest(max(width_us), ${width})::BIGINT AS width_us, key_fp, model, tags,
      coalesce(${figures.requests}, 0)::BIGINT AS requests, sum(credits)::VARCHAR AS credits, coalesce(${figures.costKnown}, 0)::BIGINT AS credits_known,
      (${figures.input} - coalesce(${figures.cached}, 0))::VARCHAR AS input, ${figures.cached}::VARCHAR AS cached,
      ${figures.output}::VARCHAR AS output
    FROM usage_cells WHERE ${within} AND credits IS ${known} GROUP BY 1, key_fp, model, tags
    ORDER BY start_us, key_fp NULLS LAST, model NULLS LAST, tags NULLS LAST`
  const known = await session.rows<Bucket>(sums('NOT NULL'))
  const unknown = await session.rows<Bucket>(sums('NULL'))
  const lastFours = new Map(
    (await session.rows<LastFour>(lastFoursSql())).map((each) => [each.key_fp, each.last_four]),
  )
  const entries = await session.rows<Entry>(
    `SELECT at_us, type, unit, credits::VARCHAR AS amount, id, tags FROM usage_events
     WHERE type IN ('refund', 'purchase', 'expiry') AND at_us >= ${fromUs} AND at_us < ${toUs} AND credits IS NOT NULL
     ORDER BY at_us, id`,
  )
  const charges = [
    ...(view === 'billing'
      ? entries.flatMap((entry) => entryCharges(entry, of))
      : entries
          .filter(({ type }) => type === 'refund')
          .flatMap((entry) => entryCharges(entry, of))),
    ...known.flatMap((each) => bucketCharges(each, options, lastFours)),
  ]
  const billed = charges.map((charge) => focusRow(charge, of))
  const rows =
    view === 'billing' ? billed : billed.map((row) => ({ ...row, BilledCost: row.EffectiveCost }))
  const issues = focusIssues(view === 'billing' ? rows : billed)
  const used = known.reduce((sum, { credits }) => add(sum, exactNumber(credits!)), rational(0n))
  const written = sumOf(
    rows.filter((row) => row.ChargeCategory === 'Usage'),
    'PricingCurrencyEffectiveCost',
  )
  const lost =
    compare(used, written) === 0 ? [] : ['the sum of the rows is not the sum of the usage']
  if (issues.length + lost.length > 0) {
    throw userError.store(
      `These charges are no valid FOCUS file:\n${[...issues, ...lost].slice(0, 10).join('\n')}`,
    )
  }
  return { rows, unknown, unknownRequests: unknown.reduce((sum, each) => sum + each.requests, 0) }
}

interface LastFour {
  readonly key_fp: string
  readonly last_four: string
}

interface Entry {
  readonly at_us: number
  readonly type: 'refund' | 'purchase' | 'expiry'
  readonly unit: string
  readonly amount: string
  readonly id: string
  readonly tags: string | null
}

/** Entries in credits, and purchases in the currency. Others are no charges of this file. */
function entryCharges(
  { at_us, type, unit, amount, id, tags }: Entry,
  of: FocusAccount,
): readonly Charge[] {
  const size = exactNumber(amount.replace(/^-/, ''))
  if (unit !== 'credits' && !(type === 'purchase' && unit === of.currency)) return []
  const credits = unit === 'credits' ? size : quotient(size, of.creditPrice)
  const cost = unit === 'credits' ? multiply(size, of.creditPrice) : size
  if (credits === null) return []
  const startUs = Math.floor(at_us / hourUs) * hourUs
  const summary = {
    refund: `Refund ${id}`,
    purchase: `Purchase ${id}`,
    expiry: `Credits expired unused, ${id}`,
  }[type]
  return [
    {
      type,
      startUs,
      endUs: startUs + hourUs,
      summary,
      credits,
      cost,
      sku: type === 'refund' ? 'refund' : 'credits',
      priceId: 'credits',
      tags: tagsOf(tags),
    },
  ]
}

/** Own dimensions, as the store has them. */
const tagsOf = (text: string | null) => JSON.parse(text ?? '{}') as Readonly<Record<string, string>>

/** Null if it is no decimal: then no price times quantity gives the cost. */
function quotient(a: Rational, b: Rational): Rational | null {
  const value = divide(a, b)
  return decimalsOf(value) === null ? null : value
}

/** By kind of token if the prices give exactly the credits that were charged; else by credits. */
function bucketCharges(
  bucket: Bucket,
  { keyNames, prices, priceId }: FocusOptions,
  lastFours: ReadonlyMap<string, string>,
): readonly Charge[] {
  const { start_us, width_us, key_fp, model, requests, credits_known } = bucket
  const id = key_fp ?? 'unknown'
  const lastFour = lastFours.get(id)
  const key = {
    id,
    name: entryOf(keyNames, id) ?? (lastFour === undefined ? id : `…${lastFour}`),
  }
  const times = { startUs: start_us, endUs: start_us + width_us }
  const credits = exactNumber(bucket.credits!)
  const tags = tagsOf(bucket.tags)
  const price = entryOf(prices, model ?? '') ?? {}
  const kinds = [
    ['input', bucket.input],
    ['output', bucket.output],
    ['cached input', bucket.cached],
  ] as const
  const parts = kinds.flatMap(([kind, tokens]) => {
    const per = price[kind]
    return per === undefined || tokens === null || Number(tokens) <= 0
      ? []
      : [{ kind, tokens: exactNumber(tokens), perMillion: exactNumber(per) }]
  })
  const sum = parts.reduce(
    (total, { tokens, perMillion }) =>
      add(total, multiply(multiply(tokens, perMillion), rational(1n, 1_000_000n))),
    rational(0n),
  )
  if (parts.length > 0 && compare(subtract(sum, credits), rational(0n)) === 0) {
    return parts.map((part, at) => ({
      type: 'tokens',
      ...times,
      ...part,
      model: model!,
      priceId,
      key,
      tags,
      // A request is counted once.
      requests: at === 0 ? requests : 0,
      creditsKnown: at === 0 ? credits_known : 0,
      isCorrection: false,
    }))
  }
  const widthS = width_us / 1e6
  return [
    {
      type: 'credits',
      ...times,
      model,
      credits,
      key,
      tags,
      requests,
      creditsKnown: credits_known,
      widthS: widthS === 3600 ? null : widthS,
    },
  ]
}
