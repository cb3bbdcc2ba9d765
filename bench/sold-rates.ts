/**
 * `npx node bench/sold-rates.ts [--audits 1000] [--only SOLD-05,SOLD-06]`: how often the rules SOLD-01 to 11 pass, fail and leave open simulated providers, honest
 * and not, by the product's own functions. Seeded: each run prints the same. The providers are those of the design of these rules, and so
 * are the figures beside: of an honest one the most that may fail, of another the least. An honest provider that fails by a point more, or
 * another by five less, makes the command end with 1.
 */
import { judgeCacheTimes } from '../src/audit/evidence/sold/cache.ts'
import { type CodeTrial, judgeContext } from '../src/audit/evidence/sold/context.ts'
import { judgeNamed } from '../src/audit/evidence/sold/named.ts'
import { pairsOf } from '../src/audit/evidence/sold/pairs.ts'
import { judgeTier } from '../src/audit/evidence/sold/tier.ts'
import { judgeSchemas } from '../src/audit/evidence/sold/tool-calls.ts'
import { judgeUnderLoad } from '../src/audit/evidence/sold/under-load.ts'
import { judgeWatch } from '../src/audit/evidence/sold/watch.ts'
import { printCounts } from './sold/counts.ts'
import { audits, type Bound, type Draw, ended, head, normal, print, row } from './sold/table.ts'

print(`${audits} audits a line`)
printCounts()
head('SOLD-03: a prompt of 95 % of the window, and two more inside a hole')
interface Reader {
  readonly recall: (depth: number) => number
  readonly control?: number
  readonly lost?: readonly [number, number]
  readonly share?: number
}

function read(depths: readonly number[], provider: Reader, draw: Draw): CodeTrial {
  const isCut = draw() < (provider.share ?? 1)
  const [from, to] = isCut && provider.lost !== undefined ? provider.lost : [2, 2]
  const codes = depths.map((depth) => ({
    depth,
    isFound: !(depth >= from && depth < to) && draw() < provider.recall(depth),
  }))
  return { tokens: 121_600, codes }
}

const spread = (from: number, to: number, draw: Draw) =>
  Array.from({ length: 40 }, (_, at) => from + ((at + draw()) / 40) * (to - from))

function contextAudit(provider: Reader, draw: Draw) {
  const control: CodeTrial = {
    tokens: 2_000,
    codes: spread(0, 1, draw).map((depth) => ({
      depth,
      isFound: draw() < (provider.control ?? 0.99),
    })),
  }
  const first = read(spread(0, 1, draw), provider, draw)
  const found = judgeContext([control, first], 128_000)
  if (found.is !== 'inconclusive' || found.hole === undefined) return found
  const { from, to } = found.hole
  const again = [1, 2].map(() => read(spread(from, to, draw), provider, draw))
  return judgeContext([control, first, ...again], 128_000)
}
const middle = (floor: number) => (depth: number) =>
  floor + (0.97 - floor) * Math.abs(2 * depth - 1)
const all = () => 0.97
const readers: Readonly<Record<string, Reader>> = {
  'honest, recall 97 %': { recall: all },
  'honest, middle recalled at 60 %': { recall: middle(0.6) },
  'honest, middle recalled at 30 %': { recall: middle(0.3) },
  'honest, middle recalled at 10 %': { recall: middle(0.1) },
  'honest, recall 20 % everywhere': { recall: () => 0.2 },
  'honest, cannot list codes in the control': { recall: () => 0.5, control: 0.7 },
  'first half lost': { recall: all, lost: [0, 0.5] },
  'first quarter lost': { recall: all, lost: [0, 0.25] },
  'end from 75 % lost': { recall: all, lost: [0.75, 1.01] },
  'middle 30 % lost': { recall: all, lost: [0.35, 0.65] },
  'first half lost, weak model': { recall: middle(0.6), lost: [0, 0.5] },
  'first tenth lost': { recall: all, lost: [0, 0.1] },
  'first half lost in 50 % of requests': { recall: all, lost: [0, 0.5], share: 0.5 },
}
/** Losses of less than 12 % of the window are not claimed. */
const lostBounds: Readonly<Record<string, Bound>> = {
  ...{ 'first half lost': { least: 100 }, 'first quarter lost': { least: 100 } },
  ...{ 'end from 75 % lost': { least: 100 }, 'middle 30 % lost': { least: 100 } },
  ...{ 'first half lost, weak model': { least: 97 }, 'first tenth lost': null },
  'first half lost in 50 % of requests': { least: 12 },
}
for (const [name, provider] of Object.entries(readers)) {
  const bound = lostBounds[name]
  row(name, (draw) => contextAudit(provider, draw), bound === undefined ? { most: 0 } : bound)
}

