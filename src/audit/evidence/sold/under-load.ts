import { type Random, shuffled } from '../../../user/random.ts'
import { type Apart, judgeApart, type Unlike } from './apart.ts'
import type { Shares } from './watch.ts'

/** Sessions of one run. */
export interface RestAndLoad {
  readonly rest: readonly Shares[]
  readonly load: readonly Shares[]
}

/**
 * Whether a model answers under load as at rest: SOLD-11. Sessions are exchanged within their run, so that what differs between runs
 * is no difference.
 */
export function judgeUnderLoad(runs: readonly RestAndLoad[], draw: Random): Apart | Unlike {
  const groups = (of: readonly RestAndLoad[]) =>
    [of.flatMap(({ load }) => load), of.flatMap(({ rest }) => rest)] as const
  return judgeApart(groups(runs), () =>
    groups(
      runs.map(({ rest, load }) => {
        const all = shuffled([...rest, ...load], draw)
        return { rest: all.slice(0, rest.length), load: all.slice(rest.length) }
      }),
    ),
  )
}
