import { type Contract, pricesOf } from '../../contract/contract.ts'
import { textList } from '../../store/literal.ts'
import type { Session } from '../../store/session/session.ts'
import type { Variable } from '../../store/session/variable.ts'
import { counted, grouped } from '../../user/grouped.ts'
import type { UsageEngine } from './engine/engine.ts'
import * as queries from './engine/queries.ts'
import type { Anomaly } from './shape.ts'

/** A kind of odd request: an SQL condition, and SQL for what to show of a request. */
interface OddKind {
  readonly kind: Anomaly['kind']
  readonly when: (variable: Variable) => string
  readonly shows: string
  readonly summary: (count: number) => string
}

const chargeWithoutSuccess: OddKind = {
  kind: 'charge-without-success',
  when: () => `outcome = 'http_error' AND credits > 0`,
  shows: `'status ' || coalesce(status::VARCHAR, 'unknown') || ', charged ' || credits::DOUBLE`,
  summary: (n) => `${counted(n, 'failed request')} ${n === 1 ? 'was' : 'were'} charged.`,
}

function oddByContract({ limits = {} }: Contract): readonly OddKind[] {
  const { maxInputTokens, maxOutputTokens } = limits
  const uncharged: OddKind = {
    kind: 'success-without-charge',
    when: (variable) =>
      `outcome = 'ok' AND credits = 0 AND has(${variable('usage_priced')}, coalesce(model, ''))`,
    shows: `model || ', charged 0'`,
    summary: (n) =>
      n === 1
        ? '1 success on a priced model was charged nothing.'
        : `${grouped(n)} successes on priced models were charged nothing.`,
  }
  if (maxInputTokens === undefined || maxOutputTokens === undefined) return [uncharged]
  return [
    uncharged,
    {
      // A row can be many requests, so their mean is compared with the limit.
      kind: 'tokens-over-limit',
      when: () => `completion_tokens >= ${maxOutputTokens + 1} * requests
             OR prompt_tokens >= ${maxInputTokens + 1} * requests`,
      shows: `'prompt ' || coalesce(prompt_tokens::VARCHAR, '-') || ', completion ' || coalesce(completion_tokens::VARCHAR, '-')`,
      summary: (n) =>
        `${counted(n, 'request')} ${n === 1 ? 'reports' : 'report'} more tokens than the limits of ${maxInputTokens.toLocaleString('en-US')} in and ${maxOutputTokens.toLocaleString('en-US')} out.`,
    },
  ]
}

/** Requests with a charge, or counts, that a person should look at. @param contract null if none says what is charged */
export async function oddRows(
  session: Session,
  engine: UsageEngine,
  contract: Contract | null,
): Promise<readonly Anomaly[]> {
  const kinds = [chargeWithoutSuccess, ...(contract === null ? [] : oddByContract(contract))]
  const priced = (contract === null ? [] : pricesOf(contract))
    .filter(({ costCredits }) => costCredits > 0)
    .map(({ id }) => id)
  await session.execute(`SET VARIABLE usage_priced = ${textList(priced)}`)
  const anomalies: Anomaly[] = []
  for (const { kind, when, shows, summary } of kinds) {
    await engine.fill(session, 'usage_odd', queries.odd(when))
    const rows = await session.rows<Anomaly['rows'][number] & { n: number }>(
      `SELECT source, id, at_us AS "atUs", ${shows} AS shows, n::BIGINT AS n
       FROM usage_odd ORDER BY at_us, source, id`,
    )
    const count = rows[0]?.n ?? 0
    if (count === 0) continue
    anomalies.push({
      kind,
      count,
      summary: summary(count),
      rows: rows.map(({ n: _, ...row }) => row),
    })
  }
  return anomalies
}
