import type { Window } from '../../src/contract/contract.ts'
import { type Random, seededRandom } from '../../src/service/random.ts'
import type { RefusalKind } from '../../src/service/refusal.ts'
import type { ActName } from './acts.ts'
import {
  type BodyKind,
  type Change,
  type Composition,
  type Condition,
  composed,
  type Effect,
} from './composed.ts'
import { verdictsOf } from './verdicts.ts'

/** Random compositions of primitives: faults that nobody anticipated when the rules were made. */
export function compositions(count: number, seed: number): readonly Composition[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => composition(random))
}

const pick = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)]!

function composition(random: Random): Composition {
  const effect = pick(random, [
    ...[charge, charge, charge, chargeRefusal, creditsHeader, creditsHeader],
    ...[rateHeader, limit, limit, scope, field, field, field, status],
    ...[replicas, workers, pageCached, pageOfOther, repeatedBetween, windowAnew, resetUnit],
  ])(random)
  return { when: pick(random, conditionsFor(random, effect)), effect }
}

/**
 * Conditions that the traffic of the acts can meet: a condition before the request is read knows no
 * model.
 */
function conditionsFor(random: Random, effect: Effect): readonly Condition[] {
  const ofAll: readonly Condition[] = [
    { on: 'always' },
    { on: 'every', nth: pick(random, [2, 3, 5, 10]) },
    {
      on: 'second',
      ...pick(random, [
        { from: 0, to: 30 },
        { from: 20, to: 60 },
      ]),
    },
    { on: 'since', second: pick(random, [1, 20, 60]) },
  ]
  const ofGenerations: readonly Condition[] = [
    ...ofAll,
    { on: 'endpoint', endpoint: pick(random, ['chat', 'messages']) },
  ]
  const ofAnswers: readonly Condition[] = [
    ...ofAll,
    { on: 'model', model: pick(random, ['svc-k2', 'svc-k2-0905', 'svc-k2-thinking', 'svc-k2.5']) },
    { on: 'prompt', aboveTokens: pick(random, [10, 15]) },
    { on: 'max-tokens', above: pick(random, [4, 20]) },
  ]
  const ofKeys: Condition = { on: 'key', of: 2, rest: pick(random, [0, 1]) }
  switch (effect.does) {
    case 'charge':
    case 'credits-header':
      return [
        ...[...ofAnswers, ...ofGenerations, ofKeys],
        { on: 'stream', stream: random() < 0.5 },
        { on: 'prompt', aboveTokens: pick(random, [500, 4_096]) },
        { on: 'max-tokens', above: pick(random, [100, 500]) },
        { on: 'in-flight', atLeast: pick(random, [2, 8, 14]) },
        { on: 'repeat' },
      ]
    case 'repeated-between':
      return [...ofAnswers, ...ofGenerations, { on: 'in-flight', atLeast: 8 }]
    case 'workers':
    case 'replicas':
    case 'window-anew':
    case 'page-cached':
    case 'page-of-other':
      return [{ on: 'always' }]
    case 'reset-unit':
      return [{ on: 'balance', atLeast: pick(random, [101, 1_001]) }]
    case 'rate-header':
    case 'limit':
    case 'scope':
      return [...ofGenerations, ofKeys]
    case 'charge-refusal':
    case 'status':
      return effect.refusal === 'path' ? ofAll : ofGenerations
    case 'field':
      return effect.body === 'chat' || effect.body === 'messages' ? ofAnswers : ofAll
  }
}

const charge = (random: Random): Effect => ({ does: 'charge', times: pick(random, [0, 2, 3]) })

const chargeRefusal = (random: Random): Effect => ({
  does: 'charge-refusal',
  refusal: pick<RefusalKind>(random, ['request', 'model', 'rate', 'credits', 'context']),
  credits: pick(random, [1, 2]),
})

const creditsHeader = (random: Random): Effect => {
  const plus = pick(random, [-3, -2, -1, 0, 1, 2, 3])
  return { does: 'credits-header', plus, answersAgo: pick(random, plus === 0 ? [1, 4] : [0, 0, 3]) }
}

