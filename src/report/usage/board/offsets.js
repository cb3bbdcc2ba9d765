// @ts-check
// Offsets of local hours. Where the clock is set back, an hour occurs twice: the second one begins at this part of the first.

/** @import { BoardData } from './data.ts' */

/** A part that no quarter of an hour begins at. */
export const secondPart = 7 / 8

/** @typedef {Pick<BoardData, 'offsets'>} Offsets */

/** @param {number} hour */
export const isSecond = (hour) => hour % 1 === secondPart

/**
 * Whether a local hour occurs twice.
 *
 * @param {Offsets} data
 * @param {number} hour
 */
export const isTwice = ({ offsets }, hour) =>
  offsets.some((each) => isSecond(each.hour) && Math.floor(each.hour) === Math.floor(hour))

/**
 * The offset of the clock at a local hour: `+02:00`.
 *
 * @param {Offsets} data
 * @param {number} hour
 */
export const offsetAt = ({ offsets }, hour) =>
  (offsets.findLast((each) => each.hour <= hour) ?? offsets[0])?.offset ?? '+00:00'

/**
 * The end of the bar of an hour.
 *
 * @param {Offsets} data
 * @param {number} start
 */
export const endOfHour = (data, start) =>
  isTwice(data, start) && !isSecond(start) ? start + secondPart : Math.floor(start) + 1

/**
 * What an hour that occurs twice has beside its time of day.
 *
 * @param {Offsets} data
 * @param {number} hour
 */
export const offsetMark = (data, hour) =>
  isTwice(data, hour) ? ` (UTC${offsetAt(data, hour)})` : ''

/**
 * A local hour as RFC 3339.
 *
 * @param {Offsets} data
 * @param {number} hour
 */
export const exactTime = (data, hour) => {
  const whole = isSecond(hour) ? Math.floor(hour) : hour
  return `${new Date(whole * 3_600_000).toISOString().slice(0, 19)}${offsetAt(data, hour)}`
}
