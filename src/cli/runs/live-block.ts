import { areEnough } from '../../measure/percentile.ts'
import { rateText, stepName } from '../../report/search-words.ts'
import type { Percentiles, Progress, Searching, StepProgress } from '../../run/count/progress.ts'
import { wrapped } from '../../user/wrapped.ts'
import { duration } from '../terminal/duration.ts'
import { table } from '../terminal/table.ts'
import { spentText } from './spent-text.ts'

export interface Room {
  readonly columns: number
  readonly rows: number
}

/** Most lines for keys, for errors, and for threads. */
const mostLines = 2
const mostThreads = 4
const mostNameLength = 20

/** Lines of the live view, which fit the width and height of the terminal. */
export function blockOf(progress: Progress, room: Room): readonly string[] {
  const { counts } = progress
  const ends = progress.endsUs === null ? '' : ` of ${duration(progress.endsUs)}`
  const spent = spentLine(progress)
  const failed = progress.steps.reduce((sum, step) => sum + step.failures, 0)
  const above = [
    `${progress.scenario}  ${progress.phase ?? ''}  ${duration(progress.atUs)}${ends}`,
    ...searchLine(progress),
    ...waitWords(progress).map((words) => `  ${words}`),
    ...wrapped(
      `planned ${counts.planned}  sent ${counts.planned - counts.notSent}  ok ${counts.ok}  failed ${failed}  not sent ${counts.notSent}  in flight ${progress.inFlight}${spent}`,
      '  ',
      room.columns,
    ),
  ]
  const below = [
    ...listed(
      'errors: ',
      progress.errors.map(([code, count]) => `${code} ×${count}`),
      room.columns,
    ),
    ...listed('left: ', keysOf(progress), room.columns),
    ...healthOf(progress),
  ]
  const steps = stepLines(progress.steps, {
    columns: room.columns,
    rows: Math.max(2, room.rows - above.length - below.length),
  })
  return [...above, ...steps, ...below].slice(0, room.rows).map((line) => cut(line, room.columns))
}

/** Credits or money so far; empty if no contract states what the requests cost. */
function spentLine(progress: Progress): string {
  const spent = spentText(progress)
  if (spent === null) return ''
  const { money, creditsSpent, maxCredits } = progress
  if (money !== null) {
    const bound = money.most === null ? '' : `/${money.most}`
    const unknown = money.unknown === 0 ? '' : `  unknown cost ${money.unknown}`
    return `  cost ${spent.value}${bound}${unknown}`
  }
  return `  credits ${creditsSpent}${maxCredits === null ? '' : `/${maxCredits}`}`
}

/** What a search is trying, and what remains to do. */
const searchLine = ({ searching, atUs }: Progress): readonly string[] =>
  searching == null ? [] : [`  search: ${searchText(searching, atUs)}`]

/** `waits 60.0 s between requests, as the phase asks; about 42.0 s left`; empty if it does not wait. */
export const waitWords = ({ waiting, atUs }: Progress): readonly string[] =>
  waiting == null
    ? []
    : [
        `waits ${duration(waiting.us)} between requests, as the phase asks; about ${duration(Math.max(0, waiting.endsUs - atUs))} left`,
      ]

/** @param atUs now, on the clock of the search's end */
export function searchText(
  { step, of, ratePerS, requests, endsUs, reset }: Searching,
  atUs: number,
): string {
  const what =
    ratePerS === 0
      ? `${stepName({ step })}, one request at a time`
      : `${stepName({ step })} ${rateText(ratePerS, 'thorough')} with ${requests} ${of}, ${duration((requests / ratePerS) * 1e6)}`
  if (reset !== null) {
    const time = new Date(reset.unixMs).toISOString().slice(11, 19)
    return `waits until ${time} UTC for the service's rate limit to reset, ${duration(Math.max(0, reset.atUs - atUs))} left; then ${what}`
  }
  if (endsUs === null) return what
  return endsUs <= atUs ? `${what}; ends soon` : `${what}; about ${duration(endsUs - atUs)} to go`
}

/** One line for each step if that fits, else one line for each of its times. */
function stepLines(steps: readonly StepProgress[], room: Room): readonly string[] {
  const layouts = [wideTable, tallTable, narrowTable].map((layout) => layout(steps))
  const blocks =
    layouts.find((layout) => layout.flat().every((line) => line.length <= room.columns)) ??
    layouts.at(-1)!
  if (blocks.flat().length <= room.rows) return blocks.flat()
  const lines: string[] = []
  for (const [at, block] of blocks.entries()) {
    if (lines.length + block.length > room.rows - 1) {
      // The first block is the head.
      return [...lines, `… and ${blocks.length - Math.max(1, at)} more steps`]
    }
    for (const each of block) lines.push(each)
  }
  return lines
}

const figures = (step: StepProgress) => [
  cut(step.step, mostNameLength),
  step.achievedPerS.toFixed(1),
  step.plannedPerS === null ? 'closed' : step.plannedPerS.toFixed(1),
  String(step.sent),
  String(step.failures),
]
const head = ['step', 'sent/s', 'planned', 'sent', 'failed']
const percentiles = ['p50', 'p95', 'p99'].map((name) => name.padStart(6)).join('')

