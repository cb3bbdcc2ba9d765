import { z } from 'zod'
import { promiseNames } from '../contract/promises.ts'
import { measuredNames } from './figures.ts'

const text = z.string()
const observations = z.number()
const note = text.exactOptional()

const known = text.nullable()

/** A request as its service knows it, so that it finds it in its own logs. Null: not known. */
const serviceSide = z
  .object({
    /** UTC, in milliseconds: ISO 8601. */
    at: known,
    /** The service's own ids: of a header, of the body, of its log. */
    ids: z.array(text).readonly(),
    /** The row of a log that was judged alone, from 1. */
    line: z.number().exactOptional(),
    endpoint: known,
    model: known,
    status: z.number().nullable(),
    /** SHA-256 and length of the body that was asked; null also where only a body of the same form is stored (`isSharedTemplate`). */
    asked: known,
    /** Tokens as they were answered. */
    usage: known,
    /** Currency, or credits, of the amounts. Absent without amounts. */
    unit: text.exactOptional(),
    /** Amounts as decimal text. */
    answered: known,
    logged: known,
    /** One amount, or those between which the contract does not decide: `0.1 or 0.2`. */
    expected: known,
    /** What was charged too much, or with a minus too little; absent if the expected amount is not one. */
    difference: text.exactOptional(),
    /** How the expected amount follows. */
    formula: known,
  })
  .readonly()

type ServiceSide = z.infer<typeof serviceSide>
export const amounts = ['answered', 'logged', 'expected', 'difference'] as const

/** The amounts of a witness as people read them: `0.04 USD`. */
export function amountsOf(side: ServiceSide): Record<(typeof amounts)[number], string | null> {
  const unit = side.unit === undefined ? '' : ` ${side.unit}`
  const read = (amount: string | null = null) => (amount === null ? null : `${amount}${unit}`)
  const { answered, logged, expected, difference } = side
  const costs = { answered: read(answered), logged: read(logged), expected: read(expected) }
  return { ...costs, difference: read(difference) }
}

/** An attempt as evidence. `shows` says what its row shows, in a few words: `remaining 41 after 43, cost 1`. */
const witness = z
  .object({
    runId: text,
    slot: z.number(),
    retry: z.number(),
    shows: text,
    service: serviceSide.exactOptional(),
  })
  .readonly()
export type Witness = z.infer<typeof witness>

/** Figures that a page shows with a verdict, as text. */
const table = z
  .object({
    title: text,
    head: z.array(text).readonly(),
    rows: z.array(z.array(text).readonly()).readonly(),
  })
  .readonly()
export type VerdictTable = z.infer<typeof table>
const tables = z.array(table).readonly().exactOptional()

/** A value that a rule measured. */
const figure = z
  .object({
    name: z.enum(measuredNames),
    model: text.exactOptional(),
    /** A part of it, such as texts of one script. */
    of: text.exactOptional(),
    value: z.number(),
    /** Where the true value is: by a bound of counts, or in 95 of 100 audits where answers or times are random. Absent if not known. */
    low: z.number().exactOptional(),
    high: z.number().exactOptional(),
    /** Currency of an amount. */
    unit: text.exactOptional(),
  })
  .readonly()
export type MeasuredFigure = z.infer<typeof figure>
const figures = z.array(figure).readonly().exactOptional()

/** `must`: the specification requires it. `derived`: it follows. `advice`: convention. */
export const severities = ['must', 'derived', 'advice'] as const
export type Severity = (typeof severities)[number]

/** The order of verdicts in a page. */
export const worstFirst = ['fail', 'inconclusive', 'pass', 'not-observed', 'not-promised'] as const

/** The verdict of a rule. One without observations, or whose evidence fits both sides, never passes: such mixes do not compile. */
export const verdictSchema = z.discriminatedUnion('verdict', [
  z.object({ verdict: z.literal('pass'), observations, note, tables, figures }).readonly(),
  z
    .object({
      verdict: z.literal('fail'),
      observations,
      expected: text,
      observed: text,
      /** The fact in a few words with its amount, for a headline; absent if `observed` is that. */
      fact: text.exactOptional(),
      /** That of the rule if absent: evidence may settle what is advice otherwise. */
      severity: z.enum(severities).exactOptional(),
      /** The smallest set of rows that shows the failure. */
      witnesses: z.tuple([witness], witness).readonly(),
      note,
      tables,
      figures,
    })
    .readonly(),
  z
    .object({
      verdict: z.literal('inconclusive'),
      observations,
      /** Why the evidence fits both; `undecided: …` if the rule failed in itself. */
      why: text,
      isUndecided: z.literal(true).exactOptional(),
      tables,
      figures,
      witnesses: z.array(witness).readonly().exactOptional(),
    })
    .readonly(),
  /** The precondition never occurred; `requires` describes the traffic that would meet it. */
  z.object({ verdict: z.literal('not-observed'), requires: text }).readonly(),
  /** The contract does not make these promises, so nothing can break them. */
  z
    .object({
      verdict: z.literal('not-promised'),
      promises: z.tuple([z.enum(promiseNames)], z.enum(promiseNames)).readonly(),
      /** What was measured all the same. */
      note,
      figures,
    })
    .readonly(),
])
export type Verdict = z.infer<typeof verdictSchema>