const rateHeader = (random: Random): Effect => {
  const header = pick(random, ['rateLimit', 'rateRemaining', 'rateReset'] as const)
  const plus = pick(random, header === 'rateReset' ? [-20, -5, 5, 20, 90] : [-5, -1, 1, 5])
  return { does: 'rate-header', header, plus }
}

const limit = (random: Random): Effect => ({
  does: 'limit',
  window: pick<Window>(random, ['minute', 'minute', 'minute', 'hour']),
  ...pick(random, [
    ...[
      { times: 0.5, plus: 0 },
      { times: 0.9, plus: 0 },
      { times: 1.1, plus: 0 },
    ],
    ...[
      { times: 2, plus: 0 },
      { times: 1, plus: -1 },
      { times: 1, plus: 1 },
      { times: 1, plus: 5 },
    ],
  ]),
})

const scope = (random: Random): Effect => ({
  does: 'scope',
  by: pick(random, ['account', 'endpoint', 'address', 'turns'] as const),
})

const replicas = (random: Random): Effect => ({ does: 'replicas', count: pick(random, [2, 3]) })

const workers = (random: Random): Effect => ({ does: 'workers', count: pick(random, [2, 4]) })

const pageCached = (random: Random): Effect => ({
  does: 'page-cached',
  seconds: pick(random, [5, 60, 3_600]),
})

const pageOfOther = (): Effect => ({ does: 'page-of-other', accountsOn: 1 })

const repeatedBetween = (): Effect => ({ does: 'repeated-between', times: 2 })

const windowAnew = (random: Random): Effect => ({
  does: 'window-anew',
  everySeconds: pick(random, [20, 45]),
})

const resetUnit = (): Effect => ({ does: 'reset-unit', times: 1_000 })

const status = (random: Random): Effect => ({
  does: 'status',
  refusal: pick<RefusalKind>(random, ['request', 'credits', 'rate', 'key', 'path']),
  plus: pick(random, [-1, 1, 9, 100]),
})

const numbers: readonly Change[] = [{ plus: -1 }, { plus: 1 }, { plus: 7 }]
const words: readonly Change[] = [{ to: null }, { to: 'other' }, { to: 7 }, 'dropped']

/** Fields that answers promise, by the body that contains them. */
const fields: readonly (readonly [BodyKind, string, readonly Change[]])[] = [
  ['chat', 'id', words],
  ['chat', 'object', words],
  ['chat', 'model', words],
  ['chat', 'created', [{ to: null }, { to: 1.5 }, 'dropped']],
  ['chat', 'system_fingerprint', [{ to: null }, 'dropped']],
  ['chat', 'usage.prompt_tokens', numbers],
  ['chat', 'usage.completion_tokens', numbers],
  ['chat', 'usage.total_tokens', numbers],
  ['chat', 'choices.*.index', numbers],
  ['chat', 'choices.*.finish_reason', words],
  ['chat', 'choices.*.message.role', words],
  ['chat', 'choices.*.message.content', [{ to: null }, { to: 7 }, 'dropped']],
  ['chat', 'choices.*.delta.content', [{ to: 7 }, 'dropped']],
  ['messages', 'id', words],
  ['messages', 'type', words],
  ['messages', 'role', words],
  ['messages', 'content', words],
  ['messages', 'model', words],
  ['messages', 'stop_reason', [{ to: null }, { to: 7 }, 'dropped']],
  ['messages', 'stop_sequence', [{ to: 'other' }, { to: 7 }]],
  ['messages', 'usage.input_tokens', numbers],
  ['messages', 'usage.output_tokens', numbers],
  ['error', 'error.type', words],
  ['error', 'error.code', words],
  ['error', 'error.message', [{ to: null }, { to: 7 }, 'dropped']],
  ['error', 'error', words],
  ['models', 'object', words],
  ['models', 'data', words],
  ['models', 'data.*.id', [{ to: 'other' }, { to: 7 }, 'dropped']],
  ['models', 'data.*.object', words],
  ['models', 'data.*.created', [{ to: null }, { to: 1.5 }, 'dropped']],
  ['models', 'data.*.owned_by', [{ to: null }, { to: 7 }, 'dropped']],
  ['models', 'data.*.root', words],
  ['models', 'data.*.parent', [{ to: 'other' }, { to: 7 }, 'dropped']],
  ['credits', 'remaining', numbers],
  ['credits', 'total_consumed', numbers],
  ['credits', 'requests', numbers],
  ['credits', 'average_tokens_per_request', numbers],
  ['credits', 'by_day.*.credits', numbers],
  ['credits', 'by_hour.*.credits', numbers],
  ['credits', 'by_hour.*.requests', numbers],
]

