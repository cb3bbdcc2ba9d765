import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FullContract } from '../../contract/contract.ts'
import type { ExtraHeader } from '../../probe/extra-headers.ts'
import { userError } from '../../user/user-error.ts'

/** @throws UserError for a header that carries the key, because some questions omit or change the key */
export function mustNotBeKeys(headers: readonly ExtraHeader[], { auth }: FullContract): void {
  for (const { name } of headers) {
    if (name === auth.chat.name || name === auth.messages.name) {
      throw userError.usage(`--header ${name}: this header carries the key; set ASSAY_API_KEY.`)
    }
  }
}

/** Checked first, before minutes and credits are spent on a profile that could not be written. */
export function mustBeWritable(option: string, path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  try {
    if (stats?.isDirectory()) throw new Error('it is a folder')
    // The file is written in the same folder and renamed, so the folder must be writable.
    accessSync(stats?.isFile() === false ? path : dirname(path), constants.W_OK)
  } catch (error) {
    throw userError.usage(
      `${option}: expected a file that can be written; got ${path}: ${(error as Error).message}.`,
    )
  }
}
