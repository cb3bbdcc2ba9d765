import { resolve } from 'node:path'
import type { Contract } from '../../contract/contract.ts'

/** Where a scenario comes from. */
export interface Origin {
  /** Folder of relative paths. */
  readonly folder: string
  readonly modulePath: string | null
  /** Source of the deadlines that a scenario omits. */
  readonly contract: Contract
}

export const pathOf = (path: string | undefined, { folder }: Origin): string | null =>
  path === undefined ? null : resolve(folder, path)
