import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { explanationOf } from '../../audit/rules/explain.ts'
import { allRules } from '../../audit/rules/list.ts'
import type { Finding } from '../../audit/verdict.ts'
import { userError } from '../../user/user-error.ts'

export const manifestName = 'manifest.json'

/** A name in the folder itself: no path leads out of it. */
const fileName = z.string().regex(/^[a-z][a-z0-9.-]*$/)

/** A finding as the manifest states it, with the rows that it names. */
const stated = z.object({
  rule: z.string(),
  verdict: z.string(),
  observations: z.number(),
  expected: z.string().nullable(),
  observed: z.string().nullable(),
  requests: z.array(
    z.object({ at: z.string().nullable(), ids: z.array(z.string()), line: z.number().nullable() }),
  ),
})
export type StatedFinding = z.infer<typeof stated>

const manifestForm = z.object({
  format: z.literal('assay-evidence'),
  version: z.literal(1),
  assay: z.string(),
  /** SHA-256 over what every rule says: other rules may judge otherwise. */
  rulebook: z.string(),
  auditedAt: z.string(),
  /** The runs that were judged; null for a log that was judged by itself. */
  runs: z.array(z.string()).nullable(),
  /** Files of the folder by their part in the audit; null for a part that it did not have. */
  contract: fileName.nullable(),
  profile: fileName.nullable(),
  log: fileName.nullable(),
  choices: z.record(z.string(), z.string()),
  files: z.record(fileName, z.object({ bytes: z.number(), sha256: z.string() })),
  findings: z.array(stated),
})
export type Manifest = z.infer<typeof manifestForm>

export const rulebook = (): string =>
  createHash('sha256')
    .update(allRules.map((rule) => explanationOf(rule)).join('\n'))
    .digest('hex')

export function statedFinding({ rule, verdict }: Finding): StatedFinding {
  const failed = verdict.verdict === 'fail' ? verdict : null
  return {
    rule,
    verdict: verdict.verdict,
    observations: 'observations' in verdict ? verdict.observations : 0,
    expected: failed?.expected ?? null,
    observed: failed?.observed ?? null,
    requests: (failed?.witnesses ?? []).map(({ service }) => ({
      at: service?.at ?? null,
      ids: [...(service?.ids ?? [])],
      line: service?.line ?? null,
    })),
  }
}

/** The length and SHA-256 of each of these files of a folder. */
export async function filesOf(
  folder: string,
  names: readonly string[],
): Promise<Manifest['files']> {
  const files: Record<string, { bytes: number; sha256: string }> = {}
  for (const name of names) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(folder, name)), hash)
    files[name] = { bytes: statSync(join(folder, name)).size, sha256: hash.digest('hex') }
  }
  return files
}

/**
 * Reads the manifest of a folder, and compares each file with it.
 *
 * @throws UserError `evidence` for a folder without one, for one of another form, and with each file that is changed, missing
 * or additional
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, manifestName)
  if (!existsSync(path)) {
    throw refused(
      `${folder} has no ${manifestName}: expected a folder that assay report audit --for vendor wrote.`,
    )
  }
  const manifest = parsed(readFileSync(path, 'utf8'), path)
  const there = readdirSync(folder).filter((name) => name !== manifestName)
  const named = Object.keys(manifest.files)
  const present = named.filter((name) => there.includes(name))
  const found = await filesOf(folder, present)
  const differences = [
    ...named.filter((name) => !there.includes(name)).map((name) => `${name} is missing`),
    ...present
      .filter((name) => found[name]!.sha256 !== manifest.files[name]!.sha256)
      .map(
        (name) =>
          `${name} was changed: SHA-256 ${found[name]!.sha256}, the manifest says ${manifest.files[name]!.sha256}`,
      ),
    ...there
      .filter((name) => !named.includes(name))
      .map((name) => `${name} is not in the manifest`),
  ]
  for (const part of [manifest.contract, manifest.profile, manifest.log]) {
    if (part !== null && !named.includes(part)) differences.push(`${part} has no hash`)
  }
  if (differences.length === 0) return manifest
  throw refused(
    `${folder} is not as it was written:\n${differences.map((each) => `  ${each}`).join('\n')}\nNothing was judged. Ask for the folder again.`,
  )
}

export const refused = (why: string) => userError.evidence(why)

function parsed(text: string, path: string): Manifest {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (error) {
    throw refused(
      `${path} is not JSON: ${error instanceof Error ? error.message : error}. Ask for the folder again.`,
    )
  }
  const manifest = manifestForm.safeParse(document)
  if (manifest.success) return manifest.data
  const [issue] = manifest.error.issues
  throw refused(
    `${path} is no manifest of this version: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}. Use the version of Assay that it names.`,
  )
}
