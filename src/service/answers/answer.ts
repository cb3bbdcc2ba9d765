import type { Behaviour, Kit } from '../behaviour.ts'

/**
 * An answer to an open question that takes more than a line. Like a fault, it takes the behaviour
 * below it and returns the functions that it replaces, but it breaks nothing. For the default answer
 * of the profile it returns none.
 */
export type AnswerLayer = (below: Behaviour, kit: Kit) => Partial<Behaviour>
