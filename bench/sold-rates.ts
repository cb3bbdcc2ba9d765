/**
 * `npx node bench/sold-rates.ts [--audits 1000] [--only SOLD-05,SOLD-06] [--rows "on 25 %"]`: how often the rules SOLD-01 to 11 pass, fail and leave open simulated providers, honest
 * and not, by the product's own functions. Seeded: each run prints the same. The providers are those of the design of these rules, and so
 * are the figures beside: of an honest one the most that may fail, of another the least. An honest provider that fails by a point more, or
 * another by five less, makes the command end with 1.
 */
import { judgeCacheTimes } from '../src/audit/evidence/sold/cache.ts'
import { type CodeTrial, judgeContext } from '../src/audit/evidence/sold/context.ts'
import { pairsOf } from '../src/audit/evidence/sold/pairs.ts'
import { judgeReasoning } from '../src/audit/evidence/sold/reasoning.ts'
import { judgeTier } from '../src/audit/evidence/sold/tier.ts'
import { judgeSchemas } from '../src/audit/evidence/sold/tool-calls.ts'
import { printCounts } from './sold/counts.ts'
import { printModels } from './sold/models.ts'
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

head('SOLD-08: 160 requests in mixed order, sold as 0.8 of the time')
const tierAudit = (ratio: number, correlation: number) => (draw: Draw) => {
  const noise = loadOf(draw, correlation)
  const requests = Array.from({ length: 160 }, () => {
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

head('SOLD-10 with a reference: 20 questions, answered at both')
const reasoningAudit = (longer: number) => (draw: Draw) =>
  judgeReasoning(
    Array.from({ length: 20 }, () => {
      const question = 500 * Math.exp(0.7 * normal(draw))
      const answer = () => question * Math.exp(0.4 * normal(draw))
      return { own: Math.round(longer * answer()), reference: Math.round(answer()) }
    }),
    draw,
  )
// The design has no figures: of an honest one the chance that its test allows, and the whole of its fault.
const reasoningRows: readonly (readonly [number, Bound])[] = [
  [1, { most: 0.5 }],
  [1.1, { most: 0.5 }],
  [1.25, { most: 0.5 }],
  [1.5, null],
  [2, null],
  [5, { least: 100 }],
]
for (const [longer, bound] of reasoningRows)
  row(`${longer} times the reasoning`, reasoningAudit(longer), bound)

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

printModels()

ended()
