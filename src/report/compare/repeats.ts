import {
  fewestRepeats,
  geometricMeanOf,
  meanOf,
  repeatsInterval,
  repeatsRatio,
} from '../../measure/interval/repeats.ts'
import { readRepeats } from '../../store/runs/repeats.ts'
import { counted } from '../../user/grouped.ts'
import type { RunSummary } from '../summary/shape.ts'
import { summariseIn } from '../summary/summarise.ts'
import { type Difference, verdictOf } from './differences.ts'
import type { OpenSide } from './open-side.ts'
import { figureOfRun, type Mark } from './run-figure.ts'

/** The runs of both sides that were repeated, oldest first. */
export interface RepeatedSides {
  readonly a: readonly RunSummary[]
  readonly b: readonly RunSummary[]
}

/** The run that stands for a side: the one that is named, or the last of its repeats that is not INVALID. */
export async function standingRun(side: OpenSide): Promise<OpenSide> {
  const repeats = await readRepeats(side.session, side.runId)
  if (repeats === null || repeats.usable.includes(side.runId)) return side
  return { ...side, runId: repeats.usable.at(-1) ?? side.runId }
}

/** The repeats of both sides; null, with the reason if one side has some, to compare one run of each. */
export async function readRepeatedSides(
  a: OpenSide,
  b: OpenSide,
): Promise<{ readonly sides: RepeatedSides | null; readonly warnings: readonly string[] }> {
  const [left, right] = [
    await readRepeats(a.session, a.runId),
    await readRepeats(b.session, b.runId),
  ]
  if (left?.name === right?.name) return { sides: null, warnings: [] }
  const warnings: string[] = []
  for (const [name, repeats] of [
    ['a', left],
    ['b', right],
  ] as const) {
    const all = repeats?.runIds.length ?? 1
    const usable = repeats?.usable.length ?? 1
    if (usable < all)
      warnings.push(`${all - usable} of ${all} runs of ${name} are INVALID and left out`)
    if (usable < fewestRepeats)
      warnings.push(
        `${name} has ${counted(usable, 'run')}; at least ${fewestRepeats} of each side are needed to compare repeats, so one run of each is compared`,
      )
  }
  const isEnough = Math.min(left?.usable.length ?? 0, right?.usable.length ?? 0) >= fewestRepeats
  if (!isEnough) return { sides: null, warnings }
  const of = async ({ session, contract }: OpenSide, runIds: readonly string[]) => {
    const summaries: RunSummary[] = []
    for (const runId of runIds) summaries.push(await summariseIn(session, runId, contract))
    return summaries
  }
  return { sides: { a: await of(a, left!.usable), b: await of(b, right!.usable) }, warnings }
}

/** Each difference between repeats, in place of that of one run of each; a price is not a sample, so it stays. */
export function betweenRepeats(
  differences: readonly Difference[],
  sides: RepeatedSides | null,
): readonly Difference[] {
  if (sides === null) return differences
  return differences.map((each) => (each.metric === 'credits' ? each : repeated(each, sides)))
}

function repeated(one: Difference, { a, b }: RepeatedSides): Difference {
  const of = (summaries: readonly RunSummary[]) =>
    summaries.map((summary) => figureOfRun(summary, one))
  const figures = [of(a), of(b)] as const
  const marks = figures.map((side) => worstMark(side.map((each) => each?.mark ?? 'too-few')))
  const known = figures.map((side) => side.flatMap((each) => each?.value ?? []))
  const isShare = one.unit === 'share'
  const [valueA, valueB] = known.map((values, at) => {
    if (values.length < figures[at]!.length) return null
    return isShare || values.some((value) => value <= 0) ? meanOf(values) : geometricMeanOf(values)
  })
  const isKnown = valueA !== null && valueB !== null
  const change = !isKnown
    ? null
    : isShare
      ? valueB! - valueA!
      : valueA === 0
        ? null
        : valueB! / valueA! - 1
  const isExact = isKnown && marks.every((mark) => mark === 'exact')
  const apart = isExact ? (isShare ? repeatsInterval : repeatsRatio)(known[0]!, known[1]!) : null
  const between = apart === null ? null : ([apart.low, apart.high] as const)
  // Runs without a single error do not vary, and one run still tells how many could have been.
  const interval = isShare ? wider(between, one.interval) : between
  return {
    ...one,
    a: valueA!,
    b: valueB!,
    marks: [marks[0]!, marks[1]!],
    change,
    interval,
    na: a.length,
    nb: b.length,
    repeats: [a.length, b.length],
    worth: null,
    needs: null,
    verdict: verdictOf(interval, one.metric),
  }
}

function wider(one: Difference['interval'], other: Difference['interval']): Difference['interval'] {
  if (one === null || other === null) return null
  const end = (at: 0 | 1, of: (...values: number[]) => number) =>
    one[at] === null || other[at] === null ? null : of(one[at], other[at])
  return [end(0, Math.min), end(1, Math.max)]
}

const worstMark = (marks: readonly Mark[]): Mark =>
  marks.find((mark) => mark === 'too-few') ?? marks.find((mark) => mark !== 'exact') ?? 'exact'