/** Logarithms of times: a load that changes slowly, and noise of each request. */
function loadOf(draw: Draw, correlation: number): () => number {
  let level = normal(draw)
  return () => {
    level = correlation * level + Math.sqrt(1 - correlation ** 2) * normal(draw)
    return 0.3 * level + 0.2 * normal(draw)
  }
}

head('SOLD-04, times: 80 requests in mixed order, half of them of four prompts that repeat')
const cacheAudit = (hits: number, correlation: number) => (draw: Draw) => {
  const noise = loadOf(draw, correlation)
  const seen = new Set<number>()
  const requests = Array.from({ length: 80 }, () => {
    const prompt = draw() < 0.5 ? Math.floor(draw() * 4) : null
    const isOther = prompt !== null && seen.has(prompt)
    const isFirst = prompt !== null && !isOther
    if (prompt !== null) seen.add(prompt)
    const isHit = isOther && draw() < hits
    const ttftUs = (200 + (isHit ? 80 : 400)) * 1e3 * Math.exp(noise())
    return { isOther, isFirst, ttftUs, promptTokens: 4_000 }
  })
  return judgeCacheTimes(pairsOf(requests.filter(({ isFirst }) => !isFirst)), draw)
}
row('honest, no cache', cacheAudit(0, 0.9), { most: 0 })
row('honest, load that hardly changes', cacheAudit(0, 0.99), { most: 0 })
for (const [share, least] of [
  [0.9, 100],
  [0.5, 52],
  [0.2, 6],
] as const)
  row(`reads ${share * 100} %, credits none`, cacheAudit(share, 0.9), { least })

head('SOLD-08: 100 requests in mixed order, sold as 0.8 of the time')
const tierAudit = (ratio: number, correlation: number) => (draw: Draw) => {
  const noise = loadOf(draw, correlation)
  const requests = Array.from({ length: 100 }, () => {
    const isOther = draw() < 0.5
    const ttftUs = 3e5 * Math.exp(noise()) * (isOther ? ratio : 1)
    return { isOther, ttftUs, promptTokens: 100 }
  })
  return judgeTier(pairsOf(requests), 0.8, draw)
}
const tierRows: readonly (readonly [number, number, Bound])[] = [
  [0.5, 0.9, { most: 0 }],
  [0.7, 0.9, { most: 0 }],
  [0.8, 0.9, { most: 0.6 }],
  [0.8, 0.99, { most: 0.7 }],
  [0.9, 0.9, { least: 32 }],
  [1, 0.9, { least: 91 }],
  [1, 0.99, { least: 96 }],
]
for (const [ratio, correlation, bound] of tierRows)
  row(
    `true ratio ${ratio}, correlation of load ${correlation}`,
    tierAudit(ratio, correlation),
    bound,
  )

head('SOLD-07: 100 calls, sold as 97 % that fit')
const callRows: readonly (readonly [number, Bound])[] = [
  [1, { most: 0 }],
  [0.99, { most: 0 }],
  [0.97, { most: 0.5 }],
  [0.95, { least: 7 }],
  [0.9, { least: 69 }],
  [0.87, { least: 91 }],
  [0.76, { least: 100 }],
]
for (const [share, bound] of callRows)
  row(
    `${share * 100} % fit`,
    (draw) =>
      judgeSchemas(
        Array.from({ length: 100 }, () => ({
          ...{ fits: draw() < share, rewritten: [], isVerbatim: false },
        })),
        0.97,
      ),
    bound,
  )

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

head('SOLD-05: 180 sessions of 20 prompts x 5, a change at the 60th')
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
  [
    'other model at the 40th of 60 sessions',
    { after: another(1), sessions: 60, changeAt: 39 },
    null,
  ],
]
for (const [name, watched, bound] of watchRows) row(name, watchAudit(watched), bound)

head('SOLD-06: 10 pairs of sessions of 20 prompts x 4')
const namedAudit =
  (noise: number, make: (model: LogOdds, other: LogOdds, draw: Draw) => readonly [Mix, Mix]) =>
  (draw: Draw) => {
    const [service, reference] = make(modelOf(draw), modelOf(draw), draw)
    const pairs = Array.from({ length: 10 }, () => ({
      service: sessionOf(service, 4, noise, false, draw),
      reference: sessionOf(reference, 4, noise, false, draw),
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
for (const [name, audit, bound] of namedRows) row(name, audit, bound)

head('SOLD-11: 10 sessions at rest and 10 under load, of 20 prompts x 5')
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
for (const [name, audit, bound] of loadRows) row(name, audit, bound)

ended()
