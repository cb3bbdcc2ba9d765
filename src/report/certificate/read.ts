import { standings } from '../../measure/standings.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { Session } from '../../store/session/session.ts'
import { latestFindings } from '../latest-findings.ts'
import { readPageVerdict } from '../page-verdict.ts'
import type { SummaryGroup } from '../summary/group-shape.ts'
import { certificateOf } from './certificate.ts'
import type { Certificate } from './shape.ts'

/**
 * The certificate of a run, from its verdict and its latest audit; null of one that asks for none.
 *
 * @param steps of the figures of the run: those of the trial that its search claims
 */
export async function readCertificate(
  session: Session,
  run: RunRow,
  steps: readonly SummaryGroup[],
): Promise<Certificate | null> {
  const page = readPageVerdict(run.verdict_json)
  if (page.searches.length === 0) return null
  const [short] = await session.rows<{ share: number }>(
    `SELECT coalesce(avg((max_tokens = 1)::INTEGER), 0)::DOUBLE AS share
     FROM attempts JOIN templates USING (run_id, template) WHERE run_id = $1 AND part = 'steady'`,
    [run.run_id],
  )
  const phases = await session.rows<{ phase: string }>(
    `SELECT DISTINCT phase FROM request_kinds WHERE run_id = $1 AND ${standings.counted.sql}`,
    [run.run_id],
  )
  return certificateOf({
    validity: run.verdict,
    ...{ page, steps, phases: phases.map(({ phase }) => phase) },
    oneTokenShare: short!.share,
    findings: await latestFindings(session, [run.run_id]),
  })
}
