/** 1.5 * 2^52. Adding it rounds a double to a whole number; the low bits of the sum count in ones, to 2^51. */
export const rounder = 6755399441055744

/** Whole microseconds, a half to the even one: the same wherever rows are stored or told. */
export const wholeMicros = (us: number): number => us + rounder - rounder