const field = (random: Random): Effect => {
  const [body, path, changes] = pick(random, fields)
  return { does: 'field', body, path: path.split('.'), change: pick(random, changes) }
}

/** The same composition without an effect. */
export function withoutEffect({ when, effect }: Composition): Composition {
  return { when, effect: emptied(effect) }
}

function emptied(effect: Effect): Effect {
  switch (effect.does) {
    case 'charge':
      return { ...effect, times: 1 }
    case 'charge-refusal':
      return { ...effect, credits: 0 }
    case 'credits-header':
      return { ...effect, plus: 0, answersAgo: 0 }
    case 'rate-header':
    case 'status':
      return { ...effect, plus: 0 }
    case 'limit':
      return { ...effect, times: 1, plus: 0 }
    case 'scope':
      return { ...effect, by: 'key' }
    case 'field':
      return { ...effect, change: { plus: 0 } }
    case 'replicas':
    case 'workers':
      return { ...effect, count: 1 }
    case 'page-cached':
      return { ...effect, seconds: 0 }
    case 'page-of-other':
      return { ...effect, accountsOn: 0 }
    case 'repeated-between':
    case 'reset-unit':
      return { ...effect, times: 1 }
    case 'window-anew':
      return { ...effect, everySeconds: null }
  }
}

/** Acts in which its effect can show. */
function actsFor({ effect, when }: Composition): readonly ActName[] {
  switch (effect.does) {
    case 'charge':
      return when.on === 'key' ? ['billing', 'bands', 'accounts'] : ['billing', 'streams']
    case 'credits-header':
      return ['billing', 'accounts']
    case 'charge-refusal':
      return effect.refusal === 'credits'
        ? ['exhaustion']
        : effect.refusal === 'rate'
          ? ['limits']
          : effect.refusal === 'context'
            ? ['windows']
            : ['billing', 'errors']
    case 'rate-header':
    case 'limit':
    case 'scope':
    case 'replicas':
    case 'window-anew':
    case 'reset-unit':
      return ['limits']
    case 'workers':
    case 'repeated-between':
      return ['billing', 'accounts']
    case 'page-cached':
      return ['billing', 'usage']
    case 'page-of-other':
      return ['accounts']
    case 'status':
      return effect.refusal === 'credits'
        ? ['exhaustion']
        : effect.refusal === 'rate'
          ? ['limits']
          : ['errors']
    case 'field':
      return effect.body === 'credits'
        ? ['usage']
        : effect.body === 'chat'
          ? ['errors', 'streams']
          : ['errors']
  }
}

/** Why this traffic cannot distinguish it from a legal service; null if it can. */
function whyHidden({ effect }: Composition): string | null {
  const isOff = 'plus' in effect && Math.abs(effect.plus) <= 5
  if (effect.does === 'rate-header' && effect.header === 'rateReset' && isOff)
    return 'a bucket may tell its next token, or the whole refill'
  if (effect.does === 'limit' && effect.window === 'minute') {
    const share = effect.times + effect.plus / 20
    if (share < 1) return 'a bucket of a smaller burst rejects as early, unless polls follow'
    if (share < 1.1) return 'a bucket regains as many while a burst lasts'
  }
  if (effect.does !== 'field') return null
  const name = `${effect.body}.${effect.path.join('.')}`
  if (name.startsWith('messages.usage'))
    return "how many tokens a text has is the tokenizer's affair"
  if (name === 'credits.total_consumed') return 'a total may be that of a part of the time'
  if (name === 'credits.by_hour.*.requests')
    return 'hours of the first and the last day may be missing'
  if (name === 'credits.average_tokens_per_request') return 'an average may be rounded'
  return null
}

/**
 * Rules that accuse what a composition did, or a consequence of it. A failure of any other rule sends the reader to the
 * wrong place.
 */
