import * as o200k from 'gpt-tokenizer/encoding/o200k_base'
import type { Behaviour, Kit } from '../../src/service/behaviour.ts'
import type { Call } from '../../src/service/call.ts'
import { editChat } from '../../src/service/faults/completion.ts'
import type { Fault } from '../../src/service/faults/fault.ts'
import { reportingCached, reportingReasoning } from '../../src/service/faults/sold.ts'
import { firstToken, wordAsked } from '../../src/service/honest/first-token.ts'
import { tierShare } from '../../src/service/honest/generation.ts'
import { hashText, normal, seededRandom } from '../../src/service/random.ts'
import { piecesOf } from '../../src/service/tokens.ts'
import type { ActName } from './acts.ts'
import { verdictsOf } from './verdicts.ts'

/** An honest service that a careless rule would accuse: which acts show it, and to which rules. */
export interface QuietVariant {
  readonly name: string
  readonly acts: readonly ActName[]
  readonly rules: readonly string[]
  readonly faults: readonly (Fault | string)[]
  /** Whether the reference behaves so, too. */
  readonly alsoReference?: boolean
}

/** A behaviour that breaks nothing, made as faults are. */
const conduct = (
  name: string,
  breaks: (honest: Behaviour, kit: Kit) => Partial<Behaviour>,
): Fault => ({ name, rule: 'none', does: name, probability: 1, breaks })

const counting = (
  name: string,
  count: (honest: number, call: Call, kit: Kit) => number,
): readonly Fault[] => [
  conduct(name, (honest, kit) => ({
    promptTokens: (call, request) => count(honest.promptTokens(call, request), call, kit),
  })),
]

/** Moves the log-odds of first tokens: by a number that follows from the word, the session of this service, and a draw. */
const moving = (
  name: string,
  moved: (word: string, session: string, draw: () => number) => number,
): readonly Fault[] => [
  conduct(name, (honest, { random, clock }) => {
    const own = random()
    return {
      answer(call) {
        const answer = honest.answer(call)
        const request = call.request!
        const word = wordAsked(request)
        if (word === null) return answer
        const session = `${own} ${Math.floor(clock.nowUs() / 43_200e6)}`
        const piece = firstToken(request.model, word, random, moved(word, session, random))
        return {
          ...answer,
          choices: answer.choices.map((choice) => ({ ...choice, pieces: [piece] })),
        }
      },
    }
  }),
]

const drawn = (...parts: readonly (string | number)[]) => seededRandom(hashText(parts.join(' ')))
const noise = (by: number) =>
  moving(`noise ${by}`, (word, session) => by * normal(drawn(word, session, 'batch')))
const other = (word: string) => normal(drawn(word, 'replica'))
const replicas = moving('replicas 90/10', (word, _, draw) => (draw() < 0.1 ? other(word) : 0))

const timing = (name: string, times: (call: Call, nth: number) => number): readonly Fault[] => [
  conduct(name, (honest) => {
    let nth = 0
    return {
      timing(call, answer) {
        const own = honest.timing(call, answer)
        return { ...own, toFirstUs: own.toFirstUs * times(call, nth++) }
      },
    }
  }),
]

/** What a cache credits: whole steps of 128 tokens. */
const credited = (tokens: number) => Math.floor(tokens / 128) * 128

/** Routes each repeat to the replica that has its prompt, or to another, with equal chances; a hit is faster, and credited. */
const routed = conduct('routed', (honest, { random }) => {
  const seen = new Set<string>()
  const hits = new WeakMap<Call, boolean>()
  const isHit = (call: Call) => {
    const prompt = textsOf(call)
    if (!hits.has(call)) hits.set(call, seen.has(prompt) && random() < 0.5)
    seen.add(prompt)
    return hits.get(call)!
  }
  return {
    timing(call, answer) {
      const own = honest.timing(call, answer)
      return isHit(call) ? { ...own, toFirstUs: own.toFirstUs / 4 } : own
    },
    ...reportingCached(honest, (call, prompt) => (isHit(call) ? credited(prompt) : 0)),
  }
})

/** Serves the paid tier as the default one, and says so. */
const downgraded = conduct('told downgrade', (honest) => ({
  timing(call, answer) {
    const own = honest.timing(call, answer)
    return { ...own, toFirstUs: own.toFirstUs / tierShare(call) }
  },
  ...editChat(honest, (part) => ({ ...part, service_tier: 'default' })),
}))

/** Thinks before it answers, for as many tokens as an effort takes, each as long as one of the text. */
const efforts = [0, 20, 120, 390] as const
const thinking = conduct('any effort', (honest) => {
  const effortOf = (call: Call) => efforts[hashText(textsOf(call)) % efforts.length]!
  return {
    timing(call, answer) {
      const own = honest.timing(call, answer)
      return { ...own, toFirstUs: own.toFirstUs + effortOf(call) * own.gapUs() }
    },
    ...reportingReasoning(honest, effortOf),
  }
})

/** Thinks for about as long about each question, longer or shorter by chance. */
const musing = conduct('thinks by chance', (honest, { random }) =>
  reportingReasoning(honest, () => Math.min(390, Math.round(100 * Math.exp(0.5 * normal(random))))),
)

