import { atDigits, formatNumber, percentAtMost } from './format.ts'
import type { StoredSearch, StoredTrial } from './stored-search.ts'

/** What a trial is called. A store and a scenario call the confirmation `hold`. */
export const stepName = ({ step }: Pick<StoredTrial, 'step'>) =>
  step === 'hold' ? 'confirmation' : step
export const trialName = (trial: StoredTrial) =>
  trial.step === 'hold' ? stepName(trial) : `${trial.step} trial`

/** What a trial decided. */
export const resultName = ({ result }: StoredTrial) => (result === 'held' ? 'sustained' : result)

/** A rate with two digits, or three if those are coarser than a step of the search (10, 4 or 2 %). */
export function rateText(perS: number, budget = 'quick', round = Math.round): string {
  if (perS === 0) return '0/s'
  const digits = digitsOf(perS, budget)
  const rounded = atDigits(perS, digits, round)
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(rounded)))
  return `${rounded.toFixed(Math.min(decimals, 20))}/s`
}

function digitsOf(perS: number, budget: string): number {
  const leading = perS / 10 ** Math.floor(Math.log10(perS))
  return budget === 'thorough' || (budget === 'standard' && leading < 2.5) ? 3 : 2
}

/** A rate that is claimed or sent: never above what held. */
export const heldRate = (perS: number, budget?: string) => rateText(perS, budget, Math.floor)

/** A rate that failed: never below it. */
export const failedRate = (perS: number, budget?: string) => rateText(perS, budget, Math.ceil)

/** `0.50 tasks/s`; of requests, as it is. */
export const nounRate = (rate: string, of: StoredSearch['of']): string =>
  of === 'tasks' ? rate.replace('/s', ' tasks/s') : rate

/** `about 60 requests a minute (1.0/s)`, or an hour if a minute has fewer than two. */
export function countText(perS: number, of: string): string {
  const [count, time] = perS * 60 < 2 ? [perS * 3600, 'an hour'] : [perS * 60, 'a minute']
  const about = Number(count.toPrecision(2))
  return `about ${formatNumber(about)} ${about === 1 ? of.replace(/s$/, '') : of} ${time} (${rateText(perS)})`
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
        : `up to ${percentAtMost(mostMissed)} may miss`
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
