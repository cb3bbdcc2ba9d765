import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuditReport, audit } from '../../audit/audit.ts'
import { failuresOf, reproductions } from '../../audit/format/reproduce.ts'
import { auditLog } from '../../audit/log-alone/audit-log.ts'
import { loadContract } from '../../contract/load.ts'
import { parseDeploymentProfile } from '../../contract/profile.ts'
import { bodiesPath } from '../../store/attempts/packed-bodies.ts'
import { inStore } from '../../store/session/in-store.ts'
import type { Work } from '../../user/work.ts'
import type { Manifest } from './manifest.ts'

export const rowsName = 'rows.duckdb'

/** What a folder of evidence is judged by. */
export type Judged = Pick<
  Manifest,
  'runs' | 'contract' | 'profile' | 'log' | 'choices' | 'auditedAt'
>

export interface JudgedFolder {
  readonly report: AuditReport
  /** For each failed rule, the command that sends its request again. */
  readonly commands: ReadonlyMap<string, string>
}

/**
 * Judges the files of a folder, and only those. Its writer and its reader both do so: the verdicts are the same by
 * construction. The rows are opened as a copy, because a database changes its file.
 */
export async function judgeFolder(
  folder: string,
  { runs, contract, profile, log, choices, auditedAt }: Judged,
  work: Work = {},
): Promise<JudgedFolder> {
  const place = (name: string) => join(folder, name)
  const promised = contract === null ? undefined : loadContract(place(contract))
  if (runs === null) {
    const asked = { file: place(log!), contract: promised!, choices, nowMs: Date.parse(auditedAt) }
    return { report: await auditLog({ ...asked, ...work }), commands: new Map() }
  }
  const scratch = mkdtempSync(join(tmpdir(), 'assay-evidence-'))
  try {
    const copy = join(scratch, rowsName)
    copyFileSync(place(rowsName), copy)
    const bodies = bodiesPath(place(rowsName))
    if (existsSync(bodies)) copyFileSync(bodies, bodiesPath(copy))
    return await inStore(copy, async (store) => {
      const report = await audit(store, {
        ...work,
        ...(promised === undefined ? {} : { contract: promised }),
        ...(profile === null
          ? {}
          : {
              profile: parseDeploymentProfile(
                JSON.parse(readFileSync(place(profile), 'utf8')),
                profile,
              ),
            }),
        ...(log === null ? {} : { log: { text: readFileSync(place(log), 'utf8'), file: log } }),
        choices,
        runIds: runs,
        auditedAt: new Date(auditedAt),
      })
      return { report, commands: await reproductions(store, failuresOf(report.findings)) }
    })
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
