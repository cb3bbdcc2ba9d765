import type { Behaviour, Kit } from '../behaviour.ts'

/**
 * An answer to an open question that takes more than a line of a function: like a fault it is given
 * the behaviour below it and returns the functions that it replaces, but breaks nothing. Where the
 * profile has the standard's answer it returns none.
 */
export type AnswerLayer = (below: Behaviour, kit: Kit) => Partial<Behaviour>
