import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Http1Transport } from '../client/wire/http1/transport.ts'
import type { Transport } from '../client/wire/transport.ts'
import { bandsAt, type FullContract } from '../contract/contract.ts'
import {
  type DeploymentProfile,
  type GapAnswer,
  type GapId,
  gapIds,
  profileVersion,
} from '../contract/profile.ts'
import { Recorder } from '../store/attempts/recorder.ts'
import { assayVersion, machineJson } from '../store/runs/machine.ts'
import { endRun, startRun, withoutCredentials } from '../store/runs/runs.ts'
import type { Store } from '../store/session/open.ts'
import { inSession, type Session } from '../store/session/session.ts'
import { reasonOf } from '../user/reason.ts'
import { UserError } from '../user/user-error.ts'
import type { Work } from '../user/work.ts'
import { firstReads } from './balances.ts'
import { type BorderInputs, type BorderSearch, borderInputs } from './border-inputs.ts'
import { BudgetError, ProbeBudget } from './budget.ts'
import type { ExtraHeader } from './extra-headers.ts'
import type { Operator } from './operator.ts'
import { type Price, priceOf } from './price.ts'
import { Interrupted, Prober } from './prober.ts'
import { type Circumstances, notAskable, type Question, secondKeyBeside } from './question.ts'
import { questions } from './questions/list.ts'
import { mustAnswer, mustServe } from './served.ts'
import { nextQuestion } from './worth.ts'

export interface ProbeOptions extends Work {
  readonly store: Store
  readonly contract: FullContract
  readonly baseUrl: string
  /** A new one if absent. */
  readonly runId?: string
  readonly apiKey: string
  readonly secondKey?: string | null
  /** Sent with each request. Secret values are not stored. */
  readonly headers?: readonly ExtraHeader[]
  /** Sets the service's balances and clock, if the owner allows it. */
  readonly operator?: Operator | null
  readonly maxCredits: number
  /** Seconds of service time per second. */
  readonly timeScale?: number
  /** Gaps to ask; empty for all. */
  readonly only?: readonly GapId[]
  /** In place of the questions: words that may have two likely first tokens. */
  readonly borders?: BorderSearch
  readonly startedAt?: Date
  /** Monotonic microseconds since the run began. */
  readonly now?: () => number
  readonly sleep?: (us: number) => Promise<void>
  /** Called with the price before the first question. */
  onPrice?(price: Price): void
  onAnswer?(gap: GapId, answer: GapAnswer, spent: number): void
  /** For tests: replaces the transport to the base URL. */
  readonly transport?: Transport
}

export interface ProbeResult {
  readonly profile: DeploymentProfile
  /** Gaps that the probe reached, askable or not. */
  readonly asked: readonly GapId[]
  readonly interrupted: boolean
  /** Questions that the budget or the balance did not cover. */
  readonly tooDear: readonly TooDear[]
  /** Words with two likely first tokens; null if they were not searched to the end. */
  readonly borderInputs: BorderInputs | null
  /** Why the operator could not restore the balance, as a sentence; null if nothing was to be restored, or it was. */
  readonly unrestored: string | null
}

/** A question that was not asked because of its price. */
export interface TooDear {
  readonly gaps: readonly GapId[]
  readonly credits: number
}

/**
 * Asks a deployment the gaps of the specification, and records every attempt as a run of kind `probe`.
 *
 * A few reads of the balance come first, to announce the price; then each question in a phase of its own. The
 * announced price becomes the bound on spending. A question that might exceed the budget or the balance is not asked,
 * and its answer gives the reason. If not all can be paid, those that an audit reads come first.
 *
 * @throws UserError if the service does not respond, or serves no request
 */
export async function probe(given: ProbeOptions): Promise<ProbeResult> {
  const options = complete(given)
  let unrestored: string | null = null
  const asking = (session: Session) =>
    askAll(session, options, (sentence) => {
      unrestored = sentence
    })
  try {
    const result = await inSession(options.store, {}, asking, { writes: 'attempts' })
    return { ...result, unrestored }
  } catch (error) {
    throw unrestored === null ? error : withSentence(error, unrestored)
  }
}

