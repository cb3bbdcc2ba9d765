import { Problem } from './problem.ts'

/** A place in a list, as text without a meaning for the asker. */
export const cursorAt = (skip: number) => Buffer.from(`after ${skip}`).toString('base64url')

/** @throws Problem for a cursor that is none of ours */
export function skipOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const [, skip] = /^after (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (skip === undefined) throw badCursor()
  return Number(skip)
}

const badCursor = () =>
  new Problem(400, 'bad-cursor', 'The cursor is not one of this service', {
    hint: 'Take it from next of the previous page.',
  })

/** A place in a file that goes on: the moment of its next line, how many lines of that moment were given, and which part begins there. */
export interface PlaceInTime {
  readonly us: number
  readonly skip: number
  readonly part: number
}

export const cursorInTime = ({ us, skip, part }: PlaceInTime) =>
  Buffer.from(`from ${us} ${skip} ${part}`).toString('base64url')

/** @throws Problem for a cursor that is none of ours */
export function placeInTime(cursor: string): PlaceInTime {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, us, skip, part] = /^from (\d{1,16}) (\d{1,9}) (\d{1,9})$/.exec(text) ?? []
  if (us === undefined || skip === undefined || part === undefined) throw badCursor()
  return { us: Number(us), skip: Number(skip), part: Number(part) }
}
