import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base'
import * as o200k from 'gpt-tokenizer/encoding/o200k_base'
import * as p50k from 'gpt-tokenizer/encoding/p50k_base'
import * as r50k from 'gpt-tokenizer/encoding/r50k_base'
import { judgeHidden } from '../../src/audit/evidence/sold/hidden.ts'
import { judgeOutputs } from '../../src/audit/evidence/sold/output.ts'
import { judgeRepeats } from '../../src/audit/evidence/sold/repeats.ts'
import { scriptOf } from '../../src/audit/evidence/sold/script-of.ts'
import { judgeSlopes } from '../../src/audit/evidence/sold/slopes.ts'
import { ScriptText } from '../../src/run/plan/script-text.ts'
import { TokenText, words } from '../../src/run/plan/token-text.ts'
import { type Bound, type Draw, head, row } from './table.ts'

const encodings = { o200k, cl100k, p50k, r50k }
type Encoding = keyof typeof encodings
type Counts = Readonly<Record<Encoding, number>>

interface Counted {
  readonly text: string
  readonly counts: Counts
}

const sizes = [64, 1_024, 2_048, 4_096]
const names = Object.keys(encodings) as Encoding[]
const countsOf = (text: string) =>
  Object.fromEntries(names.map((name) => [name, encodings[name].countTokens(text)])) as Counts
const counted = (text: string): Counted => ({ text, counts: countsOf(text) })

/** Texts of the product, counted once by every encoding: script, size, text. */
const poolOf = () =>
  (['words', 'code', 'han'] as const).map((script, nth) =>
    sizes.map((size) =>
      Array.from({ length: script === 'words' ? 20 : 8 }, (_, at) =>
        counted(
          script === 'words'
            ? new TokenText(nth).unique(size, at)
            : new ScriptText(nth).text(script, size, at),
        ),
      ),
    ),
  )

const pick = <T>(list: readonly T[], draw: Draw) => list[Math.floor(draw() * list.length)]!

interface Provider {
  readonly encoding?: Encoding
  readonly named?: Encoding
  readonly templates?: readonly number[]
  readonly hidden?: number
  readonly factor?: number
  readonly share?: number
  readonly multiple?: number
  readonly keeps?: number
  /** Pieces of each token of the encoding. */
  readonly pieces?: number
}

/** What it reports: its own encoding, a template, a merge at an end, and a fault. */
function reportedOf(counts: Counts, provider: Provider, draw: Draw): number {
  const { encoding = 'o200k', templates = [7], hidden = 0, pieces = 1 } = provider
  const { keeps = Infinity, factor = 1, share = 1, multiple = 1 } = provider
  const own = counts[encoding] * pieces + pick(templates, draw) + hidden - (draw() < 0.5 ? 1 : 0)
  const kept = Math.min(own, keeps)
  const more = draw() < share ? Math.round(kept * factor) : kept
  return Math.ceil(more / multiple) * multiple
}

const slopes = (pool: ReturnType<typeof poolOf>, provider: Provider) => (draw: Draw) => {
  const named = provider.named ?? provider.encoding ?? 'o200k'
  const points = pool.flatMap((bySize) =>
    bySize.flatMap((texts) =>
      [0, 1].map(() => {
        const { text, counts } = pick(texts, draw)
        const own = counts[named]
        const reported = reportedOf(counts, provider, draw)
        return { text, counted: own, reported, script: scriptOf(text, own) }
      }),
    ),
  )
  return judgeSlopes(points)
}

const ofOneToken = (times: number) =>
  Object.fromEntries(names.map((name) => [name, times])) as Counts
/** Each word of the product is one token of each of these encodings, also in a row. */
const repeats = (provider: Provider) => (draw: Draw) => {
  const from = Math.floor(draw() * words.length)
  const points = Array.from({ length: 6 }, (_, at) => words[(from + at) % words.length]!).flatMap(
    (word) =>
      [500, 1_500].map((times) => {
        const reported = reportedOf(ofOneToken(times), provider, draw)
        return { word, times, reported }
      }),
  )
  return judgeRepeats(points, reportedOf(ofOneToken(1), provider, draw))
}

