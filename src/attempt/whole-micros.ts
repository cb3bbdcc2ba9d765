/**
 * 1.5 * 2^52. Between 2^52 and 2^53 doubles are whole, so adding and subtracting this rounds a number of at most 2^51 to a whole
 * one, ties to even. Others read the low bits of the sum as a whole number.
 */
export const rounder = 6755399441055744

/** Whole microseconds, a half to the even one: the same wherever rows are stored or told. */
export const wholeMicros = (us: number): number => us + rounder - rounder