/** The error that ended a probe, which tells also that the balance is not as it was. */
function withSentence(error: unknown, sentence: string): Error {
  if (error instanceof UserError) return new UserError(error.code, `${error.message}\n${sentence}`)
  const ended = error instanceof Error ? error.stack : String(error)
  return new Error(`${sentence}\n${ended}`, { cause: error })
}

/** @param onUnrestored called if the balance is not as it was before, with the reason as a sentence */
async function askAll(
  session: Session,
  options: ReturnType<typeof complete>,
  onUnrestored: (sentence: string) => void,
): Promise<Omit<ProbeResult, 'unrestored'>> {
  const { contract, runId, baseUrl } = options
  const url = new URL(baseUrl)
  const transport =
    options.transport ??
    new Http1Transport({
      origin: url.origin,
      maxConnections: Number.POSITIVE_INFINITY,
      connectTimeoutMs: contract.timeouts.connectMs,
    })
  await startRun(session, {
    runId,
    kind: 'probe',
    scenario: 'probe',
    scenarioJson: JSON.stringify({ only: options.only, maxCredits: options.maxCredits }),
    seed: 0,
    baseUrl,
    contract: contract.name,
    startedAtUs: options.startedAt.getTime() * 1000,
    timeScale: options.timeScale,
    assayVersion: assayVersion(),
    machineJson: machineJson(),
  })
  const recorder = await Recorder.open(session)
  const budget = new ProbeBudget(options.maxCredits)
  const prober = new Prober({
    ...options,
    transport,
    recorder,
    budget,
    basePath: url.pathname.replace(/\/$/, ''),
  })
  const answers = new Map<GapId, GapAnswer>()
  const tooDear: TooDear[] = []
  let interrupted = false
  let balanceBefore: number | null = null
  let found: BorderInputs | null = null
  const searchBorders = async (search: BorderSearch) => {
    prober.phase = 'border inputs'
    budget.promise(options.maxCredits)
    found = await borderInputs(prober, search, (done, of) =>
      options.onProgress?.({ doing: `border inputs, ${of} found`, done, of: search.words.length }),
    )
    mustAnswer(prober)
    mustServe(prober)
  }
  const askQuestions = async () => {
    prober.phase = 'price'
    const balance = await firstBalance(prober)
    balanceBefore = balance
    prober.mustGoOn()
    mustAnswer(prober)
    const left = balance === null ? null : balance - prober.balances.spentOnReads
    const circumstances: Circumstances = {
      contract,
      minuteLimit: left === null ? null : (bandsAt(contract, left).at(-1)?.requests.minute ?? null),
      readCredits: prober.readCredits,
      hasOperator: options.operator !== null,
      secondKey: secondKeyBeside(options.apiKey, options.secondKey),
    }
    const price = priceOf(circumstances, options.only, left, options.maxCredits, budget.spent)
    budget.promise(price.credits)
    options.onPrice?.(price)
    const list = wanted(options.only)
    const waiting = new Set(list)
    while (waiting.size > 0) {
      const known = { ...circumstances, readCredits: prober.readCredits }
      const question = nextQuestion([...waiting], known, budget.spendable)
      const doing = question.gaps.join(' ')
      options.onProgress?.({ doing, done: list.length - waiting.size, of: list.length })
      waiting.delete(question)
      prober.phase = doing
      const credits = unpaid(question, known, budget)
      if (credits !== null) tooDear.push({ gaps: question.gaps, credits })
      const given = await ask(question, prober, known, budget)
      prober.mustGoOn()
      mustServe(prober)
      for (const gap of question.gaps) {
        const answer = given[gap] ?? notAskable('the requests made for it did not tell')
        answers.set(gap, answer)
        options.onAnswer?.(gap, answer, budget.spent)
      }
      prober.recording.flush()
    }
  }
  try {
    await (options.borders === null ? askQuestions() : searchBorders(options.borders))
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    interrupted = true
  } finally {
    const unrestored = await restored(options.operator, balanceBefore, prober)
    if (unrestored !== null) onUnrestored(unrestored)
    prober.recording.flush()
    await recorder.close()
    await endRun(session, runId, {
      endedUs: prober.now(),
      attemptCountsJson: JSON.stringify(countsOf(prober)),
      verdict: 'valid',
      verdictJson: JSON.stringify([]),
    })
    if (options.transport === undefined) await transport.close()
  }
  const notAsked: GapAnswer = {
    status: 'not-asked',
    why: interrupted ? 'the probe was interrupted before it' : 'not among the questions asked',
  }
  return {
    interrupted,
    tooDear,
    borderInputs: found,
    asked: [...answers.keys()],
    profile: {
      version: profileVersion,
      base_url: withoutCredentials(baseUrl),
      contract: contract.name,
      asked_at: options.startedAt.toISOString(),
      run_id: runId,
      credits_spent: budget.spent,
      answers: Object.fromEntries(
        gapIds.map((gap) => [gap, answers.get(gap) ?? notAsked]),
      ) as Record<GapId, GapAnswer>,
    },
  }
}