const hidden = (provider: Provider) => (draw: Draw) =>
  judgeHidden(
    Array.from({ length: 5 }, () => ({
      counted: 1,
      reported: reportedOf(ofOneToken(1), provider, draw),
    })),
    12,
  )

const none: Bound = { most: 0 }
const all: Bound = { least: 100 }
/** The provider, and what is claimed of SOLD-01 with an encoding and without, and of SOLD-02. */
const providers: readonly (readonly [string, Provider, Bound, Bound, Bound])[] = [
  ...names.map((encoding) => [`honest, ${encoding}`, { encoding }, none, none, none] as const),
  ['honest, replicas with templates of 7 and 10', { templates: [7, 7, 7, 10] }, none, none, none],
  ['honest, cl100k where o200k is named', { encoding: 'cl100k', named: 'o200k' }, none, none, none],
  ['honest, o200k where cl100k is named', { named: 'cl100k' }, none, none, none],
  ['honest, r50k where o200k is named', { encoding: 'r50k', named: 'o200k' }, none, none, none],
  ['honest, template of 36, contract says 12', { templates: [36] }, none, none, all],
  ['honest, two pieces of each token, r50k named', { pieces: 2, named: 'r50k' }, none, none, null],
  ...[1.01, 1.02, 1.05, 1.1].map((factor) => [`x ${factor}`, { factor }, all, all, none] as const),
  // Doubled counts are not told from two pieces a word without an encoding: decision 1024.
  ['x 2', { factor: 2 }, all, none, { least: 52 }],
  [
    'x 1.1, cl100k where o200k is named',
    { encoding: 'cl100k', named: 'o200k', factor: 1.1 },
    null,
    all,
    none,
  ],
  ['x 1.1 on 50 % of requests', { factor: 1.1, share: 0.5 }, { least: 73 }, { least: 83 }, none],
  ['x 1.1 on 25 % of requests', { factor: 1.1, share: 0.25 }, { least: 36 }, { least: 23 }, none],
  ['x 1.1 on 5 % of requests', { factor: 1.1, share: 0.05 }, null, null, none],
  ['rounded up to 10', { multiple: 10 }, all, none, none],
  ['rounded up to 64', { multiple: 64 }, all, all, all],
  ['hidden prompt of 30', { hidden: 30 }, none, none, all],
  ['hidden prompt of 10', { hidden: 10 }, none, none, all],
  ['text cut at 2,500, cut count reported', { keeps: 2_500 }, none, none, none],
  ['two pieces a word, cut at 2,500', { pieces: 2, named: 'r50k', keeps: 2_500 }, none, none, null],
]

/** An answer that reaches max_tokens: 200. A share of its words is written in two pieces where the encoding needs one. */
function answerOf(factor: number, split: number, draw: Draw) {
  const room = Math.floor(200 / factor)
  let counted = 0
  for (let made = 0; made < room; counted++) made += draw() < split && made + 1 < room ? 2 : 1
  return { reported: 200, counted }
}
const outputs: readonly (readonly [string, number, number, Bound])[] = [
  ['honest', 1, 0, none],
  ['honest, 1 % of words in other pieces', 1, 0.01, none],
  ['honest, 3 % of words in other pieces', 1, 0.03, none],
  ['6 % of words in other pieces', 1, 0.06, null],
  ['x 1.02, stops early', 1.02, 0, null],
  ['x 1.05, stops early', 1.05, 0, all],
  ['x 1.1, stops early', 1.1, 0, all],
]

/** The tables of SOLD-01, 02 and 09. */
export function printCounts(): void {
  if (head('SOLD-01 with an encoding: 24 texts of three scripts')) {
    const pool = poolOf()
    for (const [name, provider, bound] of providers) row(name, slopes(pool, provider), bound)
  }
  head('SOLD-01 without an encoding: six words, 500 and 1,500 times, and one word')
  for (const [name, provider, , bound] of providers) row(name, repeats(provider), bound)
  head('SOLD-02: five prompts of one word, sold with a template of 12')
  for (const [name, provider, , , bound] of providers) row(name, hidden(provider), bound)
  head('SOLD-09: ten answers of 200 counted tokens')
  for (const [name, factor, split, bound] of outputs)
    row(
      name,
      (draw) => judgeOutputs(Array.from({ length: 10 }, () => answerOf(factor, split, draw))),
      bound,
    )
}
