import { formatNumber } from './format.ts'
import type { StoredSearch, StoredTrial } from './stored-search.ts'

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

/** `0.50 tasks/s`; of requests, as it is. */
export function nounRate(perS: number, budget: string, of: StoredSearch['of']): string {
  const rate = rateText(perS, budget)
  return of === 'tasks' ? rate.replace('/s', ' tasks/s') : rate
}

/** `about 60 requests a minute (1.0/s)`, or an hour if a minute has fewer than two. */
export function countText(perS: number, of: string): string {
  const [count, time] = perS * 60 < 2 ? [perS * 3600, 'an hour'] : [perS * 60, 'a minute']
  return `about ${formatNumber(Number(count.toPrecision(2)))} ${of} ${time} (${rateText(perS)})`
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

export const percent = (share: number) => `${formatNumber(Number((share * 100).toPrecision(2)))} %`
