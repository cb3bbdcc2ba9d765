import { printable } from '../../audit/format/printable.ts'
import type { GapId } from '../../contract/profile.ts'
import type { Change } from '../../probe/diff.ts'

/** Said before questions whose answers differ from the profile before are asked once more. */
export const againText = (flips: readonly GapId[], credits: number): string =>
  `${flips.join(', ')} ${flips.length === 1 ? 'differs' : 'differ'} from the profile before, and ${flips.length === 1 ? 'is' : 'are'} asked once more, for at most the ${credits} ${credits === 1 ? 'credit' : 'credits'} that --max-credits leaves.`

/** The changes since the profile of a file, by what is known of them. */
export function changesText(changes: readonly Change[], path: string): string {
  const line = ({ gap, facet, before, now, again }: Change) =>
    printable(
      `  ${gap}  ${facet}: ${before} -> ${now}${again === null || again === now ? '' : `, and asked once more: ${again}`}`,
    )
  const of = (
    belongs: (change: Change) => boolean,
    words: (gapList: string) => string,
  ): readonly string[] => {
    const some = changes.filter(belongs)
    const names = [...new Set(some.map(({ gap }) => gap))].join(',')
    return some.length === 0 ? [] : [words(names), ...some.map(line)]
  }
  const holds = changes.some(({ mayFlip }) => !mayFlip)
  return [
    ...(holds ? [] : [`Nothing that both probes decided changed since ${path}.`]),
    ...of(
      ({ mayFlip, again }) => !mayFlip && again !== null,
      () => `Changed since ${path}, and the same when asked once more:`,
    ),
    ...of(
      ({ mayFlip, again }) => !mayFlip && again === null,
      (names) => `Changed since ${path}, and not asked once more (--only ${names} asks again):`,
    ),
    ...of(
      ({ mayFlip, again }) => mayFlip && again !== null,
      () => 'Different answers of the same probe, so the service need not have changed:',
    ),
    ...of(
      ({ mayFlip, again }) => mayFlip && again === null,
      (names) =>
        `Not decided by both probes, so it may flip on an unchanged service (--only ${names} asks again):`,
    ),
    '',
  ].join('\n')
}
