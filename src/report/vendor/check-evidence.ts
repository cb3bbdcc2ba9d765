import type { Work } from '../../user/work.ts'
import { type JudgedFolder, judgeFolder } from './judge-folder.ts'
import { readManifest, rulebook, statedFinding } from './manifest.ts'

export interface CheckedEvidence extends JudgedFolder {
  /** How many files are as the manifest says. */
  readonly files: number
  /** Findings that are not those of the manifest, as sentences. */
  readonly differences: readonly string[]
  /** A sentence if this version has other rules than the writer's. */
  readonly otherRules: string | null
}

/**
 * Checks a folder of evidence without any store: each file against the manifest, then each verdict, its figures and the requests
 * that it names by judging the files again.
 *
 * @throws UserError `evidence` for a folder that is not as it was written
 */
export async function checkEvidence(folder: string, work: Work = {}): Promise<CheckedEvidence> {
  const manifest = await readManifest(folder)
  const judged = await judgeFolder(folder, manifest, work)
  const now = new Map(
    judged.report.findings.map((finding) => [finding.rule, statedFinding(finding)]),
  )
  const then = new Map(manifest.findings.map((finding) => [finding.rule, finding]))
  const differences = [...new Set([...then.keys(), ...now.keys()])].flatMap((rule) => {
    const [was, is] = [then.get(rule), now.get(rule)]
    if (JSON.stringify(was) === JSON.stringify(is)) return []
    const words = (finding: typeof was) =>
      finding === undefined
        ? 'nothing'
        : `${finding.verdict}${finding.observed === null ? '' : `, ${finding.observed}`}`
    const sameWords = words(was) === words(is)
    return `${rule}: the manifest says ${words(was)}; the files give ${sameWords ? 'other figures or requests' : words(is)}`
  })
  return {
    ...judged,
    files: Object.keys(manifest.files).length,
    differences,
    otherRules:
      manifest.rulebook === rulebook()
        ? null
        : `Assay ${manifest.assay} wrote this folder with other rules than these; verdicts may differ for that reason alone.`,
  }
}
