import type { Failure } from '../../verdict.ts'
import { shareOf, type TokenSession } from './sessions.ts'

/** Two groups of sessions, and what a reader calls them: `before` and `since`. */
interface Moved {
  readonly model: string
  readonly groups: readonly [was: readonly TokenSession[], is: readonly TokenSession[]]
  readonly words: readonly [was: string, is: string]
}

/** The witnesses and the table of a finding that first tokens moved from one group of sessions to another, the farthest first. */
export function movedEvidence(
  tokens: readonly (readonly [prompt: string, token: string])[],
  { model, groups: [before, after], words }: Moved,
): Pick<Failure, 'witnesses' | 'tables'> {
  const moved = tokens
    .map(([prompt, token]) => ({
      ...{ prompt, token },
      was: meanShare(before, prompt, token),
      is: meanShare(after, prompt, token),
    }))
    .toSorted((a, b) => Math.abs(b.was - b.is) - Math.abs(a.was - a.is))
  const { prompt, token, was, is } = moved[0]!
  const witnesses = after.slice(0, 5).map(({ witness }) => ({
    ...witness,
    shows: `session of ${witness.shows}: first token ${JSON.stringify(token)} to ${JSON.stringify(prompt)}, ${percent(was)} ${words[0]} and ${percent(is)} ${words[1]}`,
  }))
  return {
    witnesses,
    tables: [
      {
        title: `First tokens of ${model} ${words.join(' and ')}`,
        head: ['prompt', 'first token', ...words],
        rows: moved
          .slice(0, 20)
          .map((each) => [each.prompt, each.token, percent(each.was), percent(each.is)]),
      },
    ],
  }
}

function meanShare(sessions: readonly TokenSession[], prompt: string, token: string): number {
  const shares = sessions.flatMap((session) => shareOf(session, prompt, token) ?? [])
  return shares.reduce((sum, each) => sum + each, 0) / Math.max(1, shares.length)
}

const percent = (share: number) => `${Math.round(100 * share)} %`
