import { judgeNamed, judgeUnderLoad } from '../../src/audit/evidence/sold/apart.ts'
import { drawsOf } from '../../src/audit/evidence/sold/chance.ts'
import { judgeWatch } from '../../src/audit/evidence/sold/watch.ts'
import { audits, type Bound, type Draw, head, isWanted, normal, print, row } from './table.ts'

/** For each of twenty prompts, the log-odds of its two likeliest first tokens. */
type LogOdds = readonly number[]
/** Models with their shares of the requests. */
type Mix = readonly (readonly [LogOdds, number])[]
const prompts = 20
const modelOf = (draw: Draw): LogOdds => Array.from({ length: prompts }, () => 1.2 * normal(draw))
const near = (model: LogOdds, by: number, draw: Draw): LogOdds =>
  model.map((odds) => odds + by * normal(draw))

function pickOf(mix: Mix, draw: Draw): LogOdds {
  let left = draw()
  for (const [model, share] of mix) {
    left -= share
    if (left < 0) return model
  }
  return mix[0]![0]
}

/** Shares of the first token in a session. Noise from batching moves log-odds; a sticky session has one model. */
function sessionOf(mix: Mix, samples: number, noise: number, isSticky: boolean, draw: Draw) {
  const one = isSticky ? pickOf(mix, draw) : null
  return Array.from({ length: prompts }, (_, prompt) => {
    const moved = noise * normal(draw)
    let first = 0
    for (let at = 0; at < samples; at++) {
      const odds = (one ?? pickOf(mix, draw))[prompt]! + moved
      if (draw() < 1 / (1 + Math.exp(-odds))) first++
    }
    return first / samples
  })
}

interface Watched {
  readonly noise?: number
  readonly isSticky?: boolean
  readonly hasVersions?: boolean
  readonly after?: (old: LogOdds, other: LogOdds, draw: Draw) => Mix
  readonly sessions?: number
  readonly changeAt?: number
}

const watchAudit =
  ({ noise = 0.3, isSticky = false, hasVersions, after, sessions = 180, changeAt = 60 }: Watched) =>
  (draw: Draw) => {
    const [old, other] = [modelOf(draw), modelOf(draw)]
    const before: Mix =
      hasVersions === true
        ? [
            [old, 0.9],
            [near(old, 1, draw), 0.1],
          ]
        : [[old, 1]]
    const changed = after?.(old, other, draw) ?? before
    const all = Array.from({ length: sessions }, (_, at) =>
      sessionOf(at < changeAt ? before : changed, 5, noise, isSticky, draw),
    )
    return judgeWatch(all, 1, draw)
  }

const another =
  (share: number) =>
  (old: LogOdds, other: LogOdds): Mix =>
    share === 1
      ? [[other, 1]]
      : [
          [old, 1 - share],
          [other, share],
        ]
const moved =
  (by: number) =>
  (old: LogOdds, _: LogOdds, draw: Draw): Mix => [[near(old, by, draw), 1]]
const watchRows: readonly (readonly [string, Watched, Bound])[] = [
  ['honest, exact', { noise: 0 }, { most: 0.3 }],
  ['honest, noise 0.3', {}, { most: 0.1 }],
  ['honest, noise 1.0', { noise: 1 }, { most: 0 }],
  ['honest, versions 90/10 by request', { hasVersions: true }, { most: 0.3 }],
  ['honest, versions 90/10 by session', { hasVersions: true, isSticky: true }, { most: 0.6 }],
  ['other model', { after: another(1) }, { least: 100 }],
  ['other model for 50 %', { after: another(0.5) }, { least: 87 }],
  ['other model for 25 %', { after: another(0.25) }, { least: 15 }],
  ['other model for 10 %', { after: another(0.1) }, null],
  ['quantized by 1.0', { after: moved(1) }, { least: 81 }],
  ['quantized by 0.5', { after: moved(0.5) }, { least: 9 }],
  ['other model, noise 1.0', { noise: 1, after: another(1) }, { least: 99 }],
]

/** Watches of a month: what an honest one alarms, and the date of a change at the 40th session. */
const month = { sessions: 60, changeAt: 39 } as const
const monthRows: readonly (readonly [string, Watched])[] = [
  ['honest, exact', { ...month, noise: 0 }],
  ['honest, noise 0.3', month],
  ['honest, noise 1.0', { ...month, noise: 1 }],
  ['honest, versions 90/10 by request', { ...month, hasVersions: true }],
  ['honest, versions 90/10 by session', { ...month, hasVersions: true, isSticky: true }],
  ['other model', { ...month, after: another(1) }],
  ['other model, noise 1.0', { ...month, noise: 1, after: another(1) }],
  ['other model for 50 %', { ...month, after: another(0.5) }],
  ['quantized by 1.0', { ...month, after: moved(1) }],
]

