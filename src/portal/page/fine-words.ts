import { pointsInterval } from '../../measure/interval/difference.ts'
import { exactInterval } from '../../measure/interval/share.ts'
import { dayUs } from '../../user/durations.ts'
import { timeBefore } from './change.ts'
import type { PageData } from './page-shape.ts'
import type { Speech } from './speech.ts'

/** That nothing is unusual, and how many requests failed. */
export function fineWords(data: PageData, speech: Speech): string {
  const failed = failedWords(data, speech)
  return failed === '' ? speech.say('state.nothing') : speech.say('state.fine', { failed })
}

/** How many requests failed, beside the period before; empty if that is not known. */
export function failedWords(data: PageData, speech: Speech): string {
  const { successShare } = data.summary
  if (successShare === null) return ''
  const share = speech.share(1 - successShare)
  return speech.say('state.failed', { share, than: thanBefore(data, speech) })
}

/** A share that differs by so little of the larger one is the same to a reader. */
const mostSame = 0.1

/** Whether as many failed in the period before, more or fewer; where that may be chance, how many did. Empty if it had no requests. */
function thanBefore(data: PageData, speech: Speech): string {
  const { summary, before } = data
  const { requests, successShare, previousSuccessShare } = summary
  if (before === null || previousSuccessShare === null || successShare === null) return ''
  const [now, then] = [1 - successShare, 1 - previousSuccessShare]
  const { say, share } = speech
  const values = { before: share(then), days: timeBefore(data, speech) }
  const of = isLastMonth(data, speech) ? 'month' : 'days'
  if (share(now) === share(then) || Math.abs(now - then) <= mostSame * Math.max(now, then))
    return say(`fine.${of}`, values)
  const intervalOf = (failed: number, count: string | null) =>
    exactInterval(Math.round(failed * Number(count)), Number(count))
  const { low, high } = pointsInterval(
    intervalOf(then, requests.previous),
    intervalOf(now, requests.value),
  )
  if (low! <= 0 && high! >= 0) return say(`fine.was.${of}`, values)
  return say(now > then ? 'fine.up' : 'fine.down', values)
}

/** Whether the period is the month of now, until now at least, beside at least a week of the last one: fewer days have their dates. */
function isLastMonth({ fromUs, toUs, before, summary }: PageData, { date }: Speech): boolean {
  const nowUs = Date.parse(summary.refreshedAt) * 1000
  const monthOf = (us: number) => date(us).slice(0, 7)
  const isFirst = (us: number) => monthOf(us - 1) !== monthOf(us)
  return (
    monthOf(fromUs) === monthOf(nowUs) &&
    isFirst(fromUs) &&
    toUs >= nowUs &&
    // A longer period is beside as much time before it.
    isFirst(before!.fromUs) &&
    monthOf(before!.fromUs) === monthOf(fromUs - 1) &&
    before!.toUs - before!.fromUs >= 7 * dayUs
  )
}
