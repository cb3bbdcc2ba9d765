import { lookup } from '../user/lookup.ts'
import { askForTokens } from './ask-for-tokens.ts'
import type { Tone } from './banner.ts'
import { formatDuration, formatNumber, percentAtMost } from './format.ts'
import {
  countText,
  failedRate,
  heldRate,
  nounRate,
  percent,
  rateText,
  reasonText,
} from './search-words.ts'
import type { SafeRate, StoredNeeds, StoredSearch, StoredTrial } from './stored-search.ts'

export interface SafeRateText {
  /** Whether a rate is called safe. */
  readonly isFound: boolean
  readonly tone: Tone
  /** One line: `Safe rate: 5.7/s (95 % of first tokens within 1 s)`. */
  readonly summary: string
  /** What supports it, and what is not known; whole sentences. */
  readonly because: readonly string[]
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
  const { safeRate: found } = search
  switch (found?.kind) {
    case undefined: {
      const because = ['Another version of Assay searched it; search again.']
      return { isFound: false, tone: 'none', summary: 'The rate is not judged', because }
    }
    case 'held':
      return confirmed(search, found)
    case 'bracket':
      return search.limit?.decides === true
        ? limited(search, search.limit.perS, found)
        : undecided(search, found)
    case 'none':
      return found.because === 'unknown' ? unknown(search) : noneSafe(search, found.because)
  }
}

type Found<Kind extends SafeRate['kind']> = Extract<SafeRate, { readonly kind: Kind }>

/** A rate was sustained in a confirmation. */
function confirmed(search: StoredSearch, found: Found<'held'>): SafeRateText {
  const { trials, objective, of, limit } = search
  const { heldPerS, safePerS, failedPerS, budget, needs } = found
  const confirmation = trials.findLast(
    ({ step, result, ratePerS }) => step === 'hold' && result === 'held' && ratePerS === heldPerS,
  )
  const sustained =
    confirmation === undefined
      ? []
      : [...atOnceText(search, confirmation), confirmationText(confirmation, budget, of)]
  const short =
    needs !== null &&
    `The time allowed a short confirmation (a whole one is ${formatNumber(needs.requests)} ${of}), at a lower rate; a longer search may find a higher one.`
  const above = limit?.decides !== true && aboveText(search, heldPerS, failedPerS, budget)
  const drift =
    confirmation?.drift != null &&
    `Not steady: times grew by ${formatNumber(confirmation.drift * 100)} % over the confirmation. Run an hour at this rate before you rely on it.`
  return {
    isFound: true,
    tone: confirmation?.drift == null ? 'good' : 'warn',
    summary: `Safe rate: ${nounRate(heldRate(safePerS, budget), of)} (${objective})`,
    because: [...sustained, short, above, drift].filter((text) => text !== false),
  }
}

/** What is known above the confirmed rate. */
function aboveText(
  { trials }: StoredSearch,
  heldPerS: number,
  failedPerS: number | null,
  budget: string,
): string {
  if (failedPerS === null) return 'No rate failed: the limit is above the tested rates.'
  const next = budget === 'quick' ? 'standard' : 'thorough'
  const more = budget === 'thorough' ? '' : `; to know more: --budget ${next}`
  return `${failedText(failedPerS, trials, budget)}. Between ${heldRate(heldPerS, budget)} and ${failedRate(failedPerS, budget)} nothing is known${more}.`
}

/** The service admits no higher rate, and the time was not enough to confirm one below its limit. */
function limited(
  { of, objective }: StoredSearch,
  perS: number,
  { needs }: Found<'bracket'>,
): SafeRateText {
  return {
    isFound: false,
    tone: 'warn',
    summary: `Limited to ${countText(perS, of)} by the service`,
    because: [
      `The ${of} that it admitted met the objective (${objective}). No rate below the limit is confirmed yet.`,
      ...needsText(needs, of),
    ],
  }
}

/** Short trials say between which rates it is, and no confirmation does. */
function undecided(
  { trials, of }: StoredSearch,
  { lowPerS, failedPerS, needs }: Found<'bracket'>,
): SafeRateText {
  const low = trials.find(({ result, ratePerS }) => result === 'held' && ratePerS === lowPerS)
  const lowText =
    lowPerS === null
      ? noLowText(trials)
      : `${heldRate(lowPerS)} was sustained in a trial of ${formatNumber(low?.planned ?? 0)} ${of}`
  const highText = failedPerS === null ? 'no rate failed' : failedText(failedPerS, trials)
  const bracket = `${lowText}, ${highText}; that is a bracket, not a verdict.`
  return {
    isFound: false,
    tone: 'warn',
    summary: 'No safe rate yet: not enough time to decide',
    because: [bracket.replace(/^./, (letter) => letter.toUpperCase()), ...needsText(needs, of)],
  }
}

