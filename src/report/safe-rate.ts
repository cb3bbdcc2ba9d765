import { z } from 'zod'
import { lookup } from '../user/lookup.ts'
import { askForTokens } from './ask-for-tokens.ts'
import type { Tone } from './banner.ts'
import { formatDuration, formatNumber } from './format.ts'

/**
 * The answer of a search, as stored in `runs.verdict_json`. Terminal, verdict, cards and chart all take it from here, so
 * that they cannot disagree. It is read leniently, because another version may have written the store.
 */
const trial = z.looseObject({
  phase: z.string().default(''),
  step: z.string().default('bracket'),
  ratePerS: z.number(),
  sentPerS: z.number().nullable().default(null),
  planned: z.number().default(0),
  sent: z.number().default(0),
  meanUs: z.number().nullable().default(null),
  judged: z.number().default(0),
  missed: z.number().default(0),
  unknown: z.number().default(0),
  limited: z.number().default(0),
  goodput: z.number().nullable().default(null),
  result: z.string().default('void'),
  why: z.string().default(''),
  mostMissed: z.number().nullable().default(null),
  drift: z.number().nullable().default(null),
  lastedUs: z.number().default(0),
  earlier: z.boolean().default(false),
})

const needs = z.looseObject({ budget: z.string(), ratePerS: z.number(), requests: z.number() })

const safeRate = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('held'),
    heldPerS: z.number(),
    safePerS: z.number(),
    failedPerS: z.number().nullable(),
    budget: z.string(),
    needs: needs.nullable().default(null),
  }),
  z.looseObject({
    kind: z.literal('bracket'),
    lowPerS: z.number().nullable(),
    failedPerS: z.number().nullable(),
    needs: needs.nullable(),
  }),
  z.looseObject({
    kind: z.literal('none'),
    because: z.string(),
    failedPerS: z.number().nullable(),
  }),
])

export const searchShape = z.looseObject({
  phase: z.string(),
  /** What the rate is of. */
  of: z.enum(['requests', 'tasks']).catch('requests').default('requests'),
  /** Such as `95 % of first tokens within 1 s`. */
  objective: z.string().default('the objectives'),
  trials: z.array(trial).default([]),
  safeRate: safeRate.nullable().catch(null).default(null),
  /** The limit of requests that the service enforces, and whether it decides; null if no trial ran into it. */
  limit: z
    .looseObject({ perS: z.number(), decides: z.boolean() })
    .nullable()
    .catch(null)
    .default(null),
  /** Share of the prompt tokens of the claimed trial that a cache had; null if the service does not report it. */
  cachedShare: z.number().nullable().default(null),
})

export type StoredSearch = z.output<typeof searchShape>
export type StoredTrial = StoredSearch['trials'][number]

/** The trial that the figures of a run are of: its answer's; without an answer, the lowest rate's. Null without any. */
export function claimedTrial({ safeRate, trials }: StoredSearch): StoredTrial | null {
  const rated = trials.filter(({ step, earlier }) => step !== 'warm-up' && !earlier)
  const claimed =
    safeRate?.kind === 'held'
      ? safeRate.heldPerS
      : safeRate?.kind === 'bracket'
        ? safeRate.lowPerS
        : null
  const lowest = rated.toSorted((one, other) => one.ratePerS - other.ratePerS)[0]
  return rated.findLast(({ ratePerS }) => ratePerS === claimed) ?? lowest ?? null
}

export interface SafeRateText {
  /** Whether a rate is called safe. */
  readonly isFound: boolean
  readonly tone: Tone
  /** One line: `Safe rate: 5.7/s (95 % of first tokens within 1 s)`. */
  readonly summary: string
  /** What supports it, and what is not known; whole sentences. */
  readonly because: readonly string[]
}

/** What a trial is called. A store and a scenario call the confirmation `hold`. */
export const stepName = ({ step }: Pick<StoredTrial, 'step'>) =>
  step === 'hold' ? 'confirmation' : step
export const trialName = (trial: StoredTrial) =>
  trial.step === 'hold' ? stepName(trial) : `${trial.step} trial`

/** What a trial decided. */
export const resultName = ({ result }: StoredTrial) => (result === 'held' ? 'sustained' : result)

/** A rate with two digits, or three of a step of 2.5 %: never more than the search can tell. */
export function rateText(perS: number, budget = 'quick'): string {
  const digits = budget === 'thorough' ? 3 : 2
  const rounded = Number(perS.toPrecision(digits))
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.max(rounded, 1e-9))))
  return `${rounded.toFixed(Math.min(decimals, 6))}/s`
}

/** @param isInvalid whether the run is no proof */
export function safeRateText(search: StoredSearch, isInvalid: boolean): SafeRateText {
  const answer = answerOf(search)
  const tone = isInvalid && answer.tone === 'good' ? 'warn' : answer.tone
  const doubt = isInvalid ? ['The run is INVALID, so this is no proof.'] : []
  return {
    ...answer,
    tone,
    because: [...doubt, ...answer.because, ...limitText(search), ...cacheText(search)],
  }
}

