import { Problem } from './problem.ts'

/** A place in a list, as text without a meaning for the asker. */
export const cursorAt = (skip: number) => Buffer.from(`after ${skip}`).toString('base64url')

/** @throws Problem for a cursor that is none of ours */
export function skipOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const [, skip] = /^after (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (skip === undefined) {
    throw new Problem(400, 'bad-cursor', 'The cursor is not one of this service', {
      hint: 'Take it from next of the previous page.',
    })
  }
  return Number(skip)
}
