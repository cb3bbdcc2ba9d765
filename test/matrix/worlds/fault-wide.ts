import type { Ask } from './asks.ts'
import { books, type Deed, everywhere, type Fault, isOk } from './fault.ts'
import type { Need, Sound } from './terms.ts'

const usual = { places: everywhere, about: [] } as const

const onPasses = (
  name: string,
  need: Need,
  strikes: Fault['strikes'],
  change: (ask: Ask) => Ask,
  cause: RegExp,
): Fault => ({
  ...usual,
  name,
  family: 'passes',
  needs: [need],
  strikes,
  cause,
  twist: { ask: change },
})

const hasPasses = ({ passes }: Ask) => passes !== undefined
const fellBack = ({ passes }: Ask) =>
  passes?.some(({ kind }) => kind === 'fallback_message') === true

const withoutPasses = ({ passes: _, ...ask }: Ask): Ask => ask
const withPasses = (ask: Ask, passes: NonNullable<Ask['passes']>): Ask => ({ ...ask, passes })

const onSound = (name: string, change: (second: Sound) => Sound, cause: RegExp): Fault => ({
  ...{ ...usual, name, family: 'endpoints', needs: ['transcriptions'], about: ['second'], cause },
  strikes: ({ other }) => other === 'transcriptions',
  twist: {
    model: ({ second, ...model }) => ({
      ...model,
      ...(second === undefined ? {} : { second: change(second) }),
    }),
  },
})

const inOneValue: Deed = 'posted in one value'

/** Faults of what few services have. */
export const wideFaults: readonly Fault[] = [
  onPasses(
    'the last pass alone',
    'passes',
    hasPasses,
    withoutPasses,
    /only the counts at the top of the usage/,
  ),
  onPasses(
    'every pass at the price of the requested model',
    'fallback',
    fellBack,
    (ask) =>
      withPasses(
        ask,
        ask.passes!.map((pass) => ({ ...pass, model: ask.model })),
      ),
    // Where an attempt that gave way costs nothing, the last pass alone gives the same.
    /every pass at the price of the requested model|only the counts at the top/,
  ),
  {
    ...onPasses(
      'an attempt that gave way',
      'fallback',
      fellBack,
      (ask) =>
        withPasses(
          ask,
          ask.passes!.map((pass) => ({ ...pass, kind: 'fallback_message' })),
        ),
      /gave way to another model charged/,
    ),
    strikes: (ask, { inner }) => fellBack(ask) && inner === 'none',
  },
  onSound(
    'seconds as they are',
    ({ price }) => ({ price, least: 0, step: 0 }),
    /second (by its exact count|rounded up to whole numbers)/,
  ),
  onSound(
    'seconds in whole minutes',
    ({ price }) => ({ price, least: 60, step: 60 }),
    /second rounded up to whole minutes/,
  ),
  {
    ...{ ...usual, name: 'other endpoints free', family: 'endpoints', cause: /free/ },
    ...{ needs: ['embeddings', 'transcriptions'], about: ['input', 'second'] },
    strikes: ({ other }) => other !== undefined,
    twist: { whole: () => 0n },
  },
  {
    ...{ ...usual, name: 'other endpoints by the price of a chat', family: 'endpoints' },
    ...{ needs: ['embeddings'], about: ['input'], cause: /the price of (big|small)/ },
    strikes: ({ other }) => other === 'embeddings',
    twist: {
      model: (model, _, { models }) => ({ ...models[0]!, alias: null, id: model.id }),
    },
  },
  {
    ...{ name: 'posted in one value', family: 'balances', needs: ['down', 'both'], about: [] },
    ...{ places: ['balance'], deed: inOneValue, strikes: isOk },
    cause: /(other|value): .*free|where (the limit|the page before) has/,
  },
  {
    ...{ ...usual, name: 'several passes twice', family: 'passes', needs: ['passes'] },
    ...{ places: books, strikes: hasPasses, cause: /charged twice/ },
    twist: { whole: (cost) => 2n * cost },
  },
]
