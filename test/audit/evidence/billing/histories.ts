import type { Operation } from './made-operations.ts'

/** A small, fast, seeded source of numbers in [0, 1) (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export interface SmallHistory {
  readonly charges: number
  readonly unseen: number
  readonly reads: number
  readonly ambiguous: number
  readonly costs: readonly number[]
  /**
   * Whether ambiguous charges may come at any time after their call, or only for a limited time.
   */
  readonly expire: boolean
}

/**
 * Operations of a correct service on a short clock. Each may then be falsified a little: about half
 * of the histories have an explanation and half have none.
 */
export function smallHistory(random: () => number, shape: SmallHistory): readonly Operation[] {
  const pick = (below: number) => Math.floor(random() * below)
  const kinds = [
    ...Array<'charge'>(1 + pick(shape.charges)).fill('charge'),
    ...Array<'unseen'>(pick(shape.unseen + 1)).fill('unseen'),
    ...Array<'read'>(pick(shape.reads + 1)).fill('read'),
    ...Array<'ambiguous'>(pick(shape.ambiguous + 1)).fill('ambiguous'),
  ]
  const planned = kinds.map((kind) => ({
    kind,
    momentUs: pick(10),
    costCredits: kind === 'read' ? 0 : shape.costs[pick(shape.costs.length)]!,
  }))
  let balance = 100
  const made = planned
    .sort((a, b) => a.momentUs - b.momentUs)
    .map(({ kind, momentUs, costCredits }): Operation => {
      const happens = kind !== 'ambiguous' || random() < 0.5
      if (happens) balance -= costCredits
      const callUs = momentUs - pick(4)
      const untilUs = kind === 'ambiguous' && !shape.expire ? Infinity : momentUs + pick(4)
      const seen = kind === 'charge' || kind === 'read'
      return {
        callUs,
        untilUs,
        costCredits,
        after: seen ? balance : null,
        certain: kind !== 'ambiguous',
      }
    })
  if (random() < 0.25) return made
  return made.map((operation) => {
    if (random() > 0.35) return operation
    const shift = pick(3) - 1
    return random() < 0.8 && operation.after !== null
      ? { ...operation, after: operation.after + shift }
      : { ...operation, callUs: operation.callUs + shift, untilUs: operation.untilUs + shift }
  })
}