/** Sets the balance as it was. A failure must not cost the answers, which are paid for. @returns its sentence, or null */
async function restored(
  operator: Operator | null,
  credits: number | null,
  { hasSetBalance }: Prober,
): Promise<string | null> {
  if (operator === null || (credits === null && !hasSetBalance)) return null
  if (credits === null)
    return 'The operator set the balance, and the balance before the probe is not known, so it is not restored.'
  return operator.setBalance(credits).then(
    () => null,
    (error) =>
      `The balance before the probe was ${credits} credits, and the operator could not restore it: ${reasonOf(error)}`,
  )
}

/** Defaults: the clock of this machine, and no operator. */
function complete(given: ProbeOptions) {
  const began = performance.now()
  const signal = given.signal ?? new AbortController().signal
  return {
    runId: randomUUID(),
    secondKey: null,
    operator: null,
    timeScale: 1,
    only: [] as readonly GapId[],
    borders: null as BorderSearch | null,
    startedAt: new Date(),
    now: () => (performance.now() - began) * 1000,
    sleep: (us: number) => wait(us / 1000, undefined, { signal }).catch(() => {}),
    ...given,
    signal,
  }
}

/** The questions that answer any of the given gaps; all if none is given. */
function wanted(only: readonly GapId[]): readonly Question[] {
  return only.length === 0
    ? questions
    : questions.filter(({ gaps }) => gaps.some((gap) => only.includes(gap)))
}

async function firstBalance(prober: Prober): Promise<number | null> {
  try {
    return await prober.idleBalance(firstReads)
  } catch (error) {
    if (error instanceof BudgetError) return null
    throw error
  }
}

async function ask(
  question: Question,
  prober: Prober,
  circumstances: Circumstances,
  budget: ProbeBudget,
): Promise<Partial<Record<GapId, GapAnswer>>> {
  const all = (why: string) =>
    Object.fromEntries(question.gaps.map((gap) => [gap, notAskable(why)] as const))
  const obstacle = question.obstacle?.(circumstances) ?? null
  if (obstacle !== null) return all(obstacle)
  const price = unpaid(question, circumstances, budget)
  const costs = `needs up to ${price} ${price === 1 ? 'credit' : 'credits'}`
  if (price !== null && price > budget.left)
    return all(`${costs}, and the budget has ${budget.left} left; raise --max-credits`)
  if (price !== null) return all(`${costs}, and the account has ${budget.held}`)
  try {
    return await question.ask(prober)
  } catch (error) {
    if (error instanceof BudgetError) return all(`the budget ended: a request ${error.message}`)
    throw error
  }
}

/** The price of a question that can be asked, and that the budget or the account may not cover; null if both do. */
function unpaid(
  question: Question,
  circumstances: Circumstances,
  budget: ProbeBudget,
): number | null {
  if ((question.obstacle?.(circumstances) ?? null) !== null) return null
  const price = question.price(circumstances)
  return price > budget.spendable ? price : null
}

function countsOf({ responses }: Prober): Record<string, number> {
  const outcomes = Map.groupBy(responses, ({ columns }) => columns.outcome)
  const counts = Object.fromEntries(
    [...outcomes].map(([outcome, group]) => [outcome, group.length]),
  )
  return { planned: responses.length, sent: responses.length, not_sent: 0, ...counts }
}