/** Finds each code of a prompt with a chance of 30 %, in long prompts. */
const forgetful = conduct('recall 30 %', (honest, { random }) => ({
  answer(call) {
    const answer = honest.answer(call)
    if (call.request!.messages.every(({ text }) => text.length < 20_000)) return answer
    return {
      ...answer,
      choices: answer.choices.map((choice) => ({
        ...choice,
        pieces: piecesOf(
          choice.pieces.join('').replace(/\d{6}/g, (code) => (random() < 0.3 ? code : '')),
        ),
      })),
    }
  },
}))

const textsOf = ({ request }: Call) => request!.messages.map(({ text }) => text).join('')
const counts = { acts: ['texts', 'short'], rules: ['SOLD-01', 'SOLD-02'] } as const

export const quietVariants: readonly QuietVariant[] = [
  {
    ...{ name: 'as it is', acts: ['texts', 'short', 'repeats', 'codes', 'tools', 'long'] },
    ...{ rules: ['SOLD'], faults: [] },
  },
  {
    ...{ name: 'another encoding', acts: ['texts'], rules: ['SOLD-01'] },
    faults: counting('o200k', (_, call) => o200k.countTokens(textsOf(call)) + 7),
  },
  {
    ...{ name: 'a template of 36', acts: ['texts'], rules: ['SOLD-01'] },
    faults: counting('template of 36', (tokens) => tokens + 29),
  },
  {
    ...{ name: 'two templates, of 7 and 10', acts: ['texts', 'repeats'], rules: ['SOLD-01'] },
    faults: counting(
      'two templates',
      (tokens, _, { random }) => tokens + (random() < 0.25 ? 3 : 0),
    ),
  },
  {
    ...{ name: 'a template that varies by 3', ...counts },
    faults: counting(
      'template varies',
      (tokens, _, { random }) => tokens - Math.floor(random() * 4),
    ),
  },
  {
    ...{ name: 'two tokens a word', acts: ['repeats'], rules: ['SOLD-01'] },
    faults: counting('two tokens a word', (tokens) => 2 * (tokens - 7) + 7),
  },
  { name: 'recall 30 %', acts: ['codes'], rules: ['SOLD-03'], faults: [forgetful] },
  {
    ...{ name: 'the first request is slower', acts: ['cached'], rules: ['SOLD-04'] },
    faults: timing('cold start', (_, nth) => (nth === 0 ? 8 : 1)),
  },
  { name: 'noise 1.0', acts: ['watched'], rules: ['SOLD-05'], faults: noise(1) },
  { name: 'replicas 90/10', acts: ['watched'], rules: ['SOLD-05'], faults: replicas },
  {
    ...{ name: 'sticky replicas', acts: ['watched'], rules: ['SOLD-05'] },
    faults: moving('sticky', (word, session) =>
      drawn(session, 'sticky')() < 0.1 ? other(word) : 0,
    ),
  },
  {
    name: 'noise 0.3 beside a reference',
    acts: ['referenced'],
    rules: ['SOLD-06'],
    faults: noise(0.3),
  },
  {
    ...{ name: 'other hardware, moved by 0.15', acts: ['referenced'], rules: ['SOLD-06'] },
    faults: moving('hardware', (word) => 0.15 * normal(drawn(word, 'hardware'))),
  },
  {
    ...{ name: 'same replicas', acts: ['referenced'], rules: ['SOLD-06'] },
    ...{ faults: replicas, alsoReference: true },
  },
  {
    ...{ name: 'a template of 36, as the reference', acts: ['compared'], rules: ['SOLD-02'] },
    ...{ faults: counting('template of 36', (tokens) => tokens + 29), alsoReference: true },
  },
  {
    ...{ name: '6 % other pieces, as the reference', acts: ['compared'], rules: ['SOLD-09'] },
    ...{ faults: ['output-inflation:1.06'], alsoReference: true },
  },
  { name: '50 % misses by routing', acts: ['cached'], rules: ['SOLD-04'], faults: [routed] },
  { name: 'told downgrade', acts: ['tiers'], rules: ['SOLD-08'], faults: [downgraded] },
  {
    ...{ name: 'as much reasoning as the reference', acts: ['reasoned'], rules: ['SOLD-10'] },
    ...{ faults: [musing], alsoReference: true },
  },
  { name: 'any effort level', acts: ['thought'], rules: ['SOLD-10'], faults: [thinking] },
  { name: '2 % broken calls', acts: ['tools'], rules: ['SOLD-07'], faults: ['tool-broken=0.02'] },
  {
    ...{ name: 'exactly the promised time', acts: ['tiers'], rules: ['SOLD-08'] },
    faults: timing('exactly 0.8', (call) => (tierShare(call) < 1 ? 0.8 / tierShare(call) : 1)),
  },
  {
    ...{ name: '1 % of words in other pieces', acts: ['long'], rules: ['SOLD-09'] },
    faults: ['output-inflation:1.01'],
  },
]

/** What the rules of a variant say of one play: by its name and a seed. */
export function quietVerdicts(name: string, seed: number): ReturnType<typeof verdictsOf> {
  const { acts, rules, faults, alsoReference } = quietVariants.find((each) => each.name === name)!
  const atReference = alsoReference === true ? { faults, seed: seed + 1e6 } : {}
  return verdictsOf({ faults, seed }, acts, rules, atReference)
}