function unknown({ trials, objective, of }: StoredSearch): SafeRateText {
  return {
    isFound: false,
    tone: 'warn',
    summary: `No safe rate: it is not known which ${of} met the objective (${objective})`,
    because: [unknownText(trials, of)],
  }
}

function noneSafe({ objective, of, trials }: StoredSearch, because: string): SafeRateText {
  const reasons: Readonly<Record<string, string>> = lookup({
    'one at a time': `Most ${of} missed although each was sent alone.`,
    'no hold':
      'No rate was sustained for long, down to less than half of the rate of the best short trial.',
    'every rate': everyRateText(trials, of),
  })
  return {
    isFound: false,
    tone: 'fail',
    summary: `No rate is safe (${objective})`,
    because: [reasons[because] ?? because],
  }
}

/** The misses of the first and of the lowest rate: whether a lower one could help. */
function everyRateText(trials: readonly StoredTrial[], of: string): string {
  const rated = trials.filter(({ step, judged }) => step !== 'warm-up' && judged > 0)
  const [first] = rated
  const lowest = rated.toSorted((a, b) => a.ratePerS - b.ratePerS)[0]
  if (first === undefined || lowest === undefined) return 'Every rate failed.'
  const shareOf = ({ missed, judged }: StoredTrial) => missed / judged
  const missed = (trial: StoredTrial) =>
    `${rateText(trial.ratePerS)} (${percent(shareOf(trial))} of ${of} missed)`
  const alike =
    shareOf(lowest) > shareOf(first) / 2
      ? ' Misses that do not depend on the rate, such as wrong answers, leave no rate that is safe.'
      : ''
  return `Every rate failed, from ${missed(first)} down to ${missed(lowest)}.${alike}`
}

function unknownText(trials: readonly StoredTrial[], of: string): string {
  const last = trials.findLast(({ why }) => why === 'unknown')
  const [unknown, all] = [last?.unknown ?? 0, (last?.unknown ?? 0) + (last?.judged ?? 0)]
  return `Of ${formatNumber(unknown)} of ${formatNumber(all)} ${of} it is not known whether they met it, because the service does not report their tokens, or streamed an unknown part of them. ${askForTokens}.`
}

function needsText(needs: StoredNeeds | null, of: string): readonly string[] {
  if (needs === null) return []
  const { ratePerS, requests, budget } = needs
  return [
    `To confirm ${rateText(ratePerS)} takes ${formatNumber(requests)} ${of}: ${formatDuration(Math.max(60, requests / ratePerS))} more (budget ${budget}).`,
  ]
}

/** A trial may succeed above a rate that failed, and does not count then. */
function noLowText(trials: readonly StoredTrial[]): string {
  const sustained = trials.filter(({ step, result }) => step !== 'warm-up' && result === 'held')
  return sustained.length === 0
    ? 'no tested rate was sustained'
    : `a trial sustained ${[...new Set(sustained.map(({ ratePerS }) => heldRate(ratePerS)))].join(', ')}, but a rate at or below it failed`
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
    trial.mostMissed === null
      ? ''
      : `, at most ${percentAtMost(trial.mostMissed)} with 99 % confidence`
  const sent =
    trial.sentPerS !== null && Math.abs(trial.sentPerS / trial.ratePerS - 1) > 0.01
      ? ` (${rateText(trial.sentPerS, 'thorough')} was sent)`
      : ''
  return `Sustained ${heldRate(trial.ratePerS, budget)}${sent} for ${formatDuration(trial.lastedUs / 1e6)}: ${formatNumber(trial.sent)} ${of}, ${formatNumber(trial.missed)} late or failed (${percent(late)}${most}).`
}

function failedText(perS: number, trials: readonly StoredTrial[], budget = 'quick'): string {
  const found = trials.findLast(({ result, ratePerS }) => result === 'failed' && ratePerS === perS)
  if (found === undefined) return `${failedRate(perS, budget)} failed`
  const after = formatDuration(found.lastedUs / 1e6)
  const reason = reasonText(found) ?? 'the store has no reason'
  return `${failedRate(perS, budget)} failed after ${after} (${reason})`
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
