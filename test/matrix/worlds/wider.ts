import type { Ask, Counts, Pass } from './asks.ts'
import type { Draw } from './draw.ts'
import { type Model, type Need, parts, type Terms } from './terms.ts'

/**
 * A world with what few services have: answers in several passes, other endpoints whose answers have no id, and a balance of two
 * values, one of what remains and one of what is used.
 */
export function widened(
  draw: Draw,
  terms: Terms,
  asks: readonly Ask[],
  needs: ReadonlySet<Need>,
): { readonly terms: Terms; readonly asks: readonly Ask[] } {
  const has = (need: Need, chance: number) => needs.has(need) || draw.chance(chance)
  const others = [
    ...(has('embeddings', 0.4) ? (['embeddings'] as const) : []),
    ...(has('transcriptions', 0.4) ? (['transcriptions'] as const) : []),
  ]
  const hasPasses = has('passes', 0.5) || needs.has('fallback')
  const second = terms.models[1]
  const canFallBack = hasPasses && second !== undefined && has('fallback', 0.5)
  const round = terms.models[0]!.round
  const wider: Terms = {
    ...terms,
    models: [...terms.models, ...others.map((name) => otherModel(draw, name, round))],
    balance:
      terms.balance === null || !has('both', 0.5)
        ? terms.balance
        : { ...terms.balance, both: draw.one(['no limit', 'an amount', 'a place'] as const) },
    ...(canFallBack ? { inner: draw.one(['full', 'none'] as const) } : {}),
  }
  const passed = hasPasses ? withPasses(draw, wider, asks, canFallBack) : asks
  return { terms: wider, asks: [...passed, ...others.flatMap((of) => asksOf(draw, of, passed))] }
}

const plain = {
  ...{ alias: null, request: null, search: null, tier: null, flex: null, hours: null },
  ...{ change: null, margin: null, group: null, minimum: null },
} as const

function otherModel(draw: Draw, of: NonNullable<Ask['other']>, round: Model['round']): Model {
  if (of === 'embeddings')
    return { ...plain, round, id: 'embed', prices: { input: draw.one(['0.02', '0.13', '0.7']) } }
  return {
    ...{ ...plain, round, id: 'scribe', prices: {} },
    second: {
      price: draw.one(['0.0001', '0.00006', '0.0002']),
      least: draw.one([0, 0, 10]),
      step: draw.one([0, 1, 15]),
    },
  }
}

const none = Object.fromEntries(parts.map((part) => [part, 0])) as Counts

/** Requests to other endpoints, after the others. */
function asksOf(draw: Draw, of: NonNullable<Ask['other']>, after: readonly Ask[]): readonly Ask[] {
  const first = after.at(-1)
  let at = first === undefined ? 1 : first.at + first.seconds + 2
  return Array.from({ length: draw.whole(1, 3) }, (_, nth): Ask => {
    const seconds = draw.one([0.4, 1])
    const ask: Ask = {
      ...{ nth: (of === 'embeddings' ? 1000 : 2000) + nth, at, seconds, other: of },
      ...{ model: of === 'embeddings' ? 'embed' : 'scribe', prompt: `${of} ${nth}` },
      ...{ dialect: 'chat', isStream: false, maySearch: false, searches: 0, ended: 'ok' },
      ...{ received: 0, generated: 0, isFlex: false, repeats: null },
      account: first?.account ?? 'main',
      counts: of === 'embeddings' ? { ...none, input: draw.whole(3, 4000) } : none,
      ...(of === 'transcriptions' ? { soundTenths: draw.whole(3, 400) } : {}),
    }
    at += seconds + draw.one([0.5, 3])
    return ask
  })
}

/** Some of the answers are made in several passes; at least one, if any can be. */
function withPasses(
  draw: Draw,
  { models }: Terms,
  asks: readonly Ask[],
  canFallBack: boolean,
): readonly Ask[] {
  const repeated = new Set(asks.map(({ repeats }) => repeats))
  const able = asks.filter(
    ({ ended, repeats, nth }) => ended === 'ok' && repeats === null && !repeated.has(nth),
  )
  const first = able.length === 0 ? null : draw.one(able)
  const [big, small] = models
  return asks.map((ask) => {
    const isChosen = ask === first || (able.includes(ask) && draw.chance(0.3))
    if (!isChosen) return ask
    const counts = { ...ask.counts, output: ask.counts.output + ask.counts.reasoning, reasoning: 0 }
    const usual = { ...ask, dialect: 'messages', counts } as const
    const isFallback = canFallBack && (ask === first || draw.chance(0.5))
    return isFallback
      ? {
          ...{ ...usual, model: big!.id, isFlex: false },
          passes: fallenBack(draw, counts, big!.id, small!.id),
        }
      : // A prompt of its own: an equal one would be summed up, too.
        {
          ...{ ...usual, prompt: `${ask.prompt} of ${ask.nth}` },
          passes: summedUp(draw, counts),
        }
  })
}

const summedUp = (draw: Draw, counts: Counts): readonly Pass[] => [
  {
    ...{ kind: 'compaction', model: null },
    counts: { ...none, input: draw.whole(4000, 180_000), output: draw.whole(100, 4000) },
  },
  { kind: 'message', model: null, counts },
]

const fallenBack = (draw: Draw, counts: Counts, from: string, to: string): readonly Pass[] => [
  {
    ...{ kind: 'message', model: from },
    counts: { ...counts, output: draw.whole(1, counts.output) },
  },
  { kind: 'fallback_message', model: to, counts },
]