function accusers({ effect, when }: Composition): RegExp {
  switch (effect.does) {
    case 'charge':
    case 'repeated-between':
      // A charge that depends on the account or the balance is told by the rules on those.
      return when.on === 'key'
        ? /^(BILL-(0[1-4]|1[01345678])|USE)/
        : /^(BILL-(0[1-48]|1[01345])|USE|RATE)/
    case 'charge-refusal':
      // A charge beyond the last credit is shown as a balance below zero.
      return /^(BILL-(05|06|09|1[0134578])|USE|RATE-06)/
    case 'credits-header':
    case 'workers':
      return /^(BILL-(0[89]|1[0-6])|USE)/
    case 'page-cached':
    case 'page-of-other':
      return /^(BILL-12|PAGE-01|USE|AUTH)/
    case 'rate-header':
    case 'limit':
    case 'scope':
    case 'replicas':
    case 'window-anew':
    case 'reset-unit':
      return /^RATE/
    case 'status':
      return /^(ERR|AUTH|MODEL|CHAT|MSG|SSE|TRN|LIM|RATE-(06|1[01])|BILL-1[345])/
    case 'field':
      switch (effect.body) {
        case 'credits':
          return /^(USE|PAGE-01|BILL-12|BILL-1[0189])/
        case 'chat':
        case 'messages':
          return /^(CHAT|MSG|SSE|TRN|MODEL|LIM|TOK)/
        case 'models':
          return /^(MODEL|CHAT-03|TRN)/
        case 'error':
          return /^(ERR|AUTH|MODEL|CHAT|MSG|RATE-06|TRN|LIM|BILL-1[345])/
      }
  }
}

/** The outcome of a composition. */
export type Outcome =
  | { readonly is: 'found'; readonly by: readonly string[]; readonly wrongly: readonly string[] }
  | { readonly is: 'inconclusive'; readonly by: readonly string[] }
  | { readonly is: 'missed'; readonly because: string }

export async function outcomeOf(composition: Composition): Promise<Outcome> {
  const strikes = { count: 0 }
  const acts = actsFor(composition)
  const verdicts = await verdictsOf({ faults: [composed(composition, strikes)] }, acts)
  const of = (verdict: string) =>
    [...verdicts.values()]
      .filter((each) => each.verdict.verdict === verdict)
      .map(({ rule }) => rule)
  const failed = of('fail')
  if (failed.length > 0) {
    const right = accusers(composition)
    return { is: 'found', by: failed, wrongly: failed.filter((rule) => !right.test(rule)) }
  }
  if (strikes.count === 0) return { is: 'missed', because: 'no traffic for it' }
  const hidden = whyHidden(composition)
  if (hidden !== null) return { is: 'missed', because: `undecidable from outside: ${hidden}` }
  const before = await usuallyOpen(acts)
  const open = of('inconclusive').filter((rule) => !before.has(rule))
  return open.length > 0
    ? { is: 'inconclusive', by: open }
    : { is: 'missed', because: `a hole in a rule; it struck ${strikes.count} times` }
}

const openByActs = new Map<string, ReadonlySet<string>>()

/** Rules that the acts leave inconclusive on a clean service. */
async function usuallyOpen(acts: readonly ActName[]): Promise<ReadonlySet<string>> {
  const known = openByActs.get(acts.join(' '))
  if (known !== undefined) return known
  const open = [...(await verdictsOf({}, acts)).values()].filter(
    ({ verdict }) => verdict.verdict === 'inconclusive',
  )
  const rules = new Set(open.map(({ rule }) => rule))
  openByActs.set(acts.join(' '), rules)
  return rules
}

/** Rules that fail on a service with compositions without effect, all switched on. */
export async function alarmsOf(compositions: readonly Composition[]): Promise<readonly string[]> {
  const strikes = { count: 0 }
  const acts = new Set(compositions.flatMap(actsFor))
  const faults = compositions.map((each) => composed(withoutEffect(each), strikes))
  const verdicts = await verdictsOf({ faults }, [...acts])
  const failed = [...verdicts.values()].filter(({ verdict }) => verdict.verdict === 'fail')
  return [
    ...failed.map(({ rule, verdict }) => `${rule} ${JSON.stringify(verdict)}`),
    ...(strikes.count > 0 ? [`a composition without effect struck ${strikes.count} times`] : []),
  ]
}
