/** Whole credits. */
export type Credits = number