function answerOf(search: StoredSearch): SafeRateText {
  const { safeRate: found, trials, objective, of, limit } = search
  if (found === null) {
    const because = ['Another version of Assay searched it; search again.']
    return { isFound: false, tone: 'none', summary: 'The rate is not judged', because }
  }
  const failed = trials.filter(({ result }) => result === 'failed')
  switch (found.kind) {
    case 'held': {
      const { heldPerS, safePerS, failedPerS, budget, needs } = found
      const confirmation = trials.findLast(
        ({ step, ratePerS }) => step === 'hold' && ratePerS === heldPerS,
      )
      return {
        isFound: true,
        tone: confirmation?.drift == null ? 'good' : 'warn',
        summary: `Safe rate: ${nounRate(safePerS, budget, of)} (${objective})`,
        because: [
          ...(confirmation === undefined
            ? []
            : [...atOnceText(search, confirmation), confirmationText(confirmation, budget, of)]),
          ...(needs === null
            ? []
            : [
                `The time allowed a short confirmation (a whole one is ${formatNumber(needs.requests)} ${of}), at a lower rate; a longer search may find a higher one.`,
              ]),
          ...(limit?.decides === true
            ? []
            : [
                failedPerS === null
                  ? 'No rate failed: the limit is above the tested rates.'
                  : `${failedText(failedPerS, failed, budget)}. Between ${rateText(heldPerS, budget)} and ${rateText(failedPerS, budget)} nothing is known${budget === 'thorough' ? '' : `; to know more: --budget ${budget === 'quick' ? 'standard' : 'thorough'}`}.`,
              ]),
          ...(confirmation?.drift == null
            ? []
            : [
                `Not steady: times grew by ${formatNumber(confirmation.drift * 100)} % over the confirmation. Run an hour at this rate before you rely on it.`,
              ]),
        ],
      }
    }
    case 'bracket': {
      const { lowPerS, failedPerS, needs } = found
      const takes = needs === null ? [] : [needsText(needs, of)]
      if (limit?.decides === true) {
        return {
          isFound: false,
          tone: 'warn',
          summary: `Limited to ${countText(limit.perS, of)} by the service`,
          because: [
            `The ${of} that it admitted met the objective (${objective}). No rate below the limit is confirmed yet.`,
            ...takes,
          ],
        }
      }
      const low = trials.find(({ result, ratePerS }) => result === 'held' && ratePerS === lowPerS)
      return {
        isFound: false,
        tone: 'warn',
        summary: 'No safe rate yet: not enough time to decide',
        because: [
          [
            lowPerS === null
              ? noLowText(trials)
              : `${rateText(lowPerS)} was sustained in a trial of ${formatNumber(low?.planned ?? 0)} ${of}`,
            failedPerS === null ? 'no rate failed' : failedText(failedPerS, failed),
          ]
            .join(', ')
            .concat('; that is a bracket, not a verdict.')
            .replace(/^./, (letter) => letter.toUpperCase()),
          ...takes,
        ],
      }
    }
    case 'none': {
      if (found.because === 'unknown') {
        return {
          isFound: false,
          tone: 'warn',
          summary: `No safe rate: it is not known which ${of} met the objective (${objective})`,
          because: [unknownText(trials, of)],
        }
      }
      const reasons: Readonly<Record<string, string>> = lookup({
        'one at a time': `Most ${of} missed although each was sent alone.`,
        'no hold':
          'No rate was sustained for long, down to less than half of the rate of the best short trial.',
        'every rate': 'Every rate failed, down to a thousandth of the first.',
      })
      return {
        isFound: false,
        tone: 'fail',
        summary: `No rate is safe (${objective})`,
        because: [reasons[found.because] ?? found.because],
      }
    }
  }
}

function unknownText(trials: readonly StoredTrial[], of: string): string {
  const last = trials.findLast(({ why }) => why === 'unknown')
  const [unknown, all] = [last?.unknown ?? 0, (last?.unknown ?? 0) + (last?.judged ?? 0)]
  return `Of ${formatNumber(unknown)} of ${formatNumber(all)} ${of} it is not known whether they met it, because the service does not report their tokens, or streamed an unknown part of them. ${askForTokens}.`
}

const needsText = ({ ratePerS, requests, budget }: z.output<typeof needs>, of: string) =>
  `To confirm ${rateText(ratePerS)} takes ${formatNumber(requests)} ${of}: ${formatDuration(Math.max(60, requests / ratePerS))} more (budget ${budget}).`

/** `about 60 requests a minute (1.0/s)`, or an hour if a minute has fewer than two. */
function countText(perS: number, of: string): string {
  const [count, time] = perS * 60 < 2 ? [perS * 3600, 'an hour'] : [perS * 60, 'a minute']
  return `about ${formatNumber(Number(count.toPrecision(2)))} ${of} ${time} (${rateText(perS)})`
}

