import { accessSync, constants } from 'node:fs'

/** Whether this process may make files in a folder. */
export function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