/** How many watches alarm, how late, and how well the change is dated. Places are sessions. */
function printDates(): void {
  if (!head('SOLD-05: 60 sessions, a change between the 39th and the 40th', dated)) return
  const percent = (part: number, of: number) => (of === 0 ? '–' : ((100 * part) / of).toFixed(1))
  for (const [name, watched] of monthRows.filter(([each]) => isWanted(each))) {
    const found = Array.from({ length: audits }, (_, at) =>
      watchAudit(watched)(drawsOf(`${name} month ${at}`)),
    )
    const alarms = found.flatMap((each) => (each.is === 'fail' ? [each] : []))
    const early = alarms.filter(({ alarm }) => alarm < month.changeAt)
    const rightly =
      watched.after === undefined ? [] : alarms.filter((each) => !early.includes(each))
    const errors = rightly
      .map(({ change }) => Math.abs(change.at - month.changeAt))
      .toSorted((a, b) => a - b)
    const held = rightly.filter(
      ({ change: { from, to } }) => from <= month.changeAt && month.changeAt <= to,
    )
    const middle = errors.length === 0 ? '–' : errors[Math.floor(errors.length / 2)]!
    print(
      `| ${name} | ${alarms.length} | ${watched.after === undefined ? '–' : early.length} | ${middle} | ${percent(held.length, rightly.length)} |`,
    )
  }
}
const dated = [
  'alarms',
  'of these before the change',
  'error of the date, median',
  'interval holds it, %',
]

const namedAudit =
  (noise: number, make: (model: LogOdds, other: LogOdds, draw: Draw) => readonly [Mix, Mix]) =>
  (draw: Draw) => {
    const [service, reference] = make(modelOf(draw), modelOf(draw), draw)
    const pairs = Array.from({ length: 12 }, () => ({
      service: sessionOf(service, 5, noise, false, draw),
      reference: sessionOf(reference, 5, noise, false, draw),
    }))
    return judgeNamed(pairs, draw)
  }
const same = (model: LogOdds): readonly [Mix, Mix] => [[[model, 1]], [[model, 1]]]
const versions = (model: LogOdds, _: LogOdds, draw: Draw): readonly [Mix, Mix] => {
  const mix: Mix = [
    [model, 0.9],
    [near(model, 1, draw), 0.1],
  ]
  return [mix, mix]
}
const against =
  (change: (model: LogOdds, other: LogOdds, draw: Draw) => Mix) =>
  (model: LogOdds, other: LogOdds, draw: Draw): readonly [Mix, Mix] => [
    change(model, other, draw),
    [[model, 1]],
  ]
const namedRows: readonly (readonly [string, (draw: Draw) => { is: string }, Bound])[] = [
  ['same model, noise 0.3', namedAudit(0.3, same), { most: 0.5 }],
  ['same model, noise 1.0', namedAudit(1, same), { most: 0.7 }],
  ['same replicas 90/10', namedAudit(0.3, versions), { most: 0.5 }],
  ['other hardware, moved by 0.15', namedAudit(0.3, against(moved(0.15))), { most: 1.1 }],
  ['quantized by 0.5', namedAudit(0.3, against(moved(0.5))), { least: 29 }],
  ['quantized by 1.0', namedAudit(0.3, against(moved(1))), { least: 91 }],
  ['other model', namedAudit(0.3, against(another(1))), { least: 98 }],
  ['other model for 50 %', namedAudit(0.3, against(another(0.5))), { least: 83 }],
  ['other model for 25 %', namedAudit(0.3, against(another(0.25))), { least: 14 }],
  ['other model for 10 %', namedAudit(0.3, against(another(0.1))), null],
]

const loadAudit =
  (rest: number, load: number, change: (old: LogOdds, other: LogOdds, draw: Draw) => Mix) =>
  (draw: Draw) => {
    const [old, other] = [modelOf(draw), modelOf(draw)]
    const mix = change(old, other, draw)
    const sessions = (of: Mix, noise: number) =>
      Array.from({ length: 10 }, () => sessionOf(of, 5, noise, false, draw))
    return judgeUnderLoad([{ rest: sessions([[old, 1]], rest), load: sessions(mix, load) }], draw)
  }
const unchanged = (old: LogOdds): Mix => [[old, 1]]
const loadRows: readonly (readonly [string, (draw: Draw) => { is: string }, Bound])[] = [
  ['same model, noise 0.3', loadAudit(0.3, 0.3, unchanged), { most: 1 }],
  ['same model, noise 1.0', loadAudit(1, 1, unchanged), { most: 1 }],
  ['same model, noise 0.3 at rest, 1.0 under load', loadAudit(0.3, 1, unchanged), { most: 1 }],
  ['same model, other hardware, moved by 0.15', loadAudit(0.3, 0.3, moved(0.15)), { most: 1 }],
  ['other model', loadAudit(0.3, 0.3, another(1)), { least: 100 }],
  ['other model, noise 1.0', loadAudit(1, 1, another(1)), { least: 100 }],
  ['other model for 50 %', loadAudit(0.3, 0.3, another(0.5)), { least: 92 }],
  ['other model for 25 %', loadAudit(0.3, 0.3, another(0.25)), null],
  ['quantized by 1.0', loadAudit(0.3, 0.3, moved(1)), { least: 95 }],
  ['quantized by 0.5', loadAudit(0.3, 0.3, moved(0.5)), null],
]

/** The tables of SOLD-05, 06 and 11. */
export function printModels(): void {
  head('SOLD-05: 180 sessions of 20 prompts x 5, a change at the 60th')
  for (const [name, watched, bound] of watchRows) row(name, watchAudit(watched), bound)
  printDates()
  head('SOLD-06: 12 pairs of sessions of 20 prompts x 5')
  for (const [name, audit, bound] of namedRows) row(name, audit, bound)
  head('SOLD-11: 10 sessions at rest and 10 under load, of 20 prompts x 5')
  for (const [name, audit, bound] of loadRows) row(name, audit, bound)
}