/** A trial may succeed above a rate that failed, and does not count then. */
function noLowText(trials: readonly StoredTrial[]): string {
  const sustained = trials.filter(({ step, result }) => step !== 'warm-up' && result === 'held')
  return sustained.length === 0
    ? 'no tested rate was sustained'
    : `a trial sustained ${[...new Set(sustained.map(({ ratePerS }) => rateText(ratePerS)))].join(', ')}, but a rate at or below it failed`
}

/** `0.50 tasks/s`; of requests, as it is. */
export function nounRate(perS: number, budget: string, of: StoredSearch['of']): string {
  const rate = rateText(perS, budget)
  return of === 'tasks' ? rate.replace('/s', ' tasks/s') : rate
}

/** Tasks in progress at the confirmed rate: its rate times their mean time (Little's law). */
function atOnceText({ of }: StoredSearch, { ratePerS, meanUs }: StoredTrial): readonly string[] {
  if (of !== 'tasks' || meanUs === null) return []
  const atOnce = Number(((ratePerS * meanUs) / 1e6).toPrecision(2))
  return [
    `A task took ${formatDuration(meanUs / 1e6)} on average, so about ${atOnce} agents worked at once.`,
  ]
}

function confirmationText(trial: StoredTrial, budget: string, of: StoredSearch['of']): string {
  const late = trial.judged === 0 ? 0 : trial.missed / trial.judged
  const most =
    trial.mostMissed === null ? '' : `, at most ${percent(trial.mostMissed)} with 99 % confidence`
  const sent =
    trial.sentPerS !== null && Math.abs(trial.sentPerS / trial.ratePerS - 1) > 0.01
      ? ` (${rateText(trial.sentPerS, 'thorough')} was sent)`
      : ''
  return `Sustained ${rateText(trial.ratePerS, budget)}${sent} for ${formatDuration(trial.lastedUs / 1e6)}: ${formatNumber(trial.sent)} ${of}, ${formatNumber(trial.missed)} late or failed (${percent(late)}${most}).`
}

function failedText(perS: number, failed: readonly StoredTrial[], budget = 'quick'): string {
  const found = failed.findLast(({ ratePerS }) => ratePerS === perS)
  if (found === undefined) return `${rateText(perS, budget)} failed`
  const after = formatDuration(found.lastedUs / 1e6)
  const reason = reasonText(found) ?? 'the store has no reason'
  return `${rateText(perS, budget)} failed after ${after} (${reason})`
}

/** Why a trial failed, with its figure; null if it succeeded. */
export function reasonText({
  why,
  missed,
  judged,
  limited,
  mostMissed,
  planned,
}: StoredTrial): string | null {
  switch (why) {
    case 'held':
      return null
    case 'misses':
      return limited > missed / 2
        ? `${formatNumber(limited)} of ${formatNumber(judged)} got 429`
        : `${formatNumber(missed)} of ${formatNumber(judged)} missed`
    case 'backlog':
      return 'its backlog grew'
    case 'margin':
      return mostMissed === null
        ? 'its margin is too small'
        : `up to ${percent(mostMissed)} may miss`
    case 'late':
      return 'this machine sent late'
    case 'unknown':
      return 'not known which met the objective'
    case 'too few':
      return `${formatNumber(judged)} of ${formatNumber(planned)} judged`
    default:
      return why
  }
}

/** Whether a limiter of the service, not its speed, ended the search: a sentence, or none. */
export function limitText({ trials, limit, safeRate: found, of }: StoredSearch): readonly string[] {
  if (limit !== null) {
    if (found?.kind === 'bracket' && limit.decides) return []
    const why = limit.decides ? ': the limit, not its speed, decides' : ''
    return [`The service limits this client to ${countText(limit.perS, of)}${why}.`]
  }
  const failed = trials.filter(({ result }) => result === 'failed')
  const missed = failed.reduce((sum, each) => sum + each.missed, 0)
  const limited = failed.reduce((sum, each) => sum + each.limited, 0)
  return limited > missed / 2
    ? [
        `The service's rate limit ended the search: ${formatNumber(limited)} of ${formatNumber(missed)} misses were 429.`,
      ]
    : []
}

/** Above this share, a cache explains part of the result. */
const cacheExplains = 0.05

function cacheText({ cachedShare }: StoredSearch): readonly string[] {
  if (cachedShare === null) {
    return ['The service does not report which prompt tokens came from a cache.']
  }
  const share = `${percent(cachedShare)} of the prompt tokens came from a cache`
  return [
    cachedShare > cacheExplains
      ? `${share}: with other prompts the safe rate is lower.`
      : `${share}.`,
  ]
}

const percent = (share: number) => `${formatNumber(Number((share * 100).toPrecision(2)))} %`
