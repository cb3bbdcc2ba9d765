import type { Times, Trial } from './figures.ts'
import type { Work } from './works.ts'

/** All trials of one tool at one work. */
export interface Row {
  readonly name: string
  readonly trials: readonly Trial[]
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}

const digits = (value: number, places: number) =>
  value.toLocaleString('en', { minimumFractionDigits: places, maximumFractionDigits: places })
const places = (value: number) => (Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2)

/** The median, and the range where it is not one number. */
function spread(values: readonly number[]): string {
  const [low, middle, high] = [Math.min(...values), median(values), Math.max(...values)]
  const text = (value: number) => digits(value, places(middle))
  return text(low) === text(high) ? text(middle) : `${text(middle)} (${text(low)} to ${text(high)})`
}

const cpuUs = (work: Work) => (trial: Trial) =>
  (trial.cpuS * 1e6) / (trial.done * work.unitsPerRequest)

function times(trials: readonly Trial[], of: (trial: Trial) => Times | undefined): string {
  const cells = (['p50', 'p95', 'p99'] as const).map((name) => {
    const values = trials.flatMap((trial) => of(trial)?.[name] ?? [])
    return values.length === 0 ? '-' : digits(median(values), places(median(values)))
  })
  return cells.every((cell) => cell === '-') ? '-' : cells.join(', ')
}

/** What a tool's rate is a share of: its plan, or nothing where it goes flat out. */
function rateOf(work: Work, trials: readonly Trial[]): string {
  if (work.ratePerS === null) return spread(trials.map(({ done }) => done / work.seconds))
  const planned = work.ratePerS * work.seconds
  return `${spread(trials.map(({ done }) => (100 * done) / planned))} %`
}

/** A Markdown table of one work, the cheapest first; what is cheaper than Assay is marked. */
export function tableOf(work: Work, rows: readonly Row[]): string {
  const cost = ({ trials }: Row) => median(trials.map(cpuUs(work)))
  const ours = rows.find(({ name }) => name === 'assay')
  const unit = work.stream ? 'event' : 'request'
  const measures = work.stream ? (['ttft', 'itl'] as const) : (['response'] as const)
  const head = [
    ...['tool', 'n', work.ratePerS === null ? 'requests/s' : 'done of the plan'],
    ...[`CPU us per ${unit}`, 'to ours', 'peak MB', 'start and end s'],
    ...measures.flatMap((name) => [`${name} ms: p50, p95, p99`, `${name} at the server`]),
  ]
  const lines = rows
    .toSorted((a, b) => cost(a) - cost(b))
    .map((row) => {
      const { name, trials } = row
      const ratio = ours === undefined ? null : cost(row) / cost(ours)
      const verdicts = [...new Set(trials.flatMap(({ verdict }) => verdict ?? []))]
      const label = verdicts.length === 0 ? name : `${name} (${verdicts.join(', ')})`
      return [
        name === 'assay' ? `**${label}**` : label,
        `${trials.length}`,
        rateOf(work, trials),
        spread(trials.map(cpuUs(work))),
        ratio === null || name === 'assay'
          ? ''
          : `${digits(ratio, 2)}${ratio < 1 ? ' we lose' : ''}`,
        digits(median(trials.map(({ peakMB }) => peakMB)), 0),
        digits(median(trials.map(({ wallS }) => wallS - work.seconds)), 1),
        ...measures.flatMap((measure) => [
          times(trials, (trial) => trial[measure]),
          times(trials, (trial) => trial.truth?.[measure]),
        ]),
      ]
    })
  return markdown(head, lines)
}

export const markdown = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('')
