import type { PricedRequest } from '../../../price/judge/request.ts'
import { spread } from '../../../user/spread.ts'
import type { Reading } from './readings.ts'
import { RequestsByStart } from './requests-by-start.ts'
import type { ReadingStretch } from './stretches.ts'

/** A cause is looked for in so many stretches at most: what gives these is told. */
const mostExplained = 10_000
/** Neighbours that are taken together, since a cause may need several of them. */
const blockSize = 25

/** What a cause is looked for in: the stretches, and the requests of their time. */
export interface ExplainedPart {
  readonly stretches: readonly ReadingStretch[]
  readonly requests: readonly PricedRequest[]
}

/**
 * All stretches, or of many so many that a cause is found within seconds: blocks of neighbours of all times, as many with a wrong
 * one as without.
 *
 * @param withinMs how late a value may be
 */
export function explainedPart(
  stretches: readonly ReadingStretch[],
  requests: readonly PricedRequest[],
  withinMs: number,
): ExplainedPart {
  if (stretches.length <= mostExplained) return { stretches, requests }
  const parts = stretches.filter(({ isWhole }) => !isWhole)
  const blocks = Array.from({ length: Math.ceil(parts.length / blockSize) }, (_, at) =>
    parts.slice(at * blockSize, (at + 1) * blockSize),
  )
  const half = mostExplained / blockSize / 2
  const kept = new Set(
    [true, false].flatMap((isRight) =>
      spread(
        blocks.filter((block) => block.every((each) => each.isRight) === isRight),
        half,
      ),
    ),
  )
  const byAccount = new Map(
    [...Map.groupBy(requests, ({ account }) => account)].map(([account, own]) => [
      account,
      new RequestsByStart(own),
    ]),
  )
  const some = blocks.filter((block) => kept.has(block)).flat()
  // Stretches that overlap share requests.
  const near = new Set<PricedRequest>()
  for (const { first, last } of some) {
    const own = byAccount.get(first.account)?.during(first.fromMs - withinMs, last.untilMs) ?? []
    for (const request of own) near.add(request)
  }
  return { stretches: some, requests: [...near] }
}

/** The first values, so many at most, and the requests that began before the last of them. */
export function firstReadings(
  readings: readonly Reading[],
  requests: readonly PricedRequest[],
): readonly [readonly Reading[], readonly PricedRequest[]] {
  if (readings.length <= mostExplained) return [readings, requests]
  const first = readings.slice(0, mostExplained)
  const untilMs = first.at(-1)!.untilMs
  return [first, requests.filter(({ startMs }) => startMs <= untilMs)]
}
