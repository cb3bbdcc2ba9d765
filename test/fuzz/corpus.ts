import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const corpusFolder = join(import.meta.dirname, 'corpus')

/** Inputs of a target: samples of valid input, and each finding since. */
export function corpusOf(
  target: string,
): readonly { readonly file: string; readonly input: Buffer }[] {
  const folder = join(corpusFolder, target)
  return readdirSync(folder)
    .sort()
    .map((file) => ({ file, input: readFileSync(join(folder, file)) }))
}