function wideTable(steps: readonly StepProgress[]): readonly (readonly string[])[] {
  const lines = table([
    [...head, 'response', 'service', 'TTFT'].map((cell, at) =>
      at < head.length ? '' : `${cell} ms`.padStart(18),
    ),
    [...head, percentiles, percentiles, percentiles],
    ...steps.map((step) => [
      ...figures(step),
      triple(step.responseUs),
      triple(step.serviceUs),
      triple(step.ttftUs),
    ]),
  ])
  return [lines.slice(0, 2), ...lines.slice(2).map((line) => [line])]
}

/** The times of a step that are known, by name. */
const timesOf = (step: StepProgress) =>
  (
    [
      ['response', step.responseUs],
      ['service', step.serviceUs],
      ['TTFT', step.ttftUs],
    ] as const
  ).filter(([, percentile]) => percentile !== null)

/** For the narrowest terminals: the counts of a step, and under them its times. */
function narrowTable(steps: readonly StepProgress[]): readonly (readonly string[])[] {
  return [
    [`${''.padEnd(10)}${percentiles} ms`],
    ...steps.map((step) => [
      `${cut(step.step, mostNameLength)}  ${step.sent} sent  ${step.failures} failed`,
      ...timesOf(step).map(([name, percentile]) => `  ${name.padEnd(8)}${triple(percentile)}`),
    ]),
  ]
}

/** The same, with one line for each time of a step. */
function tallTable(steps: readonly StepProgress[]): readonly (readonly string[])[] {
  const blocks = steps.map((step) => {
    const known = timesOf(step)
    return (known.length === 0 ? [['-', null] as const] : known).map(([name, percentile], at) => [
      ...(at === 0 ? figures(step) : head.map(() => '')),
      name.padEnd(8),
      triple(percentile),
    ])
  })
  const lines = table([[...head, 'ms'.padEnd(8), percentiles], ...blocks.flat()])
  let from = 1
  return [
    [lines[0]!],
    ...blocks.map((block) => {
      from += block.length
      return lines.slice(from - block.length, from)
    }),
  ]
}

const triple = (times: Percentiles | null) =>
  times === null
    ? ''
    : ([50, 95, 99] as const)
        .map((p) => (areEnough(times.samples, p) ? msOf(times[`p${p}`]) : 'few').padStart(6))
        .join('')

/** Milliseconds with three digits or more; whole seconds where these would fill the column. */
function msOf(us: number): string {
  if (us >= 99_999_500) return `${(us / 1e6).toFixed(0)}s`
  return (us / 1000).toFixed(us < 9_995 ? 2 : us < 99_950 ? 1 : 0)
}

/** Keys with the least left come first. */
function keysOf({ keys }: Progress): readonly string[] {
  const known = keys.filter((key) => key.creditsRemaining !== null || key.rateRemaining !== null)
  const leftOf = (value: number | null) => value ?? Infinity
  return known
    .toSorted(
      (a, b) =>
        leftOf(a.rateRemaining) - leftOf(b.rateRemaining) ||
        leftOf(a.creditsRemaining) - leftOf(b.creditsRemaining),
    )
    .map(
      (key) =>
        `${key.name} ${key.creditsRemaining ?? '?'} credits, ${key.rateRemaining ?? '?'} of its limit`,
    )
}

function healthOf({ health }: Progress): readonly string[] {
  const threads = health.toSorted((a, b) => (b.lagP99Us ?? 0) - (a.lagP99Us ?? 0))
  const lines = threads.map(
    (thread) =>
      `thread ${thread.shard}: lag p99 ${thread.lagP99Us === null ? '-' : duration(thread.lagP99Us)}, loop delay ${duration(thread.loopDelayP99Us)}, ${(thread.utilisation * 100).toFixed(0)} % busy, ${thread.queuedBatches} batches waiting`,
  )
  const more = lines.length - mostThreads
  return more > 0 ? [...lines.slice(0, mostThreads), `… and ${more} more threads`] : lines
}

/** Items in sequence on few lines; items without room are counted. */
function listed(name: string, items: readonly string[], columns: number): readonly string[] {
  if (items.length === 0) return []
  const lines = [name]
  for (const [at, item] of items.entries()) {
    const left = items.length - at - 1
    const text = left > 0 ? `${item}; ` : item
    const reserve = left > 0 ? `… and ${left} more`.length : 0
    const last = lines.length === mostLines
    if (lines.at(-1)!.length + text.length + (last ? reserve : 0) > columns && at > 0) {
      if (last) {
        lines.push(`${lines.pop()}… and ${left + 1} more`)
        break
      }
      lines.push(' '.repeat(name.length))
    }
    lines.push(`${lines.pop()}${text}`)
  }
  return lines.map((line) => line.trimEnd())
}

const cut = (line: string, columns: number) =>
  line.length <= columns ? line : `${line.slice(0, columns - 1)}…`