/** What a contract does not promise, and what was measured all the same. */
export const unpromised = ({ promises, note }: Extract<Verdict, { verdict: 'not-promised' }>) =>
  [promises.join(', '), ...(note === undefined ? [] : [`measured: ${note}`])].join('; ')

export const observationsOf = (verdict: Verdict): number =>
  'observations' in verdict ? verdict.observations : 0

export const figuresOf = (verdict: Verdict): readonly MeasuredFigure[] =>
  ('figures' in verdict ? verdict.figures : undefined) ?? []

export const withFigures = (verdict: Verdict, figures: readonly MeasuredFigure[]): Verdict =>
  verdict.verdict === 'not-observed' || figures.length === 0 ? verdict : { ...verdict, figures }

/** A pass with another note beside its own; null: as it is. */
export const withNote = (verdict: Verdict, note: string | null): Verdict =>
  verdict.verdict !== 'pass' || note === null
    ? verdict
    : { ...verdict, note: [verdict.note, note].filter((each) => each !== undefined).join('; ') }

export type Failure = Omit<
  Extract<Verdict, { verdict: 'fail' }>,
  'verdict' | 'observations' | 'witnesses'
> & { readonly witnesses: readonly Witness[] }
type Remarks = Pick<Extract<Verdict, { verdict: 'pass' }>, 'note' | 'tables' | 'figures'>

/** A promise was broken; the witnesses are the fewest rows that show it, at least one. */
export function fail(observations: number, failure: Failure): Verdict {
  const [first, ...others] = failure.witnesses
  if (first === undefined) throw new Error('a failure without a witness')
  return { verdict: 'fail', observations, ...failure, witnesses: [first, ...others] }
}

export const witnessAt = (
  { runId, slot, retry }: Pick<Witness, 'runId' | 'slot' | 'retry'>,
  shows: string,
): Witness => ({ runId, slot, retry, shows })

/** A promise was kept. Who may have observed nothing uses `passed`. */
export const pass = (observations: number, remarks: Remarks = {}): Verdict => ({
  verdict: 'pass',
  observations,
  ...remarks,
})

type Open = Extract<Verdict, { verdict: 'inconclusive' }>

/** The evidence fits both. @param why the reason, as a sentence */
export function inconclusive(
  observations: number,
  why: string,
  witnesses?: readonly Witness[],
  remarks: Pick<Open, 'tables' | 'isUndecided'> = {},
): Verdict {
  const shown = witnesses === undefined ? {} : { witnesses }
  return { verdict: 'inconclusive', observations, why, ...shown, ...remarks }
}

type Unpromised = Extract<Verdict, { verdict: 'not-promised' }>

/** What is measured though nothing is promised, in a sentence and in figures. */
export type Measured = Readonly<Pick<Unpromised, 'note' | 'figures'>>

/** Nothing can break these promises, because the contract does not make them. */
export const notPromised = (promises: Unpromised['promises'], measured?: Measured): Verdict => ({
  verdict: 'not-promised',
  promises,
  ...measured,
})

/** Nothing was observed. @param requires the traffic that would be observed */
export const notObserved = (requires: string): Verdict => ({ verdict: 'not-observed', requires })

/** A pass if something was observed. @param requires the traffic that would be observed */
export const passed = (observations: number, requires: string): Verdict =>
  observations > 0 ? pass(observations) : notObserved(requires)

/** Parts that a note names one by one. */
const mostParts = 6

/**
 * The note of a pass that covers only some parts of its promise, so that nobody takes it for all: `not tested: chat streams`.
 *
 * @param claimed all parts of the promise
 * @param tested those of which something was compared
 * @returns undefined if all were
 */
export function untested(claimed: readonly string[], tested: Iterable<string>): string | undefined {
  const seen = new Set(tested)
  const rest = claimed.filter((part) => !seen.has(part))
  const shown = rest.slice(0, mostParts).join(', ')
  const more = rest.length - mostParts
  return rest.length === 0
    ? undefined
    : `not tested: ${shown}${more > 0 ? ` and ${more} more` : ''}`
}

/** Remarks with the notes that there are, in one. */
export function notesOf(...notes: readonly (string | undefined)[]): { readonly note?: string } {
  const some = notes.filter((note) => note !== undefined)
  return some.length === 0 ? {} : { note: some.join('; ') }
}

/** The verdict over the same question asked of several: a failure of one, else what is open, else undefined. */
export function firstOpen(verdicts: readonly Verdict[]): Verdict | undefined {
  return (
    verdicts.find(({ verdict }) => verdict === 'fail') ??
    verdicts.find(({ verdict }) => verdict === 'inconclusive')
  )
}

/** What a rule takes: captured traffic, requests made for it, control of time or balance, or an account without other traffic. */
export type Need = 'passive' | 'active' | 'time' | 'quiescence'

export interface Finding {
  readonly rule: string
  readonly severity: Severity
  readonly title: string
  readonly verdict: Verdict
}

/** Whether the rule failed in itself, so that nobody knows what it would have found. */
export const isUndecided = ({ verdict }: Finding): boolean =>
  verdict.verdict === 'inconclusive' && verdict.isUndecided === true

/**
 * Whether a promise was broken. Advice is not a promise.
 *
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const { findings } = await audit(store)
 * process.exitCode = findings.some(isBroken) ? 3 : 0
 * store.close()
 */
export const isBroken = ({ verdict, severity }: Finding): boolean =>
  verdict.verdict === 'fail' && severity !== 'advice'
