import { type Loose, loose, type Path, type ScenarioIssue, show } from './faults.ts'
import { durationUsOf, mostPerS, ratePerSOf, shareOf } from './quantity.ts'

type Found = Omit<ScenarioIssue, 'line'>

/** Loads with one `rate`. */
const ratedLoads: readonly unknown[] = ['constant', 'poisson', 'gamma', 'day']

/** Faults of well-formed quantities that contradict each other, are too large, or would send nothing. */
export function rangeFaults(data: unknown): readonly Found[] {
  const scenario = loose(data)
  const steps = Object.entries(loose(scenario.steps)).flatMap(([name, written]) => {
    const step = loose(written)
    const uniform = loose(loose(loose(step.prompt).synthetic).uniform)
    return [
      ...upsideDown(uniform, 'min', 'max', ['steps', name, 'prompt', 'synthetic', 'uniform']),
      ...upsideDown(loose(loose(step.session).think), 'min', 'max', [
        'steps',
        name,
        'session',
        'think',
      ]),
    ]
  })
  const phases = Array.isArray(scenario.phases) ? scenario.phases : []
  const timeouts = Object.entries(loose(scenario.timeouts)).flatMap(([name, written]) =>
    amountOf(written) === 0
      ? [
          {
            path: ['timeouts', name],
            message: `expected a timeout above 0; got ${show(written)}.`,
          },
        ]
      : [],
  )
  return [
    ...steps,
    ...phases.flatMap((phase, at) => phaseRanges(loose(phase), ['phases', at])),
    ...timeouts,
  ]
}

function phaseRanges(phase: Loose, path: Path): readonly Found[] {
  const found = [...upsideDown(loose(phase.think), 'min', 'max', [...path, 'think'])]
  if (phase.load === 'sweep') found.push(...upsideDown(phase, 'start', 'max', path))
  for (const field of ['duration', 'trial']) {
    if (amountOf(phase[field]) === 0) {
      found.push({
        path: [...path, field],
        message: `expected a ${field} above 0; got ${show(phase[field])}.`,
      })
    }
  }
  if (ratedLoads.includes(phase.load) && ratesOf(phase).every((rate) => amountOf(rate) === 0)) {
    found.push({ path: [...path, 'rate'], message: 'a rate of 0 sends nothing; set a higher one.' })
  }
  for (const [field, rates] of [
    ['rate', ratesOf(phase)],
    ['stages', listOf(phase.stages).flatMap(ratesOf)],
    ['start', [phase.start]],
    ['max', [phase.max]],
  ] as const) {
    const came = rates.find(
      (rate) => typeof rate === 'string' && (ratePerSOf(rate) ?? 0) > mostPerS,
    )
    if (came === undefined) continue
    found.push({
      path: [...path, field],
      message: `expected at most ${mostPerS}/s, because times are whole microseconds; got ${show(came)}.`,
    })
  }
  const silent = (field: 'weights' | 'stages', amounts: readonly unknown[]) => {
    if (amounts.length === 0 || !amounts.every((amount) => amountOf(amount) === 0)) return
    found.push({ path: [...path, field], message: `${field} that are all 0 send nothing.` })
  }
  if (phase.load === 'day') silent('weights', listOf(phase.weights))
  if (phase.load === 'stages') silent('stages', listOf(phase.stages).flatMap(ratesOf))
  if (phase.load === 'sweep') found.push(...sweepRanges(phase, path))
  return found
}

function sweepRanges(phase: Loose, path: Path): readonly Found[] {
  const found: Found[] = []
  if (amountOf(phase.start) === 0) {
    found.push({
      path: [...path, 'start'],
      message: 'a sweep doubles its start, which must be above 0.',
    })
  }
  if (typeof phase.goodput === 'string' && shareOf(phase.goodput) === 1) {
    found.push({
      path: [...path, 'goodput'],
      message: 'no number of requests proves 100%; expected less, such as 99%.',
    })
  }
  if (typeof phase.precision === 'string' && shareOf(phase.precision) === 0) {
    found.push({
      path: [...path, 'precision'],
      message: `expected a precision above 0; got ${show(phase.precision)}.`,
    })
  }
  return found
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A rate, or both ends of a ramp, as written. */
function ratesOf(rated: unknown): readonly unknown[] {
  const { rate } = loose(rated)
  const { from, to } = loose(rate)
  return typeof rate === 'object' ? [from, to] : [rate]
}

function upsideDown(fields: Loose, low: string, high: string, path: Path): readonly Found[] {
  const [least, most] = [amountOf(fields[low]), amountOf(fields[high])]
  if (least === null || most === null || least <= most) return []
  return [
    {
      path: [...path, high],
      message: `expected ${high} to be at least ${low}, ${show(fields[low])}; got ${show(fields[high])}.`,
    },
  ]
}

/** The value of a number or a quantity; null for anything else. */
function amountOf(value: unknown): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? (durationUsOf(value) ?? ratePerSOf(value)) : null
}
