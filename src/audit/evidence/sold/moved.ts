import type { VerdictTable } from '../../verdict.ts'
import { shareOf, type TokenSession } from './sessions.ts'

/** The share of a first token in two groups of sessions. */
export interface MovedToken {
  readonly prompt: string
  readonly token: string
  readonly was: number
  readonly is: number
}

/** First tokens by how far their shares moved from one group of sessions to another, the farthest first. */
export const movedTokens = (
  tokens: readonly (readonly [prompt: string, token: string])[],
  before: readonly TokenSession[],
  after: readonly TokenSession[],
): readonly MovedToken[] =>
  tokens
    .map(([prompt, token]) => ({
      ...{ prompt, token },
      was: meanShare(before, prompt, token),
      is: meanShare(after, prompt, token),
    }))
    .toSorted((a, b) => Math.abs(b.was - b.is) - Math.abs(a.was - a.is))

/** @param groups names of the two groups */
export const movedTable = (
  moved: readonly MovedToken[],
  title: string,
  groups: readonly [was: string, is: string],
): VerdictTable => ({
  title,
  head: ['prompt', 'first token', ...groups],
  rows: moved
    .slice(0, 20)
    .map(({ prompt, token, was, is }) => [prompt, token, percent(was), percent(is)]),
})

function meanShare(sessions: readonly TokenSession[], prompt: string, token: string): number {
  const shares = sessions.flatMap((session) => shareOf(session, prompt, token) ?? [])
  return shares.reduce((sum, each) => sum + each, 0) / Math.max(1, shares.length)
}

export const percent = (share: number) => `${Math.round(100 * share)} %`
