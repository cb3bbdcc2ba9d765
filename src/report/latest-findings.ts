import type { Failure } from '../audit/format/reproduce.ts'
import { severities, type Verdict, verdictSchema, worstFirst } from '../audit/verdict.ts'
import { textList } from '../store/literal.ts'
import type { Session } from '../store/session/session.ts'
import { jsonOf } from '../user/json.ts'
import { lookup } from '../user/lookup.ts'
import type { Tone } from './banner.ts'

// `keyof` of a union has only the names that all its members share. A conditional type is applied to each member.
type NamesOf<Each> = Each extends Each ? keyof Each : never
type FieldOf<Each, Name> = Each extends Each
  ? Name extends keyof Each
    ? Each[Name]
    : never
  : never

/** What a stored verdict says: each field of some verdict; none if another version wrote it in a form that is not known. */
export type Detail = { readonly [Name in NamesOf<Verdict>]?: FieldOf<Verdict, Name> }

/** A failure that has witnesses, with them. */
export function failedOf({ rule, verdict, detail }: StoredFinding): readonly Failure[] {
  const [first, ...rest] = detail.witnesses ?? []
  return verdict === 'fail' && first !== undefined ? [{ rule, witnesses: [first, ...rest] }] : []
}

export interface StoredFinding {
  readonly rule: string
  readonly severity: string
  readonly verdict: string
  readonly observations: number
  readonly title: string
  readonly detail: Detail
}

export const tones: Readonly<Record<string, Tone>> = lookup({
  pass: 'good',
  fail: 'fail',
  inconclusive: 'warn',
  'not-observed': 'none',
  'not-promised': 'none',
})

/**
 * The findings of the latest audit of all these runs, or else of any of them; empty without one.
 *
 * @param runIds the shown runs if absent
 */
export async function latestFindings(
  session: Session,
  runIds?: readonly string[],
): Promise<readonly StoredFinding[]> {
  const meant = runIds === undefined ? "getvariable('run_ids')" : textList(runIds)
  const rows = await session.rows<Omit<StoredFinding, 'detail'> & { detail_json: string }>(`
    SELECT rule, severity, verdict, observations, title, detail_json
    FROM findings
    WHERE audit_id = (
      SELECT audit_id FROM findings
      WHERE list_has_any(run_ids, ${meant})
      ORDER BY list_has_all(run_ids, ${meant}) DESC, audited_at DESC, audit_id DESC LIMIT 1
    )
    ORDER BY
      array_position(${textList(worstFirst)}, verdict),
      array_position(${textList(severities)}, severity), rule`)
  return rows.map(({ detail_json, ...row }) => ({ ...row, detail: readDetail(detail_json) }))
}

const readDetail = (json: string): Detail => verdictSchema.safeParse(jsonOf(json)).data ?? {}
